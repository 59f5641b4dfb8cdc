//! What came, as far as it is shown: masked, or as its bytes.

use askama::Template;
use askama::filters::HtmlSafe;

use super::super::super::masking::Shown;

/// How many bytes a hex dump has.
pub const DUMP_BYTES_MAX: usize = 2 * 1024;

/// How many bytes a line of it has: few, so that it fits a phone.
const LINE_BYTES: usize = 8;

/// A payload on a page.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "parts/payload.html")]
pub struct PayloadView {
    seen: Seen,
}

/// What is seen of it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Seen {
    /// JSON, with line breaks.
    Text(String),
    /// A form's fields.
    Form(Vec<(String, String)>),
    /// Nothing, for this reason.
    Hidden(&'static str),
    /// The bytes, and how many there are beyond those.
    Dump(String, usize),
}

impl HtmlSafe for PayloadView {}

impl PayloadView {
    /// The first bytes of `payload`, as numbers and as characters.
    pub fn dump(payload: &[u8]) -> Self {
        let shown = &payload[..payload.len().min(DUMP_BYTES_MAX)];
        Self { seen: Seen::Dump(dump(shown), payload.len() - shown.len()) }
    }
}

impl From<Shown> for PayloadView {
    fn from(shown: Shown) -> Self {
        let seen = match shown {
            Shown::Json(text) => Seen::Text(text),
            Shown::Form(fields) => Seen::Form(fields),
            Shown::Hidden(why) => Seen::Hidden(why),
        };
        Self { seen }
    }
}

fn dump(bytes: &[u8]) -> String {
    let lines: Vec<String> = bytes
        .chunks(LINE_BYTES)
        .zip((0usize..).step_by(LINE_BYTES))
        .map(|(line, place)| {
            let hex: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
            let text: String = line.iter().map(|byte| printable(*byte)).collect();
            format!("{place:05x}  {:<width$}  {text}", hex.join(" "), width = LINE_BYTES * 3 - 1)
        })
        .collect();
    lines.join("\n")
}

fn printable(byte: u8) -> char {
    if byte.is_ascii_graphic() || byte == b' ' { char::from(byte) } else { '.' }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dump_has_numbers_and_characters() {
        assert_eq!(
            dump(b"\x00\xffpi_1 <b>"),
            "00000  00 ff 70 69 5f 31 20 3c  ..pi_1 <\n00008  62 3e                    b>"
        );
    }

    #[test]
    fn a_dump_is_bounded_and_says_what_is_left() {
        let Seen::Dump(text, left) = PayloadView::dump(&vec![0x41; DUMP_BYTES_MAX + 5]).seen else {
            panic!("a dump")
        };
        assert_eq!((text.lines().count(), left), (DUMP_BYTES_MAX / LINE_BYTES, 5));
    }

    #[test]
    fn a_payload_is_inert() {
        for view in [
            PayloadView::from(Shown::Json("<script>alert(1)</script>".to_owned())),
            Shown::Form(vec![("\"><img onerror=x>".to_owned(), "<script>".to_owned())]).into(),
            PayloadView::dump(b"<script>"),
        ] {
            let html = view.to_string();
            assert!(!html.contains("<script>") && !html.contains("<img"), "{html}");
        }
    }
}
