//! What Flutterwave's events mean.

use std::borrow::Cow;

use application::ports::provider::Untranslatable;
use domain::{Effect, Fact, FactId, Money, NoEffect, PaymentId, Progress};

use crate::providers::facts::{captured_once, change, charged_once, failed_refund};
use crate::providers::identity::first_id;
use crate::providers::joined_id::joined_text;
use crate::providers::json::Object;
use crate::providers::members::{Members, event_kind};
use crate::providers::moment;
use crate::providers::pack::Translation;

/// How the two versions name the charge that a refund is of.
const CHARGE_OF_REFUND: [&str; 3] = ["charge_id", "tx_id", "transaction_id"];

/// The provider's name of what happened: `event` in version 3, `type` in version 4.
pub fn name_of<'a>(root: &Object<'a>) -> Option<Cow<'a, str>> {
    ["event", "type", "event.type"].iter().find_map(|name| root.text(name))
}

pub fn translate(payload: &[u8]) -> Result<Translation, Untranslatable> {
    let root = Members::of_body(payload)?;
    let name = name_of(root.object());
    let data = root.object().object("data");
    let occurred_at = data.as_ref().and_then(|data| {
        let times = ["updated_datetime", "created_datetime", "created_at"];
        times.iter().find_map(|name| moment::rfc3339(data.get(name)?))
    });
    Ok(Translation {
        kind: event_kind(name.as_deref())?,
        live: None,
        occurred_at,
        effect: effect(&root, name.as_deref().unwrap_or_default())?,
    })
}

fn effect(root: &Members<'_>, name: &str) -> Result<Effect, Untranslatable> {
    let (payment, facts) = match name {
        "charge.completed" | "charge.failed" => charge(&root.child("data")?)?,
        "refund.completed" | "refund.failed" => refund(&root.child("data")?, name)?,
        "transfer.completed" | "transfer.failed" | "transfer.disburse" | "transfer.reversal" => {
            transfer(&root.child("data")?, name)?
        }
        _ => return Ok(Effect::Nothing(NoEffect::Kind)),
    };
    Ok(change(payment, None, facts))
}

/// How it ended, whatever the event is called.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    Succeeded,
    Failed,
    Pending,
}

fn status(data: &Members<'_>) -> Result<Status, Untranslatable> {
    let text = data.text("status")?.to_ascii_lowercase();
    match text.as_str() {
        "successful" | "succeeded" | "success" | "completed" => Ok(Status::Succeeded),
        "failed" | "cancelled" => Ok(Status::Failed),
        "pending" | "new" | "initiated" | "processing" => Ok(Status::Pending),
        _ => Err(data.wrong("status", "is not a status that is known")),
    }
}

/// The payment is Flutterwave's id of the charge. The merchant's `tx_ref` will not do: every transfer into a
/// permanent account number comes under one `tx_ref`.
fn charge(data: &Members<'_>) -> Result<(PaymentId, Vec<Fact>), Untranslatable> {
    let payment = data.id("id", PaymentId::parse)?;
    let facts = match status(data)? {
        Status::Failed => vec![Fact::Failed { attempt: data.id("id", FactId::parse)? }],
        Status::Pending => vec![Fact::Progressed { progress: Progress::Processing }],
        Status::Succeeded => {
            let amount = money(data, "amount")?;
            let mut facts = vec![captured_once(amount)?];
            if data.object().get("app_fee").is_some() && merchant_bears_the_fee(data, amount)? {
                facts.extend(charged_once(money(data, "app_fee")?)?);
            }
            facts
        }
    };
    Ok((payment, facts))
}

/// Where the payer bears it, more is charged than the amount, and the merchant is not charged.
fn merchant_bears_the_fee(data: &Members<'_>, amount: Money) -> Result<bool, Untranslatable> {
    match data.object().get("charged_amount") {
        Some(_) => Ok(money(data, "charged_amount")? == amount),
        None => Ok(true),
    }
}

fn refund(data: &Members<'_>, name: &str) -> Result<(PaymentId, Vec<Fact>), Untranslatable> {
    let payment = first_id(data, &CHARGE_OF_REFUND, PaymentId::parse)?;
    let refund = data.id("id", FactId::parse)?;
    let partial = data.object().get("amount_refunded").is_some();
    let amount = money(data, if partial { "amount_refunded" } else { "amount" })?;
    let facts = if name == "refund.failed" || status(data)? == Status::Failed {
        failed_refund(refund, amount)
    } else {
        vec![Fact::Refunded { refund, amount }]
    };
    Ok((payment, facts))
}

/// The ids of transfers are counted apart from those of charges, so that a number alone may be both.
fn transfer(data: &Members<'_>, name: &str) -> Result<(PaymentId, Vec<Fact>), Untranslatable> {
    let payout = data.id("id", |id| PaymentId::parse(&joined_text(&["transfer", id])))?;
    let amount = money(data, "amount")?;
    let status = match name {
        "transfer.failed" | "transfer.reversal" => Status::Failed,
        _ => status(data)?,
    };
    let fact = match status {
        Status::Succeeded => Fact::PayoutPaid { amount },
        Status::Failed => Fact::PayoutFailed { amount },
        Status::Pending => Fact::PayoutStarted { amount },
    };
    Ok((payout, vec![fact]))
}

fn money(data: &Members<'_>, name: &str) -> Result<Money, Untranslatable> {
    data.major(name, "currency", &[])
}
