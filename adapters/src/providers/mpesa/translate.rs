//! Which callback a body is, and what it means.

use application::ports::provider::{Problem, Untranslatable};
use domain::{Effect, EventId, NoEffect, Timestamp};

use super::{c2b, stk};
use crate::providers::identity::missing;
use crate::providers::json::Object;
use crate::providers::members::{Members, body_object, event_id_of, event_kind};
use crate::providers::moment;
use crate::providers::pack::Translation;

/// Every amount is in Kenyan shillings, and none says it.
pub const CURRENCY: &str = "KES";

/// How many digits a time has, `YYYYMMDDHHMMSS`.
const TIME_DIGITS: usize = 14;

/// The result of another request than for a payment, such as a payout or a query.
const RESULT_KIND: &str = "result";

pub fn identify(body: &[u8]) -> Result<Vec<EventId>, Vec<Problem>> {
    let root = body_object(body)?;
    let id = if let Some(callback) = stk::callback_of(&root) {
        event_id_of(&callback, "CheckoutRequestID", "/Body/stkCallback/CheckoutRequestID")
    } else if let Some(result) = root.object("Result") {
        event_id_of(&result, "ConversationID", "/Result/ConversationID")
    } else if root.get("TransID").is_some() {
        event_id_of(&root, "TransID", "/TransID")
    } else {
        Err(missing("/TransID"))
    };
    id.map(|id| vec![id])
}

pub fn translate(payload: &[u8]) -> Result<Translation, Untranslatable> {
    let root = Members::of_body(payload)?;
    if stk::callback_of(root.object()).is_some() {
        return stk::translate(&root.child("Body")?.child("stkCallback")?);
    }
    if root.object().get("TransID").is_some() {
        return c2b::translate(&root);
    }
    let is_result = root.object().object("Result").is_some();
    Ok(Translation {
        kind: event_kind(is_result.then_some(RESULT_KIND))?,
        live: None,
        occurred_at: None,
        effect: Effect::Nothing(NoEffect::Kind),
    })
}

/// When it happened: fourteen digits in East Africa Time, which is three hours ahead all year.
pub fn moment_of(object: &Object<'_>, name: &str) -> Option<Timestamp> {
    let text = object.text_or_number(name)?;
    if text.len() != TIME_DIGITS || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (date, time) = text.split_at(8);
    let (year, day) = date.split_at(4);
    let (month, day) = day.split_at(2);
    let (hour, minute) = time.split_at(2);
    let (minute, second) = minute.split_at(2);
    moment::rfc3339_text(&format!("{year}-{month}-{day}T{hour}:{minute}:{second}+03:00"))
}
