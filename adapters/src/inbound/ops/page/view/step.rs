//! What happened, one thing after another.

use askama::Template;
use askama::filters::HtmlSafe;

use super::{Badge, When};

/// How a step looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// It did not happen yet, or it does not matter.
    Pending,
    /// It happened.
    Done,
    /// It ended well.
    Good,
    /// It failed.
    Bad,
}

impl Tone {
    const fn class(self) -> &'static str {
        match self {
            Self::Pending => "",
            Self::Done => " step-done",
            Self::Good => " step-good",
            Self::Bad => " step-bad",
        }
    }
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "parts/step.html")]
pub struct Step {
    tone: Tone,
    title: String,
    when: Option<When>,
    badge: Option<Badge>,
    text: String,
    chain: Vec<String>,
    link: Option<(String, String)>,
}

impl HtmlSafe for Step {}

impl Step {
    /// A step of that title.
    pub fn new(tone: Tone, title: impl Into<String>) -> Self {
        Self {
            tone,
            title: title.into(),
            when: None,
            badge: None,
            text: String::new(),
            chain: Vec::new(),
            link: None,
        }
    }

    /// When it was.
    #[must_use]
    pub fn at(self, when: impl Into<Option<When>>) -> Self {
        Self { when: when.into(), ..self }
    }

    /// A word beside it.
    #[must_use]
    pub fn marked(self, badge: Badge) -> Self {
        Self { badge: Some(badge), ..self }
    }

    /// What there is to say of it.
    #[must_use]
    pub fn saying(self, text: impl Into<String>) -> Self {
        Self { text: text.into(), ..self }
    }

    /// An error and its causes, as [`describe`](application::error_chain::describe) has joined them.
    #[must_use]
    pub fn because(self, chain: &str) -> Self {
        Self { chain: causes(chain), ..self }
    }

    /// Where there is more.
    #[must_use]
    pub fn leading_to(self, path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { link: Some((path.into(), text.into())), ..self }
    }
}

/// The links of a chain of causes, the error first.
pub fn causes(chain: &str) -> Vec<String> {
    chain.split(": ").filter(|cause| !cause.is_empty()).map(ToOwned::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_has_a_line() {
        assert_eq!(causes("cannot save: the disk: it is full"), ["cannot save", "the disk", "it is full"]);
        assert_eq!(causes(""), Vec::<String>::new());
    }

    #[test]
    fn what_comes_from_outside_is_escaped() {
        let step = Step::new(Tone::Bad, "<script>").saying("\"><img onerror=x>").because("a: <b>");
        let html = step.to_string();
        assert!(!html.contains("<script>") && !html.contains("<img") && !html.contains("<b>"), "{html}");
    }
}
