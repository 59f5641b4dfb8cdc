//! What Braintree's notifications mean. The transaction is the payment.

use application::ports::provider::Untranslatable;
use domain::{Effect, Fact, FactId, IdError, Money, NoEffect, PaymentId};

use super::notification::Notification;
use super::xml::Element;
use crate::providers::amount::major_text;
use crate::providers::facts::{captured_once, change, failed_refund};
use crate::providers::members::event_kind;
use crate::providers::pack::Translation;

/// What a notification says of one payment.
type Told = Option<(PaymentId, Vec<Fact>)>;

/// The event that a notification is.
pub fn translate(notification: &Notification) -> Result<Translation, Untranslatable> {
    let effect = match told(notification)? {
        Some((payment, facts)) => change(payment, notification.merchant(), facts),
        None => Effect::Nothing(NoEffect::Kind),
    };
    let (kind, occurred_at) = (event_kind(Some(notification.kind()))?, notification.occurred_at());
    Ok(Translation { kind, live: None, occurred_at, effect })
}

fn told(notification: &Notification) -> Result<Told, Untranslatable> {
    let object = || notification.object().map(Part::of).ok_or_else(|| wrong("/subject", "is empty"));
    match notification.kind() {
        // A transaction that was disbursed has been settled; of cards, only this is told.
        "transaction_settled" | "transaction_disbursed" => settled(&object()?),
        "transaction_settlement_declined" => declined(&object()?),
        "refund_failed" => object()?.failed_refund(),
        "subscription_charged_successfully" => match latest_transaction(&object()?) {
            Some(transaction) => settled(&transaction),
            None => Ok(None),
        },
        "subscription_charged_unsuccessfully" => match latest_transaction(&object()?) {
            Some(transaction) => transaction.failed(),
            None => Ok(None),
        },
        "dispute_opened" => dispute(&object()?, |dispute, amount| Fact::DisputeOpened { dispute, amount }),
        "dispute_won" => won(&object()?),
        "dispute_lost" | "dispute_accepted" | "dispute_auto_accepted" | "dispute_expired" => {
            dispute(&object()?, |dispute, amount| Fact::DisputeLost { dispute, amount })
        }
        _ => Ok(None),
    }
}

fn settled(transaction: &Part<'_>) -> Result<Told, Untranslatable> {
    let amount = transaction.money("amount")?;
    if !transaction.is_credit() {
        return Ok(Some((transaction.id("id", PaymentId::parse)?, vec![captured_once(amount)?])));
    }
    // A credit that refunds no sale is money given away, not a payment.
    let Some(payment) = transaction.refunded()? else { return Ok(None) };
    Ok(Some((payment, vec![Fact::Refunded { refund: transaction.id("id", FactId::parse)?, amount }])))
}

fn declined(transaction: &Part<'_>) -> Result<Told, Untranslatable> {
    if transaction.is_credit() { transaction.failed_refund() } else { transaction.failed() }
}

/// Braintree lists the transactions of a subscription with the latest first.
fn latest_transaction<'a>(subscription: &Part<'a>) -> Option<Part<'a>> {
    let element = subscription.element.find(&["transactions", "transaction"])?;
    Some(Part { element, pointer: "/subscription/transactions/0".to_owned() })
}

fn dispute(part: &Part<'_>, fact: fn(FactId, Money) -> Fact) -> Result<Told, Untranslatable> {
    // A retrieval only asks for papers.
    if part.element.text(&["kind"]) == Some("retrieval") {
        return Ok(None);
    }
    let fact = fact(part.id("id", FactId::parse)?, part.disputed()?);
    Ok(Some((part.disputed_payment()?, vec![fact])))
}

/// Less may come back than was disputed; the rest is lost.
fn won(part: &Part<'_>) -> Result<Told, Untranslatable> {
    let Some((payment, _)) = dispute(part, |dispute, amount| Fact::DisputeWon { dispute, amount })? else {
        return Ok(None);
    };
    let (id, disputed) = (part.id("id", FactId::parse)?, part.disputed()?);
    let amount = if part.has("amount-won") { part.money("amount-won")? } else { disputed };
    let mut facts = vec![Fact::DisputeWon { dispute: id.clone(), amount }];
    let rest = disputed.checked_sub(amount).map_err(|_| part.wrong("amount-won", "is out of range"))?;
    if rest.minor_units() > 0 {
        facts.push(Fact::DisputeLost { dispute: id, amount: rest });
    }
    Ok(Some((payment, facts)))
}

/// An object of a notification, and where it stands in the subject.
struct Part<'a> {
    element: &'a Element,
    pointer: String,
}

impl<'a> Part<'a> {
    fn of(element: &'a Element) -> Self {
        Self { element, pointer: format!("/{}", element.name()) }
    }

    fn has(&self, name: &str) -> bool {
        self.element.text(&[name]).is_some()
    }

    fn text(&self, name: &str) -> Result<&'a str, Untranslatable> {
        self.element.text(&[name]).ok_or_else(|| self.wrong(name, "is missing"))
    }

    fn id<T>(&self, name: &str, parse: fn(&str) -> Result<T, IdError>) -> Result<T, Untranslatable> {
        parse(self.text(name)?).map_err(|_| self.wrong(name, "is not a usable id"))
    }

    fn money(&self, name: &str) -> Result<Money, Untranslatable> {
        let currency = self.text("currency-iso-code")?;
        major_text(self.text(name)?, currency, &[]).map_err(|what| self.wrong(name, &what))
    }

    fn is_credit(&self) -> bool {
        self.element.text(&["type"]) == Some("credit")
    }

    /// The sale that a credit refunds; `None` where it refunds none.
    fn refunded(&self) -> Result<Option<PaymentId>, Untranslatable> {
        let name = "refunded-transaction-id";
        if self.has(name) { self.id(name, PaymentId::parse).map(Some) } else { Ok(None) }
    }

    fn failed(&self) -> Result<Told, Untranslatable> {
        let attempt = self.id("id", FactId::parse)?;
        Ok(Some((self.id("id", PaymentId::parse)?, vec![Fact::Failed { attempt }])))
    }

    fn failed_refund(&self) -> Result<Told, Untranslatable> {
        let Some(payment) = self.refunded()? else { return Ok(None) };
        Ok(Some((payment, failed_refund(self.id("id", FactId::parse)?, self.money("amount")?))))
    }

    fn disputed(&self) -> Result<Money, Untranslatable> {
        self.money(if self.has("amount-disputed") { "amount-disputed" } else { "amount" })
    }

    fn disputed_payment(&self) -> Result<PaymentId, Untranslatable> {
        let id = self.element.text(&["transaction", "id"]);
        let id = id.ok_or_else(|| self.wrong("transaction/id", "is missing"))?;
        PaymentId::parse(id).map_err(|_| self.wrong("transaction/id", "is not a usable id"))
    }

    fn wrong(&self, name: &str, what: &str) -> Untranslatable {
        wrong(&format!("/subject{}/{name}", self.pointer), what)
    }
}

fn wrong(pointer: &str, what: &str) -> Untranslatable {
    Untranslatable(format!("/notification{pointer} {what}"))
}
