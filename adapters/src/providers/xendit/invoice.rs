//! Invoices: a flat body, without an event around it.

use application::ports::provider::Untranslatable;
use domain::{Effect, EventKind, MerchantId, NoEffect, PaymentId};

use crate::providers::facts::{captured_once, change};
use crate::providers::json::Object;
use crate::providers::members::{Members, event_kind};
use crate::providers::moment;
use crate::providers::pack::Translation;

/// What an invoice is in that does not say it, as before there were several currencies.
const CURRENCY: &str = "IDR";

/// Whether a body without an event is an invoice. Virtual accounts and disbursements are flat too, and have
/// no merchant's name.
pub fn is_one(root: &Object<'_>) -> bool {
    ["id", "external_id", "merchant_name", "status"].iter().all(|name| root.text(name).is_some())
}

pub fn translate(root: &Members<'_>) -> Result<Translation, Untranslatable> {
    let object = root.object();
    let status = root.text("status")?;
    Ok(Translation {
        kind: kind(&status)?,
        live: None,
        occurred_at: ["paid_at", "updated"].iter().find_map(|name| moment::rfc3339(object.get(name)?)),
        effect: effect(root, &status)?,
    })
}

fn kind(status: &str) -> Result<EventKind, Untranslatable> {
    event_kind(Some(&format!("invoice.{}", status.to_ascii_lowercase())))
}

fn effect(root: &Members<'_>, status: &str) -> Result<Effect, Untranslatable> {
    let facts = match status {
        // It is settled after it was paid, and either may be sent.
        "PAID" | "SETTLED" => {
            let paid = root.object().get("paid_amount").is_some();
            let name = if paid { "paid_amount" } else { "amount" };
            vec![captured_once(money(root, name)?)?]
        }
        "EXPIRED" => vec![domain::Fact::Canceled],
        _ => return Ok(Effect::Nothing(NoEffect::Kind)),
    };
    let merchant = match root.object().get("user_id") {
        Some(_) => Some(root.id("user_id", MerchantId::parse)?),
        None => None,
    };
    Ok(change(root.id("id", PaymentId::parse)?, merchant, facts))
}

fn money(root: &Members<'_>, name: &str) -> Result<domain::Money, Untranslatable> {
    let value = root.object().get(name).ok_or_else(|| root.wrong(name, "is missing"))?;
    let currency = root.object().text("currency").unwrap_or(CURRENCY.into());
    crate::providers::amount::major(value, &currency, &[]).map_err(|what| root.wrong(name, &what))
}
