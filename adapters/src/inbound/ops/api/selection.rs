//! Which dead letters are meant, as a request says it.

use application::dead_letter::{DeadLetterId, FailureGroup, LetterFilter, LetterReason};
use application::operator::Why;
use application::replay::{Selection, SelectionError};
use domain::{EventId, EventKind, MerchantId, PaymentId, SourceName};
use serde::Deserialize;
use utoipa::ToSchema;

use super::error::ApiError;
use super::input::Checks;
use super::time;

/// Letters of which all that is given is true.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FilterInput {
    /// Where the event came in.
    #[schema(pattern = "^[a-z0-9_-]{1,64}$")]
    pub source: Option<String>,
    /// Its id there.
    #[schema(min_length = 1, max_length = 255)]
    pub event_id: Option<String>,
    /// The provider's name of what happened.
    #[schema(min_length = 1, max_length = 255)]
    pub kind: Option<String>,
    /// Why it is a dead letter.
    #[schema(example = "refused")]
    pub reason: Option<String>,
    /// Which letters failed alike: 32 hexadecimal digits.
    #[schema(pattern = "^[0-9a-f]{32}$")]
    pub group: Option<String>,
    /// Given up at this moment or later.
    #[schema(format = DateTime)]
    pub from: Option<String>,
    /// Given up before this moment.
    #[schema(format = DateTime)]
    pub until: Option<String>,
    /// Whose money it is.
    #[schema(min_length = 1, max_length = 255)]
    pub account: Option<String>,
    /// Which payment.
    #[schema(min_length = 1, max_length = 255)]
    pub payment: Option<String>,
    /// The edited copies of the letter of this number.
    #[schema(pattern = "^[0-9]{1,18}$")]
    pub copies_of: Option<String>,
}

impl FilterInput {
    /// The filter; what is wrong with it goes to `checks`.
    pub fn filter(&self, checks: &mut Checks) -> LetterFilter {
        let reason = |text: &str| LetterReason::from_label(text).ok_or_else(unknown_reason);
        let group = |text: &str| FailureGroup::parse(text).ok_or("is not 32 hexadecimal digits");
        let letter = |text: &str| super::paging::number(text).map(DeadLetterId).ok_or("is not a number");
        LetterFilter {
            source: checks.parse("source", self.source.as_ref(), SourceName::parse),
            event_id: checks.parse("event_id", self.event_id.as_ref(), EventId::parse),
            kind: checks.parse("kind", self.kind.as_ref(), EventKind::parse),
            reason: checks.parse("reason", self.reason.as_ref(), reason),
            group: checks.parse("group", self.group.as_ref(), group),
            from: checks.parse("from", self.from.as_ref(), time::parse),
            until: checks.parse("until", self.until.as_ref(), time::parse),
            account: checks.parse("account", self.account.as_ref(), MerchantId::parse),
            payment: checks.parse("payment", self.payment.as_ref(), PaymentId::parse),
            copies_of: checks.parse("copies_of", self.copies_of.as_ref(), letter),
        }
    }
}

fn unknown_reason() -> String {
    format!("is not one of {}", LetterReason::ALL.map(LetterReason::as_str).join(", "))
}

/// Some letters: the one member says which. Only open ones are ever taken.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SelectInput {
    /// Those of these numbers, at most 1,000.
    Ids(Vec<i64>),
    /// Those that the filter leaves over; it has to ask for something.
    Filter(Box<FilterInput>),
    /// All letters: `true`.
    Everything(bool),
}

impl SelectInput {
    /// What is selected.
    pub fn selection(self) -> Result<Selection, ApiError> {
        match self {
            Self::Ids(ids) => Ok(Selection::of_ids(ids.into_iter().map(DeadLetterId).collect())?),
            Self::Filter(filter) => {
                let mut checks = Checks::of_body("/select/filter/");
                let filter = filter.filter(&mut checks);
                checks.finish()?;
                Ok(Selection::matching(filter)?)
            }
            Self::Everything(true) => Ok(Selection::everything()),
            Self::Everything(false) => Err(SelectionError::Empty.into()),
        }
    }
}

/// The explanation that a body has under `/why`.
pub fn why(text: &str) -> Result<Why, ApiError> {
    Why::parse(text).map_err(|error| ApiError::one("/why", "invalid", error.to_string()))
}

/// Why something is done.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WhyInput {
    /// Why, in words.
    #[schema(
        max_length = 1024,
        pattern = r"[^\s\x00-\x1f\x7f-\x9f]",
        example = "the provider has mended its events"
    )]
    pub why: String,
}
