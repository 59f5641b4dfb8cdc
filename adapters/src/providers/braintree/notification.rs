//! A request's form, and the notification in it.

use std::borrow::Cow;

use application::ports::provider::Problem;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::{EventId, MerchantId, Timestamp};
use url::form_urlencoded;

use super::xml::Element;
use crate::providers::joined_id::joined;
use crate::providers::moment::rfc3339_text;

/// The two fields of a request.
pub struct Form<'a> {
    /// `bt_signature`.
    pub signature: Cow<'a, str>,
    /// `bt_payload`, in the letters and lines in which it is signed.
    pub payload: Cow<'a, str>,
}

impl<'a> Form<'a> {
    /// The form that `body` is; `Err` says what is wrong with it, from a closed set.
    pub fn read(body: &'a [u8]) -> Result<Self, &'static str> {
        let (mut signature, mut payload) = (None, None);
        for (name, value) in form_urlencoded::parse(body) {
            let field = match name.as_ref() {
                "bt_signature" => &mut signature,
                "bt_payload" => &mut payload,
                _ => continue,
            };
            // Which of two would count is not for us to guess.
            if field.replace(value).is_some() {
                return Err("malformed_signature");
            }
        }
        let (signature, payload) = signature.zip(payload).ok_or("missing_signature")?;
        let base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'\n');
        if payload.bytes().all(base64) { Ok(Self { signature, payload }) } else { Err("malformed_payload") }
    }
}

/// A notification.
pub struct Notification {
    root: Element,
    kind: String,
}

impl Notification {
    /// The notification that is in a request's body.
    pub fn of_body(body: &[u8]) -> Result<Self, Vec<Problem>> {
        let form = Form::read(body)
            .map_err(|_| problem("", "wrong_type", "is not a form with bt_signature and bt_payload"))?;
        let payload: String = form.payload.split('\n').collect();
        let xml = STANDARD.decode(payload).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let xml = xml.ok_or_else(|| problem("/bt_payload", "invalid", "is not a text in base64"))?;
        let root = Element::parse(&xml).map_err(|what| problem("/bt_payload", "invalid", what))?;
        let kind = root.text(&["kind"]).unwrap_or_default().to_owned();
        Ok(Self { root, kind })
    }

    /// Its kind, or nothing where it has none.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The object that it is about.
    pub fn object(&self) -> Option<&Element> {
        self.root.find(&["subject"])?.children().first()
    }

    /// When it happened.
    pub fn occurred_at(&self) -> Option<Timestamp> {
        self.root.text(&["timestamp"]).and_then(rfc3339_text)
    }

    /// Whose it is, where the webhook is a partner's and carries several merchants.
    pub fn merchant(&self) -> Option<MerchantId> {
        self.root.text(&["source-merchant-id"]).and_then(|text| MerchantId::parse(text).ok())
    }

    /// Braintree gives no id: the kind, the object and the moment are the same in each attempt.
    pub fn id(&self) -> Result<EventId, Vec<Problem>> {
        if self.kind.is_empty() {
            return Err(problem("/notification/kind", "missing", "is missing"));
        }
        let timestamp = self
            .root
            .text(&["timestamp"])
            .ok_or_else(|| problem("/notification/timestamp", "missing", "is missing"))?;
        let object = self.object().and_then(|object| object.text(&["id"])).unwrap_or_default();
        let mut parts = vec![self.kind.as_str(), object, timestamp];
        parts.extend(self.root.text(&["source-merchant-id"]));
        joined(&parts).map_err(|error| problem("/notification", "invalid", &error.to_string()))
    }
}

fn problem(pointer: &str, code: &'static str, message: &str) -> Vec<Problem> {
    vec![Problem { pointer: pointer.to_owned(), code, message: message.to_owned() }]
}
