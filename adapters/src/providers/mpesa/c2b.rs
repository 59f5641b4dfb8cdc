//! The confirmation of a payment to a paybill or till number.

use application::ports::provider::Untranslatable;
use domain::PaymentId;

use super::translate::{CURRENCY, moment_of};
use crate::providers::amount;
use crate::providers::facts::{captured_once, change};
use crate::providers::members::{Members, event_kind};
use crate::providers::pack::Translation;

const KIND: &str = "c2b_confirmation";

pub fn translate(root: &Members<'_>) -> Result<Translation, Untranslatable> {
    const AMOUNT: &str = "TransAmount";
    let value = root.object().get(AMOUNT).ok_or_else(|| root.wrong(AMOUNT, "is missing"))?;
    let amount = amount::major(value, CURRENCY, &[]).map_err(|what| root.wrong(AMOUNT, &what))?;
    let payment = root.id("TransID", PaymentId::parse)?;
    Ok(Translation {
        kind: event_kind(Some(KIND))?,
        live: None,
        occurred_at: moment_of(root.object(), "TransTime"),
        effect: change(payment, None, vec![captured_once(amount)?]),
    })
}
