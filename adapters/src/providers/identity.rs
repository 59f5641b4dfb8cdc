//! Ids out of bodies and headers that name them in several ways, or have none of their own.

use application::ports::provider::{Problem, Untranslatable};
use domain::{EventId, IdError};

use super::joined_id::joined;
use super::json::Object;
use super::members::Members;

/// The only event of a request, whose id has several parts.
///
/// # Errors
/// The whole breaks the rule of ids.
pub fn only_joined(parts: &[&str]) -> Result<Vec<EventId>, Vec<Problem>> {
    only(joined(parts), "")
}

/// The only event of a request, whose id stands at `pointer`.
///
/// # Errors
/// The id breaks the rule of ids.
pub fn only(id: Result<EventId, IdError>, pointer: &str) -> Result<Vec<EventId>, Vec<Problem>> {
    id.map(|id| vec![id]).map_err(|error| vec![problem(pointer, "invalid", error.to_string())])
}

/// That nothing stands at `pointer` to tell the event by.
pub fn missing(pointer: &str) -> Vec<Problem> {
    vec![problem(pointer, "missing", "is missing, and the event has no id without it".to_owned())]
}

/// That the header is missing that carries the id.
pub fn missing_header(name: &str) -> Vec<Problem> {
    vec![problem("", "missing", format!("came without the header {name}, so the event has no id"))]
}

/// The first of these members that is a text or a number.
pub fn first_named<'n>(object: &Object<'_>, names: &[&'n str]) -> Option<&'n str> {
    names.iter().copied().find(|name| object.text_or_number(name).is_some())
}

/// The id in the first of these members that is a text or a number.
///
/// # Errors
/// None is, or it is not an id.
pub fn first_id<T>(
    members: &Members<'_>,
    names: &[&str],
    parse: impl FnOnce(&str) -> Result<T, IdError>,
) -> Result<T, Untranslatable> {
    let name = first_named(members.object(), names).or(names.first().copied());
    members.id(name.unwrap_or_default(), parse)
}

fn problem(pointer: &str, code: &'static str, message: String) -> Problem {
    Problem { pointer: pointer.to_owned(), code, message }
}

#[cfg(test)]
mod tests {
    use domain::PaymentId;

    use super::*;

    #[test]
    fn the_first_member_that_is_there_is_the_id() {
        let body = br#"{"a":null,"b":"","c":7,"d":"x"}"#;
        let members = Members::of_body(body).unwrap();
        assert_eq!(first_named(members.object(), &["a", "b", "c", "d"]), Some("c"));
        assert_eq!(first_id(&members, &["a", "c"], PaymentId::parse).unwrap().as_str(), "7");
        assert!(first_id(&members, &["a", "b"], PaymentId::parse).unwrap_err().0.starts_with("/a "));
    }
}
