//! An error and all its causes as one bounded line, for headers, records and logs.

use std::error::Error;
use std::fmt::Write;

/// The longest text that [`describe`] gives, in bytes.
pub const ERROR_CHAIN_BYTES_MAX: usize = 1024;

/// `error: cause: cause of the cause`, cut at [`ERROR_CHAIN_BYTES_MAX`]; a cause whose text its parent
/// already ends with is not repeated.
pub fn describe(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.ends_with(&next) {
            // Writing to a string does not fail.
            write!(text, ": {next}").ok();
        }
        cause = error.source();
    }
    if text.len() > ERROR_CHAIN_BYTES_MAX {
        let end = text.floor_char_boundary(ERROR_CHAIN_BYTES_MAX - '…'.len_utf8());
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{text}")]
    struct Link {
        text: String,
        source: Option<Box<Link>>,
    }

    fn chain(texts: &[&str]) -> Link {
        let source = (texts.len() > 1).then(|| Box::new(chain(&texts[1..])));
        Link { text: texts[0].to_owned(), source }
    }

    #[test]
    fn causes_follow_in_order() {
        assert_eq!(describe(&chain(&["a", "b", "c"])), "a: b: c");
    }

    #[test]
    fn a_cause_that_is_already_told_is_not_repeated() {
        assert_eq!(describe(&chain(&["cannot save: disk full", "disk full"])), "cannot save: disk full");
    }

    #[test]
    fn a_long_chain_is_cut_between_characters() {
        let text = describe(&chain(&["é".repeat(2000).as_str()]));
        assert!(text.len() <= ERROR_CHAIN_BYTES_MAX && text.ends_with('…'), "{}", text.len());
    }
}
