//! The result of a payment that the merchant asked the payer's phone for.

use application::ports::provider::Untranslatable;
use domain::{Effect, Fact, FactId, PaymentId};
use serde_json::value::RawValue;

use super::translate::{CURRENCY, moment_of};
use crate::providers::amount;
use crate::providers::facts::{captured_once, change};
use crate::providers::json::Object;
use crate::providers::members::{Members, event_kind};
use crate::providers::pack::Translation;

const KIND: &str = "stkCallback";

/// What a payment that was made is told by. Every other code is a reason why it was not.
const SUCCESS: &str = "0";

/// The callback in a body, where it is one.
pub fn callback_of<'a>(root: &Object<'a>) -> Option<Object<'a>> {
    root.object("Body")?.object("stkCallback")
}

pub fn translate(callback: &Members<'_>) -> Result<Translation, Untranslatable> {
    let metadata = Metadata::of(callback.object());
    let effect = if callback.text("ResultCode")? == SUCCESS {
        paid(callback, &metadata)?
    } else {
        let attempt = callback.id("CheckoutRequestID", FactId::parse)?;
        let payment = callback.id("CheckoutRequestID", PaymentId::parse)?;
        change(payment, None, vec![Fact::Failed { attempt }])
    };
    let occurred_at = metadata.item("TransactionDate").and_then(|item| moment_of(&item, "Value"));
    Ok(Translation { kind: event_kind(Some(KIND))?, live: None, occurred_at, effect })
}

/// The payment is the receipt: the same that the confirmation of a paybill names, which is sent for the same
/// payment where both are set up.
fn paid(callback: &Members<'_>, metadata: &Metadata<'_>) -> Result<Effect, Untranslatable> {
    let wrong = |what: &str| callback.wrong("CallbackMetadata", what);
    let receipt = metadata.item("MpesaReceiptNumber");
    let receipt = receipt.as_ref().and_then(|item| item.text_or_number("Value"));
    let receipt = receipt.ok_or_else(|| wrong("has no MpesaReceiptNumber"))?;
    let payment =
        PaymentId::parse(&receipt).map_err(|_| wrong("has an MpesaReceiptNumber that is not an id"))?;
    let amount = metadata.item("Amount");
    let amount = amount.as_ref().and_then(|item| item.get("Value")).ok_or_else(|| wrong("has no Amount"))?;
    let amount =
        amount::major(amount, CURRENCY, &[]).map_err(|what| wrong(&format!("has an Amount that {what}")))?;
    Ok(change(payment, None, vec![captured_once(amount)?]))
}

/// A list of names with values; it is missing where the payment failed.
struct Metadata<'a>(Vec<&'a RawValue>);

impl<'a> Metadata<'a> {
    fn of(callback: &Object<'a>) -> Self {
        let items = callback.object("CallbackMetadata").and_then(|metadata| metadata.array("Item"));
        Self(items.unwrap_or_default())
    }

    fn item(&self, name: &str) -> Option<Object<'a>> {
        let mut items = self.0.iter().filter_map(|item| Object::of(item));
        items.find(|item| item.text("Name").is_some_and(|text| text == name))
    }
}
