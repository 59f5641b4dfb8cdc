//! A dead letter, as the API tells it.

use application::dead_letter::{DeadLetter, DeadLetterSummary, GroupTotals, StateTotals};
use domain::EventKey;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::super::masking::Masking;
use super::money::{MoneyDoc, totals};
use super::payload::{FieldDoc, PayloadDoc};
use super::time::rfc3339;

/// An event, by its key.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EventRef {
    /// Where it came in.
    pub source: String,
    /// Its id there.
    pub event_id: String,
}

impl From<&EventKey> for EventRef {
    fn from(key: &EventKey) -> Self {
        Self { source: key.source.to_string(), event_id: key.event_id.to_string() }
    }
}

/// A dead letter, without what it carries.
#[derive(Debug, Serialize, ToSchema)]
pub struct LetterDoc {
    /// Its number.
    pub id: i64,
    /// Who was to process it.
    pub consumer: String,
    /// Which event it is; null for a message that could not be read.
    pub event: Option<EventRef>,
    /// The provider's name of what happened.
    pub kind: Option<String>,
    /// The payment or payout.
    pub payment: Option<String>,
    /// Whose money it is, where the event says so.
    pub account: Option<String>,
    /// The first amount that it names.
    pub amount: Option<MoneyDoc>,
    /// Why it is a dead letter.
    #[schema(example = "refused")]
    pub reason: &'static str,
    /// Why, in full.
    pub detail: String,
    /// Which letters failed alike.
    pub group: String,
    /// `open`, `replaying`, `replayed` or `discarded`.
    #[schema(example = "open")]
    pub state: &'static str,
    /// How many attempts have failed.
    pub failed_attempts: u32,
    /// How often its event had been replayed before.
    pub replays: u32,
    /// For the edited copy of a letter: that letter.
    pub copy_of: Option<i64>,
    /// When the request arrived, where that is known.
    #[schema(format = DateTime)]
    pub received_at: Option<String>,
    /// When it was given up.
    #[schema(format = DateTime)]
    pub dead_lettered_at: String,
    /// When it was replayed or discarded.
    #[schema(format = DateTime)]
    pub settled_at: Option<String>,
    /// Why it was discarded.
    pub discard_reason: Option<String>,
    /// How many bytes the payload has.
    pub payload_bytes: u64,
    /// The worker that gave up on it.
    pub worker: Option<String>,
    /// That worker's release.
    pub release: Option<String>,
}

impl From<&DeadLetterSummary> for LetterDoc {
    fn from(letter: &DeadLetterSummary) -> Self {
        let (subject, cause) = (&letter.subject, &letter.cause);
        Self {
            id: letter.id.0,
            consumer: letter.consumer.to_string(),
            event: letter.key.as_ref().map(EventRef::from),
            kind: subject.kind.as_ref().map(ToString::to_string),
            payment: subject.payment.as_ref().map(ToString::to_string),
            account: subject.account.as_ref().map(ToString::to_string),
            amount: subject.amount.map(MoneyDoc::from),
            reason: cause.reason.as_str(),
            detail: cause.detail.clone(),
            group: letter.group.to_string(),
            state: letter.state.as_str(),
            failed_attempts: cause.failed_attempts,
            replays: letter.replays,
            copy_of: letter.linked_to.map(|id| id.0),
            received_at: letter.received_at.map(rfc3339),
            dead_lettered_at: rfc3339(cause.dead_lettered_at),
            settled_at: letter.settled_at.map(rfc3339),
            discard_reason: letter.discard_reason.clone(),
            payload_bytes: letter.payload_bytes,
            worker: cause.worker.clone(),
            release: cause.release.clone(),
        }
    }
}

/// Something that happened to a letter.
#[derive(Debug, Serialize, ToSchema)]
pub struct StepDoc {
    /// When.
    #[schema(format = DateTime)]
    pub at: String,
    /// `received`, `attempt_failed`, `dead_lettered`, `replayed` or `discarded`.
    pub what: &'static str,
    /// For a failed attempt: its class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Why, with every cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// A dead letter, whole.
#[derive(Debug, Serialize, ToSchema)]
pub struct WholeLetterDoc {
    /// All but what it carries.
    pub letter: LetterDoc,
    /// What happened to it, the oldest first. The newest failures are kept.
    pub timeline: Vec<StepDoc>,
    /// The request's `Content-Type`.
    pub content_type: Option<String>,
    /// The headers that its translation needs.
    pub headers: Vec<FieldDoc>,
    /// The trace that the request belongs to.
    pub traceparent: Option<String>,
    /// What it carries.
    pub payload: PayloadDoc,
    /// Its edited copies, the newest first.
    pub copies: Vec<LetterDoc>,
}

impl WholeLetterDoc {
    /// `letter` with its `copies`.
    pub fn of(masking: &Masking, letter: &DeadLetter, copies: &[DeadLetterSummary]) -> Self {
        let content = &letter.content;
        let headers = content.headers.iter().map(|(name, value)| FieldDoc {
            name: name.clone(),
            value: masking.header(name, value).to_owned(),
        });
        Self {
            letter: LetterDoc::from(&letter.summary),
            timeline: timeline(letter),
            content_type: content.content_type.clone(),
            headers: headers.collect(),
            traceparent: content.trace.traceparent.clone(),
            payload: PayloadDoc::of(masking, &content.payload, content.content_type.as_deref()),
            copies: copies.iter().map(LetterDoc::from).collect(),
        }
    }
}

fn timeline(letter: &DeadLetter) -> Vec<StepDoc> {
    let DeadLetter { summary, history, .. } = letter;
    let step = |at, what| StepDoc { at: rfc3339(at), what, class: None, detail: None };
    let mut steps = Vec::new();
    steps.extend(summary.received_at.map(|at| step(at, "received")));
    steps.extend(history.iter().map(|failure| StepDoc {
        class: Some(failure.class.clone()),
        detail: Some(failure.error.clone()),
        ..step(failure.at, "attempt_failed")
    }));
    steps.push(StepDoc {
        detail: Some(summary.cause.detail.clone()),
        ..step(summary.cause.dead_lettered_at, "dead_lettered")
    });
    steps.extend(
        summary
            .settled_at
            .map(|at| StepDoc { detail: summary.discard_reason.clone(), ..step(at, summary.state.as_str()) }),
    );
    steps
}

/// The letters of one state.
#[derive(Debug, Serialize, ToSchema)]
pub struct StateDoc {
    /// `open`, `replaying`, `replayed` or `discarded`.
    pub state: &'static str,
    /// How many letters.
    pub letters: u64,
    /// Their money, by currency; letters without an amount are not in it.
    pub money: Vec<MoneyDoc>,
}

/// The letters by state.
pub fn states(states: &[StateTotals]) -> Vec<StateDoc> {
    let doc = |totals: &StateTotals| StateDoc {
        state: totals.state.as_str(),
        letters: totals.letters,
        money: self::totals(&totals.money),
    };
    states.iter().map(doc).collect()
}

/// Letters that failed alike.
#[derive(Debug, Serialize, ToSchema)]
pub struct GroupDoc {
    /// The group; a filter takes it.
    pub group: String,
    /// Where their events came in.
    pub source: Option<String>,
    /// Why they are dead letters.
    pub reason: &'static str,
    /// What their messages have in common.
    pub message: String,
    /// One of them.
    pub newest: i64,
    /// How many letters.
    pub letters: u64,
    /// When the first of them was given up.
    #[schema(format = DateTime)]
    pub first_seen: String,
    /// When the last of them was given up.
    #[schema(format = DateTime)]
    pub last_seen: String,
    /// The same by state, with the money.
    pub by_state: Vec<StateDoc>,
}

impl From<&GroupTotals> for GroupDoc {
    fn from(group: &GroupTotals) -> Self {
        Self {
            group: group.group.to_string(),
            source: group.source.as_ref().map(ToString::to_string),
            reason: group.reason.as_str(),
            message: group.message.clone(),
            newest: group.newest.0,
            letters: group.letters,
            first_seen: rfc3339(group.first_seen),
            last_seen: rfc3339(group.last_seen),
            by_state: states(&group.by_state),
        }
    }
}
