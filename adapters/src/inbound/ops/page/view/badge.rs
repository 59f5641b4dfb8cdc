//! States, as words in a frame.

use application::dead_letter::LetterState;
use application::ports::event_reader::EventOutcome;
use application::replay::JobState;
use application::use_cases::Verdict;
use askama::Template;
use askama::filters::HtmlSafe;
use domain::PaymentState;

/// A state.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(source = r#"<span class="badge{{ tone }}">{{ text }}</span>"#, ext = "html")]
pub struct Badge {
    text: String,
    tone: &'static str,
}

impl HtmlSafe for Badge {}

const PLAIN: &str = "";
const TROUBLE: &str = " badge-trouble";
const BUSY: &str = " badge-busy";
const GOOD: &str = " badge-good";

impl Badge {
    fn new(text: impl Into<String>, tone: &'static str) -> Self {
        Self { text: text.into(), tone }
    }

    /// A word that needs no attention.
    pub fn plain(text: impl Into<String>) -> Self {
        Self::new(text, PLAIN)
    }

    /// A word that does.
    pub fn trouble(text: impl Into<String>) -> Self {
        Self::new(text, TROUBLE)
    }

    /// Something is at work.
    pub fn busy(text: impl Into<String>) -> Self {
        Self::new(text, BUSY)
    }

    /// It is done.
    pub fn good(text: impl Into<String>) -> Self {
        Self::new(text, GOOD)
    }
}

impl From<LetterState> for Badge {
    fn from(state: LetterState) -> Self {
        let tone = match state {
            LetterState::Open => TROUBLE,
            LetterState::Replaying => BUSY,
            LetterState::Replayed | LetterState::Discarded => PLAIN,
        };
        Self::new(state.as_str(), tone)
    }
}

impl From<JobState> for Badge {
    fn from(state: JobState) -> Self {
        let tone = match state {
            JobState::Running => BUSY,
            JobState::Finished => GOOD,
            JobState::Paused | JobState::Canceled => PLAIN,
        };
        Self::new(state.as_str(), tone)
    }
}

impl From<PaymentState> for Badge {
    fn from(state: PaymentState) -> Self {
        let tone = match state {
            PaymentState::Succeeded | PaymentState::PayoutPaid | PaymentState::DisputeWon => GOOD,
            PaymentState::DisputeOpened
            | PaymentState::DisputeLost
            | PaymentState::Failed
            | PaymentState::PayoutFailed => TROUBLE,
            _ => PLAIN,
        };
        Self::new(words(state.as_str()), tone)
    }
}

impl From<&EventOutcome> for Badge {
    fn from(outcome: &EventOutcome) -> Self {
        match outcome {
            EventOutcome::Applied => Self::good("applied"),
            EventOutcome::Recorded { .. } => Self::plain("recorded, no effect"),
            EventOutcome::GivenUp { state: LetterState::Open, .. } => Self::trouble("dead letter"),
            EventOutcome::GivenUp { state: LetterState::Replaying | LetterState::Replayed, .. } => {
                Self::busy("being replayed")
            }
            EventOutcome::GivenUp { state: LetterState::Discarded, .. } => Self::plain("discarded"),
        }
    }
}

impl From<&Verdict> for Badge {
    fn from(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Genuine(_) => Self::good("genuine now"),
            Verdict::Refused(reason) => Self::trouble(format!("still refused: {}", words(reason))),
            Verdict::NoSource => Self::plain("source not configured"),
        }
    }
}

/// A stored name as words: `partly_refunded` is "partly refunded".
pub fn words(name: &str) -> String {
    name.replace('_', " ")
}
