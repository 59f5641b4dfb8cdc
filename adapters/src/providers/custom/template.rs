//! What a sender signs: text with placeholders.

use application::ports::provider::WebhookRequest;

use super::field::header_name;
use super::options::bad;
use crate::providers::settings::SetupError;

const OPTION: &str = "signed";

/// What is signed, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Body,
    Timestamp,
    Header(String),
}

impl Template {
    /// Parses the option `signed`. `{id}` stands for the header that is the event id, `{url}` for the
    /// configured URL: both are known by now.
    ///
    /// # Errors
    /// A brace without its partner, an unknown placeholder, or one for which an option is missing.
    pub fn parse(text: &str, id_header: Option<&str>, url: Option<&str>) -> Result<Self, SetupError> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            push_text(&mut parts, before)?;
            let (name, after) = after.split_once('}').ok_or_else(|| bad(OPTION, "has a { without its }"))?;
            parts.push(placeholder(name, id_header, url)?);
            rest = after;
        }
        push_text(&mut parts, rest)?;
        Ok(Self(parts))
    }

    /// Whether the whole body is signed.
    pub fn has_body(&self) -> bool {
        self.0.contains(&Part::Body)
    }

    /// Whether a time is signed.
    pub fn has_timestamp(&self) -> bool {
        self.0.contains(&Part::Timestamp)
    }

    /// The headers that are signed, by lower-case name.
    pub fn headers(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            Part::Header(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// What is signed of this request; `None` when one of its headers is missing.
    pub fn parts<'a>(&'a self, request: &WebhookRequest<'a>, timestamp: &'a [u8]) -> Option<Vec<&'a [u8]>> {
        let part = |part: &'a Part| match part {
            Part::Text(text) => Some(text.as_bytes()),
            Part::Body => Some(request.body),
            Part::Timestamp => Some(timestamp),
            Part::Header(name) => request.header(name),
        };
        self.0.iter().map(part).collect()
    }
}

fn push_text(parts: &mut Vec<Part>, text: &str) -> Result<(), SetupError> {
    if text.contains('}') {
        return Err(bad(OPTION, "has a } without its {"));
    }
    if !text.is_empty() {
        parts.push(Part::Text(text.to_owned()));
    }
    Ok(())
}

fn placeholder(name: &str, id_header: Option<&str>, url: Option<&str>) -> Result<Part, SetupError> {
    Ok(match name {
        "body" => Part::Body,
        "timestamp" => Part::Timestamp,
        "id" => match id_header {
            Some(header) => Part::Header(header.to_owned()),
            // Nothing of a body is read before it is verified.
            None => return Err(bad(OPTION, "has {id}, so id must be one header:NAME")),
        },
        "url" => match url {
            Some(url) => Part::Text(url.to_owned()),
            None => return Err(bad(OPTION, "has {url}, so url must be set")),
        },
        other => {
            let Some(header) = other.strip_prefix("header:") else {
                let known = "{body}, {timestamp}, {id}, {url} and {header:NAME}";
                return Err(bad(OPTION, &format!("has an unknown placeholder; known are {known}")));
            };
            Part::Header(header_name(OPTION, header)?)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signed(template: &str) -> Option<Vec<u8>> {
        let headers = [("x-id".to_owned(), b"7".to_vec()), ("x-path".to_owned(), b"/hook".to_vec())];
        let request = WebhookRequest { body: b"{}", headers: &headers, query: "" };
        let template = Template::parse(template, Some("x-id"), Some("https://a.example/b")).unwrap();
        template.parts(&request, b"17").map(|parts| parts.concat())
    }

    #[test]
    fn placeholders_are_filled_in_their_order() {
        for (template, expected) in [
            ("{body}", "{}"),
            ("{id}.{timestamp}.{body}", "7.17.{}"),
            ("v0:{timestamp}:{body}", "v0:17:{}"),
            ("{url}{body}", "https://a.example/b{}"),
            ("{header:X-Path}|{body}|{body}", "/hook|{}|{}"),
            ("constant", "constant"),
        ] {
            assert_eq!(signed(template).as_deref(), Some(expected.as_bytes()), "{template}");
        }
    }

    #[test]
    fn a_request_without_a_signed_header_has_nothing_to_verify() {
        assert_eq!(signed("{header:x-gone}{body}"), None);
    }

    #[test]
    fn what_is_no_template_is_refused() {
        for template in ["{body", "body}", "{}", "{ body}", "{Body}", "{header:}", "{header:a b}", "{{body}}"]
        {
            assert!(Template::parse(template, Some("x-id"), Some("u")).is_err(), "{template}");
        }
        assert!(Template::parse("{id}", None, None).is_err());
        assert!(Template::parse("{url}", None, None).is_err());
    }
}
