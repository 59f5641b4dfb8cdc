//! Which dead letters are meant, as a form says it and a link keeps it.

use std::fmt::Display;
use std::str::FromStr;

use application::dead_letter::{DeadLetterId, FailureGroup, LetterFilter, LetterReason, LetterState};
use domain::Timestamp;

use super::fields::Fields;
use super::view::when::parse as parse_when;

/// The fields of a filter.
pub const FILTER_FIELDS: [&str; 10] =
    ["source", "event_id", "kind", "reason", "group", "from", "until", "account", "payment", "copies_of"];

/// What stands for letters of any state.
pub const ANY_STATE: &str = "all";

/// A filter and a state, and what of it cannot be meant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LetterQuery {
    /// Which letters.
    pub filter: LetterFilter,
    /// In which state; `None` for any.
    pub state: Option<LetterState>,
    /// What is wrong, in words, by field. What is wrong leaves nothing out, so it must not be acted on.
    pub problems: Vec<String>,
}

impl LetterQuery {
    /// Of those fields. Open letters are meant where no state is given.
    pub fn of(fields: &Fields) -> Self {
        let mut query = Self::default();
        let problems = &mut query.problems;
        query.filter = LetterFilter {
            source: id(fields, "source", problems),
            event_id: id(fields, "event_id", problems),
            kind: id(fields, "kind", problems),
            reason: named(fields, "reason", LetterReason::from_label, problems),
            group: named(fields, "group", FailureGroup::parse, problems),
            from: moment(fields, "from", problems),
            until: moment(fields, "until", problems),
            account: id(fields, "account", problems),
            payment: id(fields, "payment", problems),
            copies_of: named(fields, "copies_of", |text| text.parse().ok().map(DeadLetterId), problems),
        };
        query.state = match fields.get("state") {
            ANY_STATE => None,
            "" => Some(LetterState::Open),
            name => {
                let state = LetterState::from_name(name);
                if state.is_none() {
                    problems.push(format!("There is no state {name:?}."));
                }
                state
            }
        };
        query
    }
}

fn id<T: FromStr<Err: Display>>(fields: &Fields, name: &str, problems: &mut Vec<String>) -> Option<T> {
    let text = fields.get(name);
    if text.is_empty() {
        return None;
    }
    text.parse().map_err(|error| problems.push(format!("{} {error}.", label(name)))).ok()
}

fn named<T>(
    fields: &Fields,
    name: &str,
    parse: impl Fn(&str) -> Option<T>,
    problems: &mut Vec<String>,
) -> Option<T> {
    let text = fields.get(name);
    if text.is_empty() {
        return None;
    }
    let value = parse(text);
    if value.is_none() {
        problems.push(format!("{} cannot be {text:?}.", label(name)));
    }
    value
}

/// A moment of a form, in UTC.
pub fn moment(fields: &Fields, name: &str, problems: &mut Vec<String>) -> Option<Timestamp> {
    named(fields, name, parse_when, problems)
}

fn label(name: &str) -> String {
    let words = match name {
        "event_id" => "event id",
        "copies_of" => "copies of",
        name => name,
    };
    format!("The {words}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> LetterQuery {
        LetterQuery::of(&Fields::parse(text.as_bytes()))
    }

    #[test]
    fn open_letters_are_meant_unless_another_state_is_given() {
        assert_eq!(query("").state, Some(LetterState::Open));
        assert_eq!(query("state=all").state, None);
        assert_eq!(query("state=discarded").state, Some(LetterState::Discarded));
    }

    #[test]
    fn every_field_of_a_filter_is_read() {
        let text = "source=stripe&event_id=evt_1&kind=charge.refunded&reason=refused&group=00112233445566778899aabbccddeeff\
                    &from=1970-01-01T00:00&until=1970-01-02T00:00:00Z&account=acct_1&payment=pi_1&copies_of=7";
        let query = query(text);
        assert_eq!(query.problems, Vec::<String>::new());
        assert_eq!(query.filter.copies_of, Some(DeadLetterId(7)));
        assert!(
            query.filter.to_string().starts_with("source = stripe, event id = evt_1, kind = charge.refunded")
        );
        assert_eq!(query.filter.to_string().matches(" = ").count(), FILTER_FIELDS.len());
    }

    #[test]
    fn what_cannot_be_meant_is_told_and_not_left_out_silently() {
        for text in
            ["source=NOPE", "reason=because", "group=1", "from=yesterday", "copies_of=x", "state=lost"]
        {
            assert_eq!(query(text).problems.len(), 1, "{text}");
        }
    }
}
