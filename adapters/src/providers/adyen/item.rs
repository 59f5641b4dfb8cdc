//! One item of a standard webhook.

use std::borrow::Cow;

use application::ports::provider::Problem;
use domain::EventId;
use serde_json::value::RawValue;

use crate::providers::joined_id::joined;
use crate::providers::json::{Kind, Object, elements, string};

/// An item. What is read of it for money is signed.
pub struct Item<'a> {
    /// Where it stands, as a JSON pointer.
    pub pointer: String,
    /// Whether it is about real money, as the request says of all its items.
    pub live: Option<bool>,
    /// The reference of what happened: of the payment, or of the capture, refund or dispute.
    pub psp_reference: Member<'a>,
    /// The payment's reference, where what happened has one of its own.
    pub original_reference: Member<'a>,
    /// Whose money it is.
    pub merchant_account: Member<'a>,
    /// The merchant's own reference, which may hold anything.
    pub merchant_reference: Member<'a>,
    /// How much, in Adyen's minor units.
    pub value: Member<'a>,
    /// The currency's code.
    pub currency: Member<'a>,
    /// What happened.
    pub event_code: Member<'a>,
    /// `true` or `false`: whether it did.
    pub success: Member<'a>,
    /// When it happened. Not signed.
    pub event_date: Option<&'a RawValue>,
    signature: Option<&'a RawValue>,
}

/// A signed member as text, which is empty where it is missing; `None` where it has none.
pub type Member<'a> = Option<Cow<'a, str>>;

/// The items of a request; `None` where it has none in the place of items.
pub fn of_body(body: &[u8]) -> Option<Vec<Item<'_>>> {
    let root = Object::parse(body)?;
    let live = root.get("live").and_then(truth);
    let items = elements(root.get("notificationItems")?)?.into_iter().enumerate();
    items.map(|(index, item)| Item::of(item, index, live)).collect()
}

impl<'a> Item<'a> {
    fn of(wrapped: &'a RawValue, index: usize, live: Option<bool>) -> Option<Self> {
        let object = Object::of(wrapped)?.object("NotificationRequestItem")?;
        let pointer = format!("/notificationItems/{index}/NotificationRequestItem");
        Some(Self::of_object(&object, pointer, live))
    }

    /// The item that `object` is.
    pub fn of_object(object: &Object<'a>, pointer: String, live: Option<bool>) -> Self {
        let amount = object.object("amount");
        let of_amount = |name| amount.as_ref().map_or(Some(Cow::Borrowed("")), |amount| member(amount, name));
        Self {
            pointer,
            live,
            psp_reference: member(object, "pspReference"),
            original_reference: member(object, "originalReference"),
            merchant_account: member(object, "merchantAccountCode"),
            merchant_reference: member(object, "merchantReference"),
            value: of_amount("value"),
            currency: of_amount("currency"),
            event_code: member(object, "eventCode"),
            success: member(object, "success"),
            event_date: object.get("eventDate"),
            signature: object.object("additionalData").and_then(|data| data.get("hmacSignature")),
        }
    }

    /// The signature that the item carries.
    pub fn signature(&self) -> Result<Cow<'a, str>, &'static str> {
        string(self.signature.ok_or("missing_signature")?).ok_or("malformed_signature")
    }

    /// The text that is signed: the members in their order, with a `:` between, nothing escaped. Only the
    /// merchant's reference may hold a `:`. With one in another, members could be shifted against each other
    /// under the same signature.
    pub fn signed_text(&self) -> Result<String, &'static str> {
        let members = [
            &self.psp_reference,
            &self.original_reference,
            &self.merchant_account,
            &self.merchant_reference,
            &self.value,
            &self.currency,
            &self.event_code,
            &self.success,
        ];
        let texts: Vec<&str> = members
            .into_iter()
            .map(|member| member.as_deref().ok_or("malformed_signature"))
            .collect::<Result<_, _>>()?;
        let shifts = texts.iter().enumerate().any(|(place, text)| place != 3 && text.contains(':'));
        if shifts { Err("ambiguous_signature") } else { Ok(texts.join(":")) }
    }

    /// Adyen gives no id: these three are the same in each attempt.
    pub fn id(&self) -> Result<EventId, Problem> {
        let wrong = |name: &str, message: String| Problem {
            pointer: format!("{}{name}", self.pointer),
            code: "invalid",
            message,
        };
        let part = |name, member: &'_ Member<'a>| match member.as_deref() {
            Some(text) if !text.is_empty() => Ok(text.to_owned()),
            _ => Err(wrong(name, "is missing, and the event has no id without it".to_owned())),
        };
        let psp_reference = part("/pspReference", &self.psp_reference)?;
        let event_code = part("/eventCode", &self.event_code)?;
        let success = self.success.as_deref().unwrap_or_default();
        joined(&[&psp_reference, &event_code, success]).map_err(|error| wrong("", error.to_string()))
    }
}

fn member<'a>(object: &Object<'a>, name: &str) -> Member<'a> {
    let Some(value) = object.get(name) else { return Some(Cow::Borrowed("")) };
    match Kind::of(value) {
        Kind::String => string(value),
        // As Adyen's own libraries write them.
        Kind::Number | Kind::Boolean => Some(Cow::Borrowed(value.get())),
        Kind::Object | Kind::Array | Kind::Null => None,
    }
}

/// `"true"` or `true`.
fn truth(value: &RawValue) -> Option<bool> {
    match value.get().trim_matches('"') {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}
