//! `/api/events`

use actix_web::web::{Data, Json, Path};
use application::ports::event_reader::{
    Delivery, DeliveryState, EventFilter, EventMessage, EventOutcome, EventPath, EventSummary,
    PAGE_EVENTS_MAX,
};
use domain::{EventId, EventKey, LedgerEntry, PaymentId, SourceName};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::super::services::OpsServices;
use super::document::Problems;
use super::error::ApiError;
use super::input::{Checks, Query};
use super::letter::{EventRef, LetterDoc};
use super::money::MoneyDoc;
use super::paging::{cursor, limit};
use super::time::{self, rfc3339};

/// Which events are found. Waiting ones are in the queue, and not among them.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct FindQuery {
    /// Where the event came in.
    #[param(pattern = "^[a-z0-9_-]{1,64}$")]
    source: Option<String>,
    /// Its id there.
    #[param(min_length = 1, max_length = 255)]
    event_id: Option<String>,
    /// Which payment or payout it is about.
    #[param(min_length = 1, max_length = 255)]
    payment: Option<String>,
    /// Settled, or given up, at this moment or later.
    #[param(format = DateTime)]
    from: Option<String>,
    /// Settled, or given up, before this moment.
    #[param(format = DateTime)]
    until: Option<String>,
    /// The `next` of the answer before.
    #[param(pattern = "^-?[0-9]{1,18}[.][a-z0-9_-]{1,64}[.].{1,255}$")]
    cursor: Option<String>,
    /// How many at most; 50 where it is not said.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 500)]
    limit: Option<String>,
}

/// An event, and what has become of it.
#[derive(Debug, Serialize, ToSchema)]
pub struct EventDoc {
    /// Which one.
    event: EventRef,
    /// `applied`, `recorded` (settled without effect) or `given_up` (a dead letter, and not settled).
    outcome: &'static str,
    /// Why it had no effect, or was given up.
    reason: Option<String>,
    /// The provider's name of what happened; not kept of applied events.
    kind: Option<String>,
    /// The dead letter that it became last, where it was given up.
    letter: Option<i64>,
    /// What has become of that letter.
    letter_state: Option<&'static str>,
    /// How many of its dead letters are open.
    open_letters: u64,
    /// The payment or payout that it is about, where that is known.
    payment: Option<String>,
    /// When its request arrived, where that is known.
    #[schema(format = DateTime)]
    received_at: Option<String>,
    /// When it was settled, or given up last.
    #[schema(format = DateTime)]
    at: String,
}

impl From<&EventSummary> for EventDoc {
    fn from(event: &EventSummary) -> Self {
        let mut doc = Self {
            event: EventRef::from(&event.key),
            outcome: "applied",
            reason: None,
            kind: None,
            letter: None,
            letter_state: None,
            open_letters: event.open_letters,
            payment: event.payment.as_ref().map(ToString::to_string),
            received_at: event.received_at.map(rfc3339),
            at: rfc3339(event.at),
        };
        match &event.outcome {
            EventOutcome::Applied => {}
            EventOutcome::Recorded { kind, reason } => {
                doc.outcome = "recorded";
                doc.kind = Some(kind.to_string());
                doc.reason = Some(reason.clone());
            }
            EventOutcome::GivenUp { letter, state, reason, kind } => {
                doc.outcome = "given_up";
                doc.kind = kind.as_ref().map(ToString::to_string);
                doc.reason = Some(reason.as_str().to_owned());
                doc.letter = Some(letter.0);
                doc.letter_state = Some(state.as_str());
            }
        }
        doc
    }
}

/// A page of events, the newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct EventPageDoc {
    /// The events.
    events: Vec<EventDoc>,
    /// Where the list goes on; null at its end.
    next: Option<String>,
}

/// The events of a filter that were settled or given up, the newest first
#[utoipa::path(get, path = "/api/events", tag = "events", params(FindQuery),
    responses((status = 200, body = EventPageDoc), Problems))]
pub async fn find(
    services: Data<OpsServices>,
    query: Query<FindQuery>,
) -> Result<Json<EventPageDoc>, ApiError> {
    let query = query.0;
    let mut checks = Checks::of_query();
    let filter = EventFilter {
        source: checks.parse("source", query.source.as_ref(), SourceName::parse),
        event_id: checks.parse("event_id", query.event_id.as_ref(), EventId::parse),
        payment: checks.parse("payment", query.payment.as_ref(), PaymentId::parse),
        from: checks.parse("from", query.from.as_ref(), time::parse),
        until: checks.parse("until", query.until.as_ref(), time::parse),
    };
    let after = cursor(&mut checks, query.cursor.as_ref());
    let limit = limit(&mut checks, query.limit.as_ref(), PAGE_EVENTS_MAX);
    let store = services.store()?;
    checks.finish()?;
    let page = store.events.find(&filter, after, limit).await?;
    Ok(Json(EventPageDoc {
        events: page.events.iter().map(EventDoc::from).collect(),
        next: page.next.map(|next| next.to_string()),
    }))
}

/// A fact that an event established.
#[derive(Debug, Serialize, ToSchema)]
pub struct FactDoc {
    /// Which fact of the payment.
    #[schema(example = "captured:single")]
    fact: String,
    /// The amount that it names.
    amount: Option<MoneyDoc>,
}

/// A line of the ledger.
#[derive(Debug, Serialize, ToSchema)]
pub struct EntryDoc {
    /// Whose books.
    account: String,
    /// Which account of theirs.
    ledger: &'static str,
    /// How much: a debit when positive, a credit when negative.
    amount: MoneyDoc,
}

impl From<&LedgerEntry> for EntryDoc {
    fn from(entry: &LedgerEntry) -> Self {
        Self {
            account: entry.account.to_string(),
            ledger: entry.ledger.as_str(),
            amount: entry.amount.into(),
        }
    }
}

/// How a message stands with a destination.
#[derive(Debug, Serialize, ToSchema)]
pub struct DeliveryDoc {
    /// The destination.
    destination: String,
    /// `queued`, `waiting`, `failed`, or `done` (delivered, or not wanted there).
    state: &'static str,
    /// How many attempts have failed.
    failed_attempts: u32,
    /// When it is tried again.
    #[schema(format = DateTime)]
    next_at: Option<String>,
    /// Why the last attempt failed.
    error: Option<String>,
}

impl From<&Delivery> for DeliveryDoc {
    fn from(delivery: &Delivery) -> Self {
        let (state, failed_attempts, next_at, error) = match &delivery.state {
            DeliveryState::Queued => ("queued", 0, None, None),
            DeliveryState::Waiting { attempts, next_at, error } => {
                ("waiting", *attempts, next_at.map(rfc3339), error.clone())
            }
            DeliveryState::Failed { attempts, error } => ("failed", *attempts, None, error.clone()),
            DeliveryState::Done => ("done", 0, None, None),
        };
        Self { destination: delivery.destination.clone(), state, failed_attempts, next_at, error }
    }
}

/// A message that an event caused.
#[derive(Debug, Serialize, ToSchema)]
pub struct MessageDoc {
    /// Its id.
    id: String,
    /// What happened.
    #[schema(example = "payment.succeeded")]
    kind: String,
    /// When it was stored.
    #[schema(format = DateTime)]
    at: String,
    /// How it stands with each destination.
    deliveries: Vec<DeliveryDoc>,
}

impl From<&EventMessage> for MessageDoc {
    fn from(message: &EventMessage) -> Self {
        Self {
            id: message.id.clone(),
            kind: message.kind.clone(),
            at: rfc3339(message.created_at),
            deliveries: message.deliveries.iter().map(DeliveryDoc::from).collect(),
        }
    }
}

/// What one event has done.
#[derive(Debug, Serialize, ToSchema)]
pub struct EventPathDoc {
    /// The event, and what has become of it.
    event: EventDoc,
    /// The facts that it established.
    facts: Vec<FactDoc>,
    /// Its ledger entries; they sum to zero.
    entries: Vec<EntryDoc>,
    /// Its messages that the outbox still has.
    messages: Vec<MessageDoc>,
    /// Its dead letters, the newest first; at most 100.
    letters: Vec<LetterDoc>,
    /// How many bytes of it are kept; only of one without effect.
    payload_bytes: Option<u64>,
}

impl From<&EventPath> for EventPathDoc {
    fn from(path: &EventPath) -> Self {
        let fact = |fact: &domain::EstablishedFact| FactDoc {
            fact: fact.key.to_string(),
            amount: fact.amount.map(MoneyDoc::from),
        };
        Self {
            event: EventDoc::from(&path.event),
            facts: path.facts.iter().map(fact).collect(),
            entries: path.entries.iter().map(EntryDoc::from).collect(),
            messages: path.messages.iter().map(MessageDoc::from).collect(),
            letters: path.letters.iter().map(LetterDoc::from).collect(),
            payload_bytes: path.payload_bytes,
        }
    }
}

/// One event, and the path that it took
#[utoipa::path(get, path = "/api/events/{source}/{id}", tag = "events",
    params(("source" = String, Path, description = "Where it came in"),
        ("id" = String, Path, description = "Its id there")),
    responses((status = 200, body = EventPathDoc), Problems))]
pub async fn show(
    services: Data<OpsServices>,
    path: Path<(String, String)>,
) -> Result<Json<EventPathDoc>, ApiError> {
    let (source, id) = path.into_inner();
    let no_such =
        || ApiError::NoSuch(format!("event {id:?} of the source {source:?} that was settled or given up"));
    let events = &services.store()?.events;
    let (Ok(source_name), Ok(event_id)) = (SourceName::parse(&source), EventId::parse(&id)) else {
        return Err(no_such());
    };
    let path = events.path(&EventKey { source: source_name, event_id }).await?;
    Ok(Json(EventPathDoc::from(&path.ok_or_else(no_such)?)))
}
