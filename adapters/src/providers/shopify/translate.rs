//! What a Shopify event means: its topic says what happened, the body how the order, the transaction or the
//! refund stood then.
//!
//! The signature covers the body alone, and the topic is a header. So the body has to agree with the topic
//! before anything counts: a captured request that is sent again under another topic moves nothing.

use application::Envelope;
use application::ports::provider::Untranslatable;
use domain::{Effect, Fact, FactId, MerchantId, Money, NoEffect, PaymentId, Progress, Timestamp};

use super::headers::{SHOP_DOMAIN, TOPIC, is_named};
use crate::providers::facts::{captured_once, change};
use crate::providers::joined_id::joined_text;
use crate::providers::json::Object;
use crate::providers::members::{Members, event_kind};
use crate::providers::moment;
use crate::providers::pack::Translation;

/// When a body's object changed last, by preference.
const MOMENTS: [&str; 3] = ["updated_at", "processed_at", "created_at"];

/// An order and what became true of it; `None` where nothing did that we act on.
type Meaning = Option<(String, Fact)>;

/// The event of the envelope.
///
/// # Errors
/// The body says of money what cannot be read, or the shop is not told.
pub fn translate(envelope: &Envelope) -> Result<Translation, Untranslatable> {
    let topic = header(envelope, TOPIC);
    let meaning = match topic {
        Some("orders/paid") => paid(&Members::of_body(&envelope.payload)?)?,
        Some("orders/cancelled") => cancelled(&Members::of_body(&envelope.payload)?)?,
        Some("order_transactions/create") => transacted(&Members::of_body(&envelope.payload)?)?,
        Some("refunds/create") => refunded(&Members::of_body(&envelope.payload)?)?,
        _ => None,
    };
    let body = Object::parse(&envelope.payload);
    Ok(Translation {
        kind: event_kind(topic)?,
        live: body.as_ref().and_then(is_live),
        occurred_at: body.as_ref().and_then(changed_at),
        effect: match meaning {
            Some((order, fact)) => of_shop(envelope, &order, fact)?,
            None => Effect::Nothing(NoEffect::Kind),
        },
    })
}

/// An order is paid in full. Its total counts, in the shop's currency, whatever the payer paid in.
fn paid(order: &Members<'_>) -> Result<Meaning, Untranslatable> {
    match &*order.text("financial_status")? {
        "paid" | "partially_refunded" | "refunded" => {
            Ok(Some((order.text("id")?.into_owned(), captured_once(total(order)?)?)))
        }
        _ => Ok(None),
    }
}

fn total(order: &Members<'_>) -> Result<Money, Untranslatable> {
    let in_shop_money =
        order.optional_child("total_price_set").and_then(|set| set.optional_child("shop_money"));
    match in_shop_money {
        Some(money) => money.major("amount", "currency_code", &[]),
        None => order.major("total_price", "currency", &[]),
    }
}

/// An order is cancelled. One that was paid before stays paid until its refund is told.
fn cancelled(order: &Members<'_>) -> Result<Meaning, Untranslatable> {
    let unpaid = matches!(&*order.text("financial_status")?, "pending" | "authorized" | "expired" | "voided");
    if !unpaid || order.object().get("cancelled_at").is_none() {
        return Ok(None);
    }
    Ok(Some((order.text("id")?.into_owned(), Fact::Canceled)))
}

/// A transaction of an order: what was reserved, is under way or failed. What was taken is told of the order as
/// a whole (`orders/paid`), and what went back of its refund (`refunds/create`).
fn transacted(transaction: &Members<'_>) -> Result<Meaning, Untranslatable> {
    let (kind, status) = (transaction.text("kind")?, transaction.text("status")?);
    let fact = match (&*kind, &*status) {
        ("authorization", "success") => {
            Fact::Authorised { amount: transaction.major("amount", "currency", &[])? }
        }
        ("authorization" | "sale", "pending") => Fact::Progressed { progress: Progress::Processing },
        ("authorization" | "sale", "failure" | "error") => {
            Fact::Failed { attempt: transaction.id("id", FactId::parse)? }
        }
        _ => return Ok(None),
    };
    Ok(Some((transaction.text("order_id")?.into_owned(), fact)))
}

/// A refund: the sum of its transactions that went back. One that only puts goods back into stock has none.
fn refunded(refund: &Members<'_>) -> Result<Meaning, Untranslatable> {
    let transactions = refund.object().array("transactions");
    let transactions = transactions.ok_or_else(|| refund.wrong("transactions", "is not an array"))?;
    let mut sum: Option<Money> = None;
    for (place, value) in transactions.into_iter().enumerate() {
        let transaction = Members::of_value(value, format!("/transactions/{place}"))
            .ok_or_else(|| refund.wrong(&format!("transactions/{place}"), "is not an object"))?;
        if transaction.text("kind")? != "refund" || transaction.text("status")? != "success" {
            continue;
        }
        let amount = transaction.major("amount", "currency", &[])?;
        let added = sum.map_or(Ok(amount), |sum| sum.checked_add(amount));
        sum = Some(added.map_err(|error| transaction.wrong("amount", &error.to_string()))?);
    }
    let Some(amount) = sum else { return Ok(None) };
    let refund_id = refund.id("id", FactId::parse)?;
    Ok(Some((refund.text("order_id")?.into_owned(), Fact::Refunded { refund: refund_id, amount })))
}

/// The fact of that order. An app is installed in many shops, so the shop is part of the payment's id.
fn of_shop(envelope: &Envelope, order: &str, fact: Fact) -> Result<Effect, Untranslatable> {
    let shop = header(envelope, SHOP_DOMAIN)
        .ok_or_else(|| Untranslatable(format!("the header {} is missing", SHOP_DOMAIN[0])))?;
    let unusable = |what: &str, error: domain::IdError| Untranslatable(format!("{what} {error}"));
    let payment = PaymentId::parse(&joined_text(&[shop, order]));
    let merchant = MerchantId::parse(shop);
    Ok(change(
        payment.map_err(|error| unusable("the id of shop and order", error))?,
        Some(merchant.map_err(|error| unusable("the shop's domain", error))?),
        vec![fact],
    ))
}

/// Orders and transactions say whether they are a test; a refund's transactions do.
fn is_live(body: &Object<'_>) -> Option<bool> {
    let told = body.boolean("test").or_else(|| {
        let transactions = body.array("transactions")?;
        transactions.into_iter().find_map(|transaction| Object::of(transaction)?.boolean("test"))
    });
    told.map(|test| !test)
}

fn changed_at(body: &Object<'_>) -> Option<Timestamp> {
    MOMENTS.iter().find_map(|name| body.get(name).and_then(moment::rfc3339))
}

fn header<'e>(envelope: &'e Envelope, names: [&str; 2]) -> Option<&'e str> {
    let header = envelope.headers.iter().find(|(name, _)| is_named(names, name));
    header.map(|(_, value)| value.as_str())
}
