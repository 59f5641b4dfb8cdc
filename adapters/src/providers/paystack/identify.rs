//! Which event a body is. Paystack sends no event id: the kind and what identifies its data make one.

use std::borrow::Cow;

use application::ports::provider::Problem;
use domain::EventId;

use crate::providers::identity::{first_named, missing, only_joined};
use crate::providers::json::{Object, elements};
use crate::providers::members::body_object;

/// What identifies the data of a kind, the most exact first.
const IDS: [&str; 7] = [
    "id",
    "reference",
    "transfer_code",
    "subscription_code",
    "invoice_code",
    "request_code",
    "customer_code",
];

pub fn identify(body: &[u8]) -> Result<Vec<EventId>, Vec<Problem>> {
    let root = body_object(body)?;
    let event = root.text("event").ok_or_else(|| missing("/event"))?;
    let data = data_of(&root).ok_or_else(|| missing("/data"))?;
    if let Some(name) = first_named(&data, &IDS) {
        let id = data.text_or_number(name).unwrap_or_default();
        return only_joined(&[&event, &id]);
    }
    if let Some(transaction) = data.text_or_number("transaction_reference") {
        return only_joined(&[&event, &transaction, &refund_of(&data)]);
    }
    let customer = data.object("customer");
    match customer.as_ref().and_then(|customer| customer.text_or_number("customer_code")) {
        Some(code) => only_joined(&[&event, &code]),
        None => Err(missing("/data/id")),
    }
}

/// A refund has no reference before it is processed. The reports that come before that have no effect, so it
/// does no harm that two refunds of one amount are told apart only by that.
fn refund_of<'a>(data: &Object<'a>) -> Cow<'a, str> {
    let named = first_named(data, &["refund_reference", "amount"]);
    named.and_then(|name| data.text_or_number(name)).unwrap_or_default()
}

/// The data, or the first of several, as in the monthly report of expiring cards.
fn data_of<'a>(root: &Object<'a>) -> Option<Object<'a>> {
    let data = root.get("data")?;
    Object::of(data).or_else(|| Object::of(elements(data)?.first()?))
}
