//! The fields of a form, or of a query: names may come several times, as those of check boxes do.

use std::convert::Infallible;
use std::fmt::Write;
use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use url::form_urlencoded::{Serializer, parse};

/// The fields, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    /// Of a query or a form's body.
    pub fn parse(encoded: &[u8]) -> Self {
        Self(parse(encoded).into_owned().collect())
    }

    /// The first field of that name, without white space around it; empty where there is none.
    pub fn get(&self, name: &str) -> &str {
        self.raw(name).trim()
    }

    /// The first field of that name as it came.
    pub fn raw(&self, name: &str) -> &str {
        self.0.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value.as_str())
    }

    /// Whether there is one of that name.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }

    /// All fields of that name.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.trim())
    }

    /// The fields of `names` that say something, for hidden fields and for links.
    #[must_use]
    pub fn only(&self, names: &[&str]) -> Self {
        let kept =
            self.0.iter().filter(|(key, value)| names.contains(&key.as_str()) && !value.trim().is_empty());
        Self(kept.cloned().collect())
    }

    /// One more field.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.0.push((name.to_owned(), value.into()));
        self
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// `path` with these as its query.
    pub fn link(&self, path: &str) -> String {
        let mut link = path.to_owned();
        if !self.0.is_empty() {
            let query = Serializer::new(String::new()).extend_pairs(self.iter()).finish();
            // Writing to a string does not fail.
            write!(link, "?{query}").ok();
        }
        link
    }
}

/// Those of the query.
impl FromRequest for Fields {
    type Error = Infallible;
    type Future = Ready<Result<Self, Infallible>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(Self::parse(request.query_string().as_bytes())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_come_several_times() {
        let fields = Fields::parse(b"id=1&why=+it%20is+mended+&id=2");
        assert_eq!(fields.all("id").collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(fields.get("why"), "it is mended");
        assert_eq!(fields.raw("why"), " it is mended ");
        assert_eq!(fields.get("gone"), "");
    }

    #[test]
    fn a_link_keeps_what_was_asked_for_whatever_is_in_it() {
        let fields = Fields::parse(b"source=stripe&kind=&event_id=a%26b%3Dc&page=3")
            .only(&["source", "kind", "event_id"]);
        assert_eq!(fields.link("/dead-letters"), "/dead-letters?source=stripe&event_id=a%26b%3Dc");
        assert_eq!(Fields::default().link("/events"), "/events");
    }
}
