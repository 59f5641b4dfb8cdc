//! What becomes of a text that cannot be stored as it is.

/// `text` without NUL, which PostgreSQL stores in no text, and cut between characters at `bytes_max`.
pub fn storable(text: &str, bytes_max: usize) -> String {
    let clean = text.replace('\0', "\u{fffd}");
    clean[..clean.floor_char_boundary(bytes_max)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nul_is_replaced() {
        assert_eq!(storable("a\0b", 100), "a\u{fffd}b");
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(storable("éé", 3), "é");
        assert_eq!(storable("\0\0", 5), "\u{fffd}");
    }
}
