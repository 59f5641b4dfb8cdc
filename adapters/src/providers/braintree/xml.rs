//! XML as small as Braintree writes it: elements and texts. No document type, so no entity but XML's own five,
//! and nothing can grow; attributes are not read.

use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};

/// How deep elements may stand in each other; real notifications have less than ten levels.
pub const DEPTH_MAX: usize = 32;

/// How many elements a notification may have; one with a long history has a few thousand.
pub const ELEMENTS_MAX: usize = 50_000;

/// An element, with the text that stands directly in it.
#[derive(Debug, Default)]
pub struct Element {
    name: String,
    text: String,
    children: Vec<Self>,
}

impl Element {
    /// The only element at the top of `xml`; `Err` says what is wrong.
    pub fn parse(xml: &str) -> Result<Self, &'static str> {
        let mut reader = Reader::from_str(xml);
        // The first is the document, in which the top element stands.
        let mut open = vec![Self::default()];
        let mut elements = 0;
        loop {
            let event = reader.read_event().map_err(|_| "is not XML")?;
            if matches!(event, Event::Start(_) | Event::Empty(_)) {
                elements += 1;
                if open.len() > DEPTH_MAX || elements > ELEMENTS_MAX {
                    return Err("has too many elements, or too deep ones");
                }
            }
            match event {
                Event::Start(start) => open.push(Self::named(&start)?),
                Event::Empty(start) => {
                    open.last_mut().ok_or("is not XML")?.children.push(Self::named(&start)?);
                }
                Event::End(_) => {
                    let closed = open.pop().ok_or("is not XML")?;
                    open.last_mut().ok_or("is not XML")?.children.push(closed);
                }
                Event::Text(text) => push(&mut open, &text.xml10_content().map_err(|_| "is not XML")?)?,
                Event::CData(text) => push(&mut open, &text.xml10_content().map_err(|_| "is not XML")?)?,
                Event::GeneralRef(reference) => push(&mut open, &resolved(&reference)?)?,
                Event::DocType(_) => return Err("has a document type"),
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
                Event::Eof => break,
            }
        }
        match <[Self; 1]>::try_from(open) {
            Ok([document]) => match <[Self; 1]>::try_from(document.children) {
                Ok([top]) => Ok(top),
                Err(_) => Err("has not one element at the top"),
            },
            Err(_) => Err("ends within an element"),
        }
    }

    fn named(start: &BytesStart<'_>) -> Result<Self, &'static str> {
        let name = std::str::from_utf8(start.name().into_inner()).map_err(|_| "is not XML")?.to_owned();
        Ok(Self { name, ..Self::default() })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The elements in it, in their order.
    pub fn children(&self) -> &[Self] {
        &self.children
    }

    /// The first element at the end of that path of names.
    pub fn find(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |element, name| element.children.iter().find(|child| child.name == *name))
    }

    /// The text of [`Self::find`], without the space around it; `None` where there is none.
    pub fn text(&self, path: &[&str]) -> Option<&str> {
        self.find(path).map(|element| element.text.trim()).filter(|text| !text.is_empty())
    }
}

fn push(open: &mut [Element], text: &str) -> Result<(), &'static str> {
    open.last_mut().ok_or("is not XML")?.text.push_str(text);
    Ok(())
}

fn resolved(reference: &BytesRef<'_>) -> Result<String, &'static str> {
    if let Some(character) = reference.resolve_char_ref().map_err(|_| "is not XML")? {
        return Ok(character.to_string());
    }
    let name = reference.decode().map_err(|_| "is not XML")?;
    resolve_xml_entity(&name).map(str::to_owned).ok_or("has an entity that is not XML's own")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_by_their_path() {
        let xml = "<?xml version=\"1.0\"?><a> <b x=\"1\">one</b><!-- no --><b>two</b><c><d> t&amp;&#x41;<![CDATA[<]]> </d></c><e nil=\"true\"/></a>\n";
        let top = Element::parse(xml).unwrap();
        assert_eq!(top.name(), "a");
        assert_eq!(top.text(&["b"]), Some("one"));
        assert_eq!(top.text(&["c", "d"]), Some("t&A<"));
        assert_eq!((top.text(&["e"]), top.text(&["c", "x"])), (None, None));
        assert_eq!(top.children().len(), 4);
    }

    #[test]
    fn what_could_grow_or_is_no_xml_is_refused() {
        let deep = format!("{}{}", "<a>".repeat(40), "</a>".repeat(40));
        let many = format!("<a>{}</a>", "<b></b>".repeat(ELEMENTS_MAX));
        let many_empty = format!("<a>{}</a>", "<b/>".repeat(ELEMENTS_MAX));
        let deep_empty = format!("{}<b/>{}", "<a>".repeat(DEPTH_MAX), "</a>".repeat(DEPTH_MAX));
        for xml in [
            "",
            "text",
            "<a>",
            "</a>",
            "<a></b>",
            "<a/><b/>",
            "<a>&lol;</a>",
            "<a>&#0;</a>",
            "<a>&#xD800;</a>",
            "<!DOCTYPE a [<!ENTITY lol \"lol\">]><a>&lol;</a>",
            "<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><a/>",
            &deep,
            &deep_empty,
            &many,
            &many_empty,
        ] {
            assert!(Element::parse(xml).is_err(), "{}", &xml[..xml.len().min(80)]);
        }
    }
}
