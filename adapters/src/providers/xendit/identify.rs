//! Which event a body is. Xendit sends no event id: the kind, the object and its status make one.

use std::borrow::Cow;

use application::ports::provider::Problem;
use domain::EventId;

use super::invoice;
use crate::providers::identity::{first_named, missing, only_joined};
use crate::providers::json::Object;
use crate::providers::members::body_object;

/// What identifies the data of an event, the most exact first: a refund has an id and names its payment.
const IDS: [&str; 5] = ["capture_id", "id", "payment_id", "payment_request_id", "payment_token_id"];

pub fn identify(body: &[u8]) -> Result<Vec<EventId>, Vec<Problem>> {
    let root = body_object(body)?;
    let Some(event) = root.text("event") else { return flat(&root) };
    // Some kinds wrap their data twice; kinds of before the wrapping have none.
    let data = root.object("data");
    let data = match data.as_ref().and_then(|data| data.object("data")) {
        Some(inner) => inner,
        None => data.unwrap_or(root),
    };
    let name = first_named(&data, &IDS).ok_or_else(|| missing("/data/id"))?;
    let id = data.text_or_number(name).unwrap_or_default();
    let status = data.text("status").unwrap_or_default();
    match last_capture(&data) {
        Some(capture) => only_joined(&[&event, &id, &status, &capture]),
        None => only_joined(&[&event, &id, &status]),
    }
}

/// A payment that is captured in several parts is sent again with each.
fn last_capture<'a>(data: &Object<'a>) -> Option<Cow<'a, str>> {
    Object::of(data.array("captures")?.last()?)?.text("capture_id")
}

/// The older products send the object itself, without an event around it.
fn flat(root: &Object<'_>) -> Result<Vec<EventId>, Vec<Problem>> {
    let product = if invoice::is_one(root) { "invoice" } else { "object" };
    let id = first_named(root, &["payment_id", "id"]).and_then(|name| root.text_or_number(name));
    let id = id.ok_or_else(|| missing("/id"))?;
    only_joined(&[product, &id, &root.text("status").unwrap_or_default()])
}
