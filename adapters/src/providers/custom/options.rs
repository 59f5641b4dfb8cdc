//! The options of a source, read one by one, so that whatever is wrong is told with the option's name.

use serde_json::{Map, Value};

use crate::providers::options::listed;
use crate::providers::settings::{SetupError, SourceSettings};

/// The options that are not read yet.
pub struct Options(Map<String, Value>);

impl Options {
    /// All of the source's.
    pub fn of(settings: &SourceSettings) -> Self {
        Self(settings.options.clone())
    }

    /// The option's text, which may be empty.
    pub fn text(&mut self, name: &str) -> Result<Option<String>, SetupError> {
        match self.0.remove(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(bad(name, "must be a text")),
        }
    }

    /// The option's text, which is not empty where there is one.
    pub fn filled(&mut self, name: &str) -> Result<Option<String>, SetupError> {
        match self.text(name)? {
            Some(text) if text.is_empty() => Err(bad(name, "is empty; leave it out")),
            text => Ok(text),
        }
    }

    /// The option's text, without which nothing works.
    pub fn required(&mut self, name: &str) -> Result<String, SetupError> {
        self.filled(name)?.ok_or_else(|| bad(name, "is missing"))
    }

    /// The option's texts: a list of them, or one text with commas between them.
    pub fn texts(&mut self, name: &str) -> Result<Option<Vec<String>>, SetupError> {
        let values: Vec<Value> = match self.0.remove(name) {
            None => return Ok(None),
            Some(Value::Array(values)) => values,
            Some(Value::String(text)) => listed(&text).map(Value::from).collect(),
            Some(value) => vec![value],
        };
        let texts: Option<Vec<String>> =
            values.into_iter().map(|value| value.as_str().map(str::to_owned)).collect();
        match texts {
            Some(texts) if !texts.is_empty() => Ok(Some(texts)),
            _ => Err(bad(name, "must be a text, or a list of at least one")),
        }
    }

    /// Which of the `known` words the option is.
    pub fn choice<T: Copy>(&mut self, name: &str, known: &[(&str, T)]) -> Result<Option<T>, SetupError> {
        self.text(name)?.map(|text| chosen(name, &text, known)).transpose()
    }

    /// The option's table of texts: a table, or one text of `name=text` with commas between, whose names may hold
    /// a `=` but no comma.
    pub fn table(&mut self, name: &str) -> Result<Vec<(String, String)>, SetupError> {
        let entries = match self.0.remove(name) {
            None => return Ok(Vec::new()),
            Some(Value::Object(entries)) => entries,
            Some(Value::String(text)) => {
                let entry = |entry: &str| {
                    let (key, value) = entry.rsplit_once('=')?;
                    Some((key.trim().to_owned(), value.trim().to_owned()))
                };
                let entries: Option<Vec<_>> = listed(&text).map(entry).collect();
                return entries
                    .ok_or_else(|| bad(name, "must be a table of texts, or name=text with commas between"));
            }
            Some(_) => return Err(bad(name, "must be a table of texts")),
        };
        let text = |value: Value| match value {
            Value::String(text) => Ok(text),
            _ => Err(bad(name, "must be a table of texts")),
        };
        entries.into_iter().map(|(key, value)| Ok((key, text(value)?))).collect()
    }

    /// Nothing may be left over.
    pub fn finish(self) -> Result<(), SetupError> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(name) => Err(SetupError::BadOption(format!("{name:?} is not an option of \"custom\""))),
        }
    }
}

/// Which of the `known` words `text` is, for the option `name`.
pub fn chosen<T: Copy>(name: &str, text: &str, known: &[(&str, T)]) -> Result<T, SetupError> {
    let words = || known.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
    known
        .iter()
        .find(|(word, _)| *word == text)
        .map(|(_, value)| *value)
        .ok_or_else(|| bad(name, &format!("must be one of: {}", words())))
}

/// That the option is wrong. What it says is not repeated: it may be a secret in the wrong place.
pub fn bad(name: &str, what: &str) -> SetupError {
    SetupError::BadOption(format!("{name} {what}"))
}
