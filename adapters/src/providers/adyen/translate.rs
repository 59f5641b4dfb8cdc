//! What the items of standard webhooks mean. Money is read from signed members alone.

use application::ports::provider::Untranslatable;
use domain::{Effect, Fact, FactId, IdError, MerchantId, Money, NoEffect, PaymentId};

use super::Capture;
use super::amount::money;
use super::item::Item;
use crate::providers::facts::{captured_once, change, failed_refund};
use crate::providers::joined_id::joined_text;
use crate::providers::members::event_kind;
use crate::providers::moment::rfc3339;
use crate::providers::pack::Translation;

/// What an item says of one payment.
type Told = Option<(PaymentId, Vec<Fact>)>;

/// The event that an item is.
pub fn translate(item: &Item<'_>, capture: Capture) -> Result<Translation, Untranslatable> {
    let effect = match told(item, capture)? {
        Some((payment, facts)) => change(payment, merchant(item)?, facts),
        None => Effect::Nothing(NoEffect::Kind),
    };
    let kind = event_kind(item.event_code.as_deref())?;
    Ok(Translation { kind, live: item.live, occurred_at: item.event_date.and_then(rfc3339), effect })
}

/// An item without success tells that a request was refused and nothing has moved, except that a refused
/// authorisation is an attempt to pay.
fn told(item: &Item<'_>, capture: Capture) -> Result<Told, Untranslatable> {
    let code = item.event_code.as_deref().unwrap_or_default();
    match (code, item.success.as_deref()) {
        ("AUTHORISATION", Some("true")) => {
            Ok(Some((of_itself(item)?, vec![authorised(amount(item)?, capture)?])))
        }
        ("AUTHORISATION", Some("false")) => {
            Ok(Some((of_itself(item)?, vec![Fact::Failed { attempt: reference(item)? }])))
        }
        (_, Some("true")) => modified(code, item, capture),
        _ => Ok(None),
    }
}

/// Where the account captures by itself, nothing but the authorisation tells of it. A check of a card, which
/// is authorised with nothing, is captured never.
fn authorised(amount: Money, capture: Capture) -> Result<Fact, Untranslatable> {
    match capture {
        Capture::Automatic if amount.minor_units() > 0 => captured_once(amount),
        _ => Ok(Fact::Authorised { amount }),
    }
}

fn modified(code: &str, item: &Item<'_>, capture: Capture) -> Result<Told, Untranslatable> {
    let facts = match (code, capture) {
        ("CAPTURE", Capture::Manual) => {
            vec![Fact::Captured { capture: reference(item)?, amount: amount(item)?, last: false }]
        }
        // The capture stays in the books, and what was not got goes back out of them.
        ("CAPTURE_FAILED", _) => {
            vec![Fact::Refunded { refund: named(item, "capture_failed")?, amount: amount(item)? }]
        }
        ("CANCELLATION" | "TECHNICAL_CANCEL", Capture::Manual) => vec![Fact::Canceled],
        // The authorisation counted as the capture, which now never happens.
        ("CANCELLATION" | "TECHNICAL_CANCEL", Capture::Automatic) => {
            vec![Fact::Canceled, Fact::Refunded { refund: reference(item)?, amount: amount(item)? }]
        }
        ("REFUND", _) => vec![Fact::Refunded { refund: reference(item)?, amount: amount(item)? }],
        ("REFUND_FAILED" | "REFUNDED_REVERSED", _) => failed_refund(reference(item)?, amount(item)?),
        ("CHARGEBACK", _) => vec![Fact::DisputeOpened { dispute: reference(item)?, amount: amount(item)? }],
        ("CHARGEBACK_REVERSED", _) => {
            vec![Fact::DisputeWon { dispute: reference(item)?, amount: amount(item)? }]
        }
        // After a reversal the money is taken once more, and for good.
        ("SECOND_CHARGEBACK", _) => {
            let (dispute, amount) = (named(item, "second")?, amount(item)?);
            vec![
                Fact::DisputeOpened { dispute: dispute.clone(), amount },
                Fact::DisputeLost { dispute, amount },
            ]
        }
        _ => return Ok(None),
    };
    let payment = if code.contains("CHARGEBACK") { disputed(item) } else { original(item) }?;
    Ok(Some((payment, facts)))
}

fn merchant(item: &Item<'_>) -> Result<Option<MerchantId>, Untranslatable> {
    match item.merchant_account.as_deref() {
        Some("") => Ok(None),
        _ => id(item, "merchantAccountCode", item.merchant_account.as_deref(), MerchantId::parse).map(Some),
    }
}

fn amount(item: &Item<'_>) -> Result<Money, Untranslatable> {
    let (value, currency) = (item.value.as_deref(), item.currency.as_deref());
    money(value.unwrap_or_default(), currency.unwrap_or_default())
        .map_err(|what| wrong(item, "amount", &what))
}

fn of_itself(item: &Item<'_>) -> Result<PaymentId, Untranslatable> {
    id(item, "pspReference", item.psp_reference.as_deref(), PaymentId::parse)
}

fn original(item: &Item<'_>) -> Result<PaymentId, Untranslatable> {
    id(item, "originalReference", item.original_reference.as_deref(), PaymentId::parse)
}

/// A later event of a dispute has the payment's reference in the place of the dispute's, unless the account is
/// set to tell both.
fn disputed(item: &Item<'_>) -> Result<PaymentId, Untranslatable> {
    if item.original_reference.as_deref() == Some("") { of_itself(item) } else { original(item) }
}

fn reference(item: &Item<'_>) -> Result<FactId, Untranslatable> {
    id(item, "pspReference", item.psp_reference.as_deref(), FactId::parse)
}

/// An id that no event of the provider has, for what happened once more under one reference.
fn named(item: &Item<'_>, name: &str) -> Result<FactId, Untranslatable> {
    let reference = item.psp_reference.as_deref().unwrap_or_default();
    FactId::parse(&joined_text(&[name, reference]))
        .map_err(|_| wrong(item, "pspReference", "is not a usable id"))
}

fn id<T>(
    item: &Item<'_>,
    name: &str,
    text: Option<&str>,
    parse: fn(&str) -> Result<T, IdError>,
) -> Result<T, Untranslatable> {
    parse(text.unwrap_or_default()).map_err(|error| wrong(item, name, &error.to_string()))
}

fn wrong(item: &Item<'_>, name: &str, what: &str) -> Untranslatable {
    Untranslatable(format!("{}/{name} {what}", item.pointer))
}
