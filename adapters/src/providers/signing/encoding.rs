//! Signatures as text. Anything may come in a header, so nothing here panics.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The longest signature that is decoded, in characters; the longest real one is an RSA signature of 4,096
/// bits in base64.
const ENCODED_CHARACTERS_MAX: usize = 1_024;

/// The bytes of a hexadecimal text, in either case; `None` when it is not one, or is absurdly long.
pub fn hex(text: &[u8]) -> Option<Vec<u8>> {
    if text.is_empty() || text.len() > ENCODED_CHARACTERS_MAX || !text.len().is_multiple_of(2) {
        return None;
    }
    text.chunks_exact(2).map(|pair| Some(nibble(pair[0])? << 4 | nibble(pair[1])?)).collect()
}

fn nibble(character: u8) -> Option<u8> {
    match character {
        b'0'..=b'9' => Some(character - b'0'),
        b'a'..=b'f' => Some(character - b'a' + 10),
        b'A'..=b'F' => Some(character - b'A' + 10),
        _ => None,
    }
}

/// The bytes as lower-case hexadecimal text.
pub fn hex_text(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String never fails.
        write!(text, "{byte:02x}").ok();
        text
    })
}

/// The bytes of a standard, padded base64 text; `None` when it is not one, or is absurdly long.
pub fn base64(text: &[u8]) -> Option<Vec<u8>> {
    if text.is_empty() || text.len() > ENCODED_CHARACTERS_MAX {
        return None;
    }
    STANDARD.decode(text).ok()
}

/// The bytes as standard, padded base64 text.
pub fn base64_text(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_is_read_in_either_case() {
        assert_eq!(hex(b"00fFa9"), Some(vec![0x00, 0xff, 0xa9]));
        assert_eq!(hex_text(&[0x00, 0xff, 0xa9]), "00ffa9");
    }

    #[test]
    fn what_is_not_hexadecimal_is_none() {
        for text in [&b""[..], b"0", b"0g", b" 00", "é0".as_bytes(), &[b'a'; 2_000], &[0xff, 0xff]] {
            assert_eq!(hex(text), None);
        }
    }

    #[test]
    fn what_is_not_base64_is_none() {
        for text in [&b""[..], b"=", b"a", b"a===", "é===".as_bytes(), &[b'a'; 2_000], &[0xff, 0xff]] {
            assert_eq!(base64(text), None);
        }
        assert_eq!(base64(base64_text(&[1, 2, 3]).as_bytes()), Some(vec![1, 2, 3]));
    }
}
