//! `/api/payments`

use actix_web::web::{Data, Json, Path};
use application::ports::payment_reader::{PaymentView, TimelineEntry, TimelineItem};
use domain::{Money, PaymentId, PaymentKey, SourceName};
use serde::Serialize;
use utoipa::ToSchema;

use super::super::services::OpsServices;
use super::document::Problems;
use super::error::ApiError;
use super::money::MoneyDoc;
use super::time::rfc3339;

/// How many entries of a timeline are told, the latest.
pub const TIMELINE_MAX: u32 = 500;

/// One line of a payment's history: what an event did, or why it did nothing.
#[derive(Debug, Serialize, ToSchema)]
pub struct TimelineDoc {
    /// The event.
    event_id: String,
    /// The provider's name of what happened; kept of events without effect only.
    kind: Option<String>,
    /// `fact` or `recorded`.
    what: &'static str,
    /// The fact that it established.
    #[schema(example = "captured:single")]
    fact: Option<String>,
    /// The amount that the fact names.
    amount: Option<MoneyDoc>,
    /// Why it had no effect.
    #[schema(example = "superseded")]
    reason: Option<String>,
    /// When that was stored.
    #[schema(format = DateTime)]
    at: String,
}

impl From<&TimelineEntry> for TimelineDoc {
    fn from(entry: &TimelineEntry) -> Self {
        let (what, fact, amount, reason) = match &entry.item {
            TimelineItem::Fact(fact) => {
                ("fact", Some(fact.key.to_string()), fact.amount.map(MoneyDoc::from), None)
            }
            TimelineItem::Recorded(reason) => ("recorded", None, None, Some(reason.clone())),
        };
        Self {
            event_id: entry.event_id.to_string(),
            kind: entry.kind.as_ref().map(ToString::to_string),
            what,
            fact,
            amount,
            reason,
            at: rfc3339(entry.at),
        }
    }
}

/// A payment or payout as its events have made it.
#[derive(Debug, Serialize, ToSchema)]
pub struct PaymentDoc {
    /// Where its events come in.
    source: String,
    /// The provider's id.
    id: String,
    /// What it is called, such as `succeeded` or `partly_refunded`.
    state: &'static str,
    /// Whether it is a payout.
    is_payout: bool,
    /// Whose books its money is in.
    account: String,
    /// The amount that it is about; null until an event names one.
    amount: Option<MoneyDoc>,
    /// What was captured.
    captured: Option<MoneyDoc>,
    /// What has gone back to the payer and stayed there.
    refunded: Option<MoneyDoc>,
    /// What banks have taken back and not returned.
    disputed: Option<MoneyDoc>,
    /// What the provider kept.
    charged: Option<MoneyDoc>,
    /// The event that changed it last.
    last_event: String,
    /// How many events have changed it.
    revision: i64,
    /// When its first event was applied.
    #[schema(format = DateTime)]
    created_at: String,
    /// When its last event was applied.
    #[schema(format = DateTime)]
    updated_at: String,
    /// What its events meant, the latest first; at most 500 entries.
    timeline: Vec<TimelineDoc>,
}

impl PaymentDoc {
    fn of(view: &PaymentView, timeline: &[TimelineEntry]) -> Self {
        let payment = &view.payment;
        let money =
            |minor_units| payment.currency.map(|currency| MoneyDoc::from(Money::new(minor_units, currency)));
        Self {
            source: payment.key.source.to_string(),
            id: payment.key.payment_id.to_string(),
            state: payment.state().as_str(),
            is_payout: payment.is_payout(),
            account: payment.account().to_string(),
            amount: payment.amount().map(MoneyDoc::from),
            captured: money(payment.totals.captured),
            refunded: money(payment.refunded()),
            disputed: money(payment.disputed()),
            charged: money(payment.totals.charged),
            last_event: payment.last_event.to_string(),
            revision: payment.revision,
            created_at: rfc3339(view.created_at),
            updated_at: rfc3339(view.updated_at),
            timeline: timeline.iter().map(TimelineDoc::from).collect(),
        }
    }
}

/// One payment or payout, and what every event meant for it
#[utoipa::path(get, path = "/api/payments/{source}/{id}", tag = "payments",
    params(("source" = String, Path, description = "Where its events come in"),
        ("id" = String, Path, description = "The provider's id")),
    responses((status = 200, body = PaymentDoc), Problems))]
pub async fn show(
    services: Data<OpsServices>,
    path: Path<(String, String)>,
) -> Result<Json<PaymentDoc>, ApiError> {
    let (source, id) = path.into_inner();
    let no_such = || ApiError::NoSuch(format!("payment {id:?} of the source {source:?}"));
    let payments = &services.store()?.payments;
    let (Ok(source_name), Ok(payment_id)) = (SourceName::parse(&source), PaymentId::parse(&id)) else {
        return Err(no_such());
    };
    let key = PaymentKey { source: source_name, payment_id };
    let view = payments.payment(&key).await?.ok_or_else(no_such)?;
    let timeline = payments.timeline(&key, TIMELINE_MAX).await?;
    Ok(Json(PaymentDoc::of(&view, &timeline)))
}
