//! What makes two failures alike: their message without what differs from event to event.

/// The most bytes of a normalised message.
pub const MESSAGE_BYTES_MAX: usize = 512;

/// The fewest characters of a word of hexadecimal digits that is taken for a hash rather than an id.
const HEX_CHARS_MIN: usize = 8;

/// Where the hyphens of a UUID are.
const UUID_HYPHENS: [usize; 4] = [8, 13, 18, 23];
/// How long a UUID is.
const UUID_CHARS: usize = 36;

const NUMBER: &str = "<n>";
const HEX: &str = "<hex>";
const UUID: &str = "<uuid>";
const ID: &str = "<id>";
const TEXT: &str = "<text>";

/// `message` with placeholders for numbers, hashes, UUIDs, ids and quoted texts, with single spaces, cut at
/// [`MESSAGE_BYTES_MAX`]. A list of alike things is as one of them, however long it is.
pub fn normalise(message: &str) -> String {
    let mut out = Normalised::default();
    let mut rest = message.trim_start();
    while let Some(first) = rest.chars().next() {
        if out.text.len() >= MESSAGE_BYTES_MAX {
            break;
        }
        let end = if is_word(first) {
            let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            let word = &rest[..end];
            match placeholder(word) {
                Some(placeholder) => out.placeholder(placeholder),
                None => out.plain(word),
            }
            end
        } else if let Some(end) = quoted(rest, out.ends_in_word()) {
            out.placeholder(TEXT);
            end
        } else {
            out.separator(first);
            first.len_utf8()
        };
        rest = &rest[end..];
    }
    out.finish()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

/// What stands for `word`; `None` for a word that says something itself.
fn placeholder(word: &str) -> Option<&'static str> {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    if digits == 0 {
        return is_random_id(word).then_some(ID);
    }
    let without_prefix = word.strip_prefix("0x").unwrap_or(word);
    if is_uuid(word) {
        Some(UUID)
    } else if word.chars().all(|c| c.is_ascii_digit() || c == '-' || c == '_') {
        Some(NUMBER)
    } else if without_prefix.chars().all(|c| c.is_ascii_hexdigit())
        && (without_prefix.len() < word.len() || word.len() >= HEX_CHARS_MIN)
    {
        Some(HEX)
    } else {
        Some(ID)
    }
}

/// A prefix and letters of both cases without a digit, such as `cus_QaXbWz`. Names are of one case.
fn is_random_id(word: &str) -> bool {
    let Some((_, random)) = word.rsplit_once('_') else {
        return false;
    };
    random.chars().any(char::is_uppercase) && random.chars().any(char::is_lowercase)
}

fn is_uuid(word: &str) -> bool {
    word.len() == UUID_CHARS
        && word.bytes().enumerate().all(|(place, byte)| {
            if UUID_HYPHENS.contains(&place) { byte == b'-' } else { byte.is_ascii_hexdigit() }
        })
}

/// Where a quoted text that `text` begins with ends. One that is never closed was cut, and goes to the end;
/// but `'` within a word, or never closed, is an apostrophe.
fn quoted(text: &str, after_word: bool) -> Option<usize> {
    let quote = text.chars().next().filter(|c| ['"', '`', '\''].contains(c))?;
    if quote == '\'' && after_word {
        return None;
    }
    let mut escaped = false;
    for (place, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return Some(place + c.len_utf8()),
            _ => {}
        }
    }
    (quote != '\'').then_some(text.len())
}

/// The message so far.
#[derive(Default)]
struct Normalised {
    text: String,
    /// The placeholder that came last, and where the text after it begins.
    last: Option<(&'static str, usize)>,
}

impl Normalised {
    fn ends_in_word(&self) -> bool {
        self.text.chars().next_back().is_some_and(|c| is_word(c) || c == '>')
    }

    fn plain(&mut self, word: &str) {
        self.text.push_str(word);
    }

    fn separator(&mut self, c: char) {
        if !c.is_whitespace() {
            self.text.push(c);
        } else if !self.text.ends_with(' ') {
            self.text.push(' ');
        }
    }

    fn placeholder(&mut self, placeholder: &'static str) {
        if let Some((last, end)) = self.last
            && last == placeholder
            && self.text[end..].chars().all(|c| [' ', ',', ';'].contains(&c))
            && end < self.text.len()
        {
            self.text.truncate(end);
            return;
        }
        self.text.push_str(placeholder);
        self.last = Some((placeholder, self.text.len()));
    }

    fn finish(mut self) -> String {
        self.text.truncate(self.text.floor_char_boundary(MESSAGE_BYTES_MAX));
        self.text.truncate(self.text.trim_end().len());
        self.text
    }
}

#[cfg(test)]
mod tests;
