//! What a unit is about to store, while its events are decided one after the other.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use domain::{
    Change, Decision, EstablishedFact, FactKey, LedgerEntry, Payment, PaymentEvent, PaymentKey, RecordReason,
    decide,
};

use super::Unapplied;
use crate::disposition::{DeadLetterReason, Disposition, DuplicateLayer};
use crate::ports::unit_of_work::{Claim, NewFact, OutboxMessage, RecordedEvent, StoreError, Transaction};
use crate::use_cases::process_events::Candidate;

/// The payments of a unit as they are now, and what is to be stored.
#[derive(Default)]
pub(super) struct Draft {
    /// The payments as the store has them.
    stored: HashMap<PaymentKey, Payment>,
    known: HashMap<PaymentKey, BTreeMap<FactKey, EstablishedFact>>,
    /// The changes in rounds: a payment that several events change is in as many rounds, so that the store can
    /// tell each of its revisions from one that another unit has made meanwhile.
    rounds: Vec<Vec<Payment>>,
    /// Of each payment that is changed: its last round, and its place there.
    latest: HashMap<PaymentKey, (usize, usize)>,
    facts: Vec<NewFact>,
    entries: Vec<LedgerEntry>,
    messages: Vec<OutboxMessage>,
    recorded: Vec<RecordedEvent>,
    dispositions: Vec<Option<Disposition>>,
}

impl Draft {
    /// Locks the payments of the fresh events, and loads which of their facts are known.
    pub async fn load(
        transaction: &mut dyn Transaction,
        events: &[PaymentEvent],
        claims: &[Claim],
    ) -> Result<Self, StoreError> {
        let mut draft = Self { dispositions: vec![None; events.len()], ..Self::default() };
        let fresh =
            || events.iter().zip(claims).filter(|(_, claim)| **claim == Claim::Fresh).map(|(event, _)| event);
        let keys: BTreeSet<PaymentKey> = fresh().filter_map(PaymentEvent::payment_key).collect();
        if keys.is_empty() {
            return Ok(draft);
        }
        // In key order, so that units of all workers take their locks in one order.
        let keys: Vec<PaymentKey> = keys.into_iter().collect();
        let payments = transaction.lock_payments(&keys).await?;
        draft.stored = payments.into_iter().map(|payment| (payment.key.clone(), payment)).collect();
        // A payment that does not exist has no facts.
        let facts: BTreeSet<(PaymentKey, FactKey)> =
            fresh().flat_map(facts_of).filter(|(payment, _)| draft.stored.contains_key(payment)).collect();
        if !facts.is_empty() {
            let facts: Vec<(PaymentKey, FactKey)> = facts.into_iter().collect();
            for (payment, fact) in transaction.known_facts(&facts).await? {
                draft.known.entry(payment).or_default().insert(fact.key.clone(), fact);
            }
        }
        Ok(draft)
    }

    /// Decides every event, and tells which cannot be applied. An event that waits for another is decided
    /// again after the others, since that one may be among them.
    pub fn decide_all(&mut self, batch: &[&Candidate], claims: &[Claim]) -> Vec<(usize, Unapplied)> {
        let mut undecided: Vec<usize> = (0..batch.len()).collect();
        loop {
            let before = undecided.len();
            let mut unapplied = Vec::new();
            undecided.retain(|index| match self.decide_one(*index, batch[*index], &claims[*index]) {
                Ok(()) => false,
                Err(why) => {
                    unapplied.push((*index, why));
                    true
                }
            });
            let waiting = unapplied.iter().any(|(_, why)| matches!(why, Unapplied::NotReady(_)));
            if !waiting || undecided.len() == before {
                return unapplied;
            }
        }
    }

    fn decide_one(&mut self, index: usize, candidate: &Candidate, claim: &Claim) -> Result<(), Unapplied> {
        let event = &candidate.event;
        let disposition = match claim {
            Claim::Duplicate => Disposition::Duplicate(DuplicateLayer::Database),
            Claim::Conflict { stored } => Disposition::DeadLetter(DeadLetterReason::Conflict {
                stored: Some(*stored),
                claimed: candidate.meaning,
            }),
            Claim::Fresh => match self.decide(event).map_err(Unapplied::Refused)? {
                Decision::Apply(change) => {
                    self.take(*change, event);
                    Disposition::Applied
                }
                Decision::Record(reason) => {
                    self.recorded.push(record(candidate, reason));
                    Disposition::Recorded(reason)
                }
                Decision::NotReady(waits_for) => return Err(Unapplied::NotReady(waits_for)),
            },
        };
        self.dispositions[index] = Some(disposition);
        Ok(())
    }

    fn decide(&self, event: &PaymentEvent) -> Result<Decision, domain::Refusal> {
        let Some(key) = event.payment_key() else {
            return decide(None, |_| None, event);
        };
        let known = self.known.get(&key);
        decide(self.current(&key), |fact| known?.get(fact).cloned(), event)
    }

    /// The payment as it is now.
    fn current(&self, key: &PaymentKey) -> Option<&Payment> {
        match self.latest.get(key) {
            Some((round, place)) => self.rounds.get(*round)?.get(*place),
            None => self.stored.get(key),
        }
    }

    fn take(&mut self, change: Change, event: &PaymentEvent) {
        let Change { payment, facts, entries, announcements } = change;
        let key = payment.key.clone();
        let known = self.known.entry(key.clone()).or_default();
        for fact in facts {
            known.insert(fact.key.clone(), fact.clone());
            self.facts.push(NewFact { payment: key.clone(), fact, event: event.key.clone() });
        }
        self.entries.extend(entries);
        let message = |announcement| OutboxMessage { announcement, event: event.key.clone() };
        self.messages.extend(announcements.into_iter().map(message));
        let round = self.latest.get(&key).map_or(0, |(round, _)| round + 1);
        if let Some(changed) = self.rounds.get_mut(round) {
            self.latest.insert(key, (round, changed.len()));
            changed.push(payment);
        } else {
            self.latest.insert(key, (self.rounds.len(), 0));
            self.rounds.push(vec![payment]);
        }
    }

    /// Stores everything, the balances last.
    pub async fn save(&mut self, transaction: &mut dyn Transaction) -> Result<(), StoreError> {
        // Sorting moves what its places tell of.
        self.latest.clear();
        for round in &mut self.rounds {
            // In key order, see `load`.
            round.sort_unstable_by(|one, other| one.key.cmp(&other.key));
            transaction.save_payments(round).await?;
        }
        if !self.facts.is_empty() {
            transaction.establish_facts(&self.facts).await?;
        }
        if !self.messages.is_empty() {
            transaction.enqueue_messages(&self.messages).await?;
        }
        if !self.recorded.is_empty() {
            transaction.record(&self.recorded).await?;
        }
        if !self.entries.is_empty() {
            transaction.post_entries(&self.entries).await?;
        }
        Ok(())
    }

    /// One for each event, in order.
    pub fn into_dispositions(self) -> Vec<Disposition> {
        self.dispositions
            .into_iter()
            .map(|disposition| disposition.unwrap_or_else(super::super::unjudged))
            .collect()
    }
}

fn facts_of(event: &PaymentEvent) -> impl Iterator<Item = (PaymentKey, FactKey)> {
    let key = event.payment_key();
    let facts = event.change().map(|change| change.facts.as_slice()).unwrap_or_default();
    facts.iter().filter_map(move |fact| Some((key.clone()?, fact.key(event.occurred_at))))
}

fn record(candidate: &Candidate, reason: RecordReason) -> RecordedEvent {
    RecordedEvent { event: candidate.event.clone(), reason, payload: candidate.payload.clone() }
}
