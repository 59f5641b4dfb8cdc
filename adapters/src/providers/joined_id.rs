//! Event ids made of several parts, for providers that send none of their own.

use domain::{EventId, IdError};

/// The parts as one id, `a|b|c`. A `|` or `\` inside a part is written with a `\` before it, so that no two
/// lists of parts make the same id.
///
/// # Errors
/// The whole breaks the rule of ids, such as by its length or a control character.
pub fn joined(parts: &[&str]) -> Result<EventId, IdError> {
    EventId::parse(&joined_text(parts))
}

/// [`joined`], as text, for ids that are not an event's.
pub fn joined_text(parts: &[&str]) -> String {
    let escaped: Vec<String> =
        parts.iter().map(|part| part.replace('\\', "\\\\").replace('|', "\\|")).collect();
    escaped.join("|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_lists_of_parts_make_the_same_id() {
        let lists: [&[&str]; 6] = [
            &["a|b", "c"],
            &["a", "b|c"],
            &["a", "b", "c"],
            &["a\\", "b|c"],
            &["a\\|b", "c"],
            &["a", "", "bc"],
        ];
        let ids: std::collections::BTreeSet<String> = lists.iter().map(|parts| joined_text(parts)).collect();
        assert_eq!(ids.len(), lists.len());
    }

    #[test]
    fn a_plain_list_stays_readable() {
        assert_eq!(joined(&["evt_1", "AUTHORISATION", "true"]).unwrap().as_str(), "evt_1|AUTHORISATION|true");
    }
}
