//! Dead letters and replay jobs as JSON.

use application::dead_letter::{DeadLetter, DeadLetterSummary, GroupTotals, MoneyTotal, StateTotals};
use application::ports::dead_letters::LetterPage;
use application::replay::ReplayJob;
use serde_json::{Value, json};

use super::text::moment;

/// A page of letters.
pub(super) fn page(page: &LetterPage) -> Value {
    json!({
        "dead_letters": page.letters.iter().map(summary).collect::<Vec<_>>(),
        "next": page.next.map(|next| next.to_string()),
    })
}

/// A letter without what it carries.
fn summary(letter: &DeadLetterSummary) -> Value {
    let (subject, cause) = (&letter.subject, &letter.cause);
    json!({
        "id": letter.id.0,
        "state": letter.state.as_str(),
        "source": letter.key.as_ref().map(|key| key.source.as_str()),
        "event_id": letter.key.as_ref().map(|key| key.event_id.as_str()),
        "kind": subject.kind.as_ref().map(ToString::to_string),
        "payment": subject.payment.as_ref().map(ToString::to_string),
        "account": subject.account.as_ref().map(ToString::to_string),
        "amount_minor": subject.amount.map(domain::Money::minor_units),
        "currency": subject.amount.map(|amount| amount.currency().to_string()),
        "reason": cause.reason.as_str(),
        "detail": cause.detail,
        "failed_attempts": cause.failed_attempts,
        "received_at": letter.received_at.map(moment),
        "dead_lettered_at": moment(cause.dead_lettered_at),
        "worker": cause.worker,
        "release": cause.release,
        "group": letter.group.to_string(),
        "replays": letter.replays,
        "linked_to": letter.linked_to.map(|id| id.0),
        "settled_at": letter.settled_at.map(moment),
        "discard_reason": letter.discard_reason,
        "payload_bytes": letter.payload_bytes,
    })
}

/// A letter, whole but for its payload, which need not be text.
pub(super) fn letter(letter: &DeadLetter) -> Value {
    let attempts = letter
        .history
        .iter()
        .map(|failure| json!({"at": moment(failure.at), "class": failure.class, "error": failure.error}));
    let mut whole = summary(&letter.summary);
    whole["attempts"] = attempts.collect();
    whole["headers"] = json!(letter.content.headers);
    whole["content_type"] = json!(letter.content.content_type);
    whole["traceparent"] = json!(letter.content.trace.traceparent);
    whole
}

/// A group of letters.
pub(super) fn group(group: &GroupTotals) -> Value {
    json!({
        "group": group.group.to_string(),
        "source": group.source.as_ref().map(domain::SourceName::as_str),
        "reason": group.reason.as_str(),
        "message": group.message,
        "newest": group.newest.0,
        "letters": group.letters,
        "first_seen": moment(group.first_seen),
        "last_seen": moment(group.last_seen),
        "by_state": states(&group.by_state),
    })
}

/// How many letters, and how much money, by state. Sums may not fit the numbers of JSON, so they are texts.
pub(super) fn states(totals: &[StateTotals]) -> Vec<Value> {
    let state = |total: &StateTotals| {
        json!({
            "state": total.state.as_str(),
            "letters": total.letters,
            "money": total.money.iter().map(money).collect::<Vec<_>>(),
        })
    };
    totals.iter().map(state).collect()
}

fn money(total: &MoneyTotal) -> Value {
    json!({"currency": total.currency.to_string(), "minor_units": total.minor_units.to_string()})
}

/// A replay job.
pub(super) fn job(job: &ReplayJob) -> Value {
    json!({
        "job": job.id.0,
        "state": job.state.as_str(),
        "selection": job.selection,
        "actor": job.order.actor.as_str(),
        "why": job.order.why.as_str(),
        "ordered_at": moment(job.order.at),
        "ended_at": job.ended_at.map(moment),
        "ramp": job.schedule.to_string(),
        "rate_per_second": job.schedule.rate_per_second(),
        "letters": job.progress.members(),
        "waiting": job.progress.waiting,
        "replayed": job.progress.replayed,
        "failed": job.progress.failed,
        "released": job.progress.released,
    })
}
