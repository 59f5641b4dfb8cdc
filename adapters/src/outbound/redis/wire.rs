//! What the keys and values in Redis look like.

use application::ports::seen_events::Seen;
use domain::{EventKey, Fingerprint, IdError, SourceName};

const MARK_PREFIX: &str = "c:";

/// The namespace as it stands in keys, without a colon. No name has a dot, so no two namespaces become one.
pub fn namespace(text: &str) -> Result<String, IdError> {
    for name in text.split(':') {
        SourceName::parse(name)?;
    }
    Ok(text.replace(':', "."))
}

/// The key of an event. Neither namespace nor source contains a colon, so no two events share a key.
pub fn key(namespace: &str, event: &EventKey) -> String {
    format!("payonce:{namespace}:{}:{}", event.source, event.event_id)
}

/// The value that says that an event of this meaning was committed.
pub fn mark(fingerprint: Fingerprint) -> String {
    format!("{MARK_PREFIX}{fingerprint}")
}

/// What a value says. Only a mark, to the letter, says that the event was committed.
pub fn read(value: &[u8]) -> Seen {
    read_mark(value).map_or(Seen::Unknown, Seen::Committed)
}

fn read_mark(value: &[u8]) -> Option<Fingerprint> {
    let hex = std::str::from_utf8(value).ok()?.strip_prefix(MARK_PREFIX)?;
    let is_hex = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    if hex.len() != 2 * Fingerprint::BYTES || !hex.bytes().all(is_hex) {
        return None;
    }
    let mut bytes = [0; Fingerprint::BYTES];
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * index..2 * index + 2], 16).ok()?;
    }
    Fingerprint::from_bytes(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use application::testing::{event_key, succeeded};

    #[test]
    fn a_mark_is_read_as_the_fingerprint_it_was_written_for() {
        let fingerprint = succeeded("evt_1", "pi_1", 4999).fingerprint();
        assert_eq!(read(mark(fingerprint).as_bytes()), Seen::Committed(fingerprint));
    }

    #[test]
    fn anything_else_is_no_mark() {
        let good = mark(succeeded("evt_1", "pi_1", 4999).fingerprint());
        let upper = format!("c:{}", good[2..].to_uppercase());
        let long = format!("{good}0");
        for value in [
            "claimed",
            "",
            "c:",
            "c",
            "1",
            "committed",
            &good[..33],
            &good[2..],
            &long,
            &upper,
            "c:+f+f+f+f+f+f+f+f+f+f+f+f+f+f+f+f",
            "c:é234567890123456789012345678901",
        ] {
            assert_eq!(read(value.as_bytes()), Seen::Unknown, "{value}");
        }
        assert_eq!(read(&[0xff; 34]), Seen::Unknown);
    }

    #[test]
    fn a_namespace_of_several_names_does_not_reach_into_the_source() {
        assert_eq!(namespace("ns:worker").unwrap(), "ns.worker");
        for wrong in ["", ":", "a:", "a.b", "A", "a b"] {
            assert!(namespace(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_event_id_with_colons_does_not_reach_another_source() {
        assert_eq!(key("ns", &event_key("a:b")), "payonce:ns:payment:a:b");
    }
}
