//! A number over the last hour, as a line.

use askama::Template;
use askama::filters::HtmlSafe;

use super::number::count;

/// How wide and high the picture is, in its own units.
const WIDTH: u64 = 240;
const HEIGHT: u64 = 44;

/// Room above the highest point, so that the line is not cut.
const ROOM: u64 = 3;

/// A line with what it shows in words. The picture is read out as one sentence.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "parts/spark.html")]
pub struct Spark {
    name: &'static str,
    tone: &'static str,
    latest: String,
    spoken: String,
    line: String,
    area: String,
}

impl HtmlSafe for Spark {}

impl Spark {
    /// A line of `values`, the oldest first. `latest` is what stands beside its name.
    pub fn new(name: &'static str, values: &[u64], latest: String) -> Self {
        let highest = values.iter().copied().max().unwrap_or_default();
        let line = points(values, highest.max(1));
        let area =
            if line.is_empty() { String::new() } else { format!("0,{HEIGHT} {line} {WIDTH},{HEIGHT}") };
        let spoken = format!("{name}: {latest} now, {} at most in the last hour", count(highest));
        Self { name, tone: "", latest, spoken, line, area }
    }

    /// The same in the colour of trouble, where there is any.
    #[must_use]
    pub fn of_trouble(self, is_trouble: bool) -> Self {
        Self { tone: if is_trouble { " spark-trouble" } else { "" }, ..self }
    }
}

fn points(values: &[u64], highest: u64) -> String {
    let last = u64::try_from(values.len()).unwrap_or_default().saturating_sub(1);
    if last == 0 {
        return String::new();
    }
    let points: Vec<String> = (0..)
        .zip(values)
        .map(|(place, value)| {
            let x = place * WIDTH / last;
            let rise = u128::from(*value) * u128::from(HEIGHT - ROOM) / u128::from(highest);
            let y = HEIGHT.saturating_sub(u64::try_from(rise).unwrap_or(HEIGHT));
            format!("{x},{y}")
        })
        .collect();
    points.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_fills_its_picture() {
        assert_eq!(points(&[0, 5, 10], 10), "0,44 120,24 240,3");
    }

    #[test]
    fn a_single_value_is_no_line() {
        assert_eq!(points(&[7], 7), "");
        assert!(Spark::new("Accepted", &[7], "7".to_owned()).to_string().contains("Accepted: 7 now"));
    }

    #[test]
    fn huge_values_do_not_overflow() {
        assert_eq!(points(&[0, u64::MAX], u64::MAX), "0,44 240,3");
    }
}
