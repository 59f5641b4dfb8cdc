//! Parts of a whole, as a bar.

use askama::Template;
use askama::filters::HtmlSafe;

/// How wide the bar is, in its own units.
const WIDTH: u64 = 1_000;

/// One part of the bar.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    from: u64,
    width: u64,
    class: &'static str,
}

/// A bar that shows parts of `whole`. It says nothing that is not also there as a number, so it is not read out.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(
    source = r#"<svg class="share{{ size }}" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true"><rect class="share-track" width="1000" height="10"/>{% for part in parts %}<rect class="{{ part.class }}" x="{{ part.from }}" width="{{ part.width }}" height="10"/>{% endfor %}</svg>"#,
    ext = "html"
)]
pub struct Share {
    size: &'static str,
    parts: Vec<Part>,
}

impl HtmlSafe for Share {}

impl Share {
    /// A thin bar: `part` of `whole`.
    pub fn of(part: u64, whole: u64) -> Self {
        Self::drawn("", whole, &[(part, "share-fill-trouble")])
    }

    /// A thick bar of a replay: what was published, and what could not be.
    pub fn progress(done: u64, failed: u64, whole: u64) -> Self {
        Self::drawn(" share-big", whole, &[(done, "share-fill"), (failed, "share-fill-trouble")])
    }

    fn drawn(size: &'static str, whole: u64, parts: &[(u64, &'static str)]) -> Self {
        let mut from = 0;
        let mut drawn = Vec::new();
        for (part, class) in parts.iter().filter(|(part, _)| *part > 0) {
            let width = scaled(*part, whole).max(1).min(WIDTH.saturating_sub(from));
            drawn.push(Part { from, width, class });
            from += width;
        }
        Self { size, parts: drawn }
    }
}

fn scaled(part: u64, whole: u64) -> u64 {
    let scaled = u128::from(part) * u128::from(WIDTH) / u128::from(whole.max(1));
    u64::try_from(scaled).unwrap_or(WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn widths(share: &Share) -> Vec<(u64, u64)> {
        share.parts.iter().map(|part| (part.from, part.width)).collect()
    }

    #[test]
    fn parts_follow_each_other_and_fit() {
        assert_eq!(widths(&Share::progress(1, 1, 4)), [(0, 250), (250, 250)]);
        assert_eq!(widths(&Share::of(9, 3)), [(0, 1_000)]);
    }

    #[test]
    fn a_part_that_is_there_can_be_seen() {
        assert_eq!(widths(&Share::of(1, u64::MAX)), [(0, 1)]);
        assert_eq!(widths(&Share::of(0, 0)), []);
    }
}
