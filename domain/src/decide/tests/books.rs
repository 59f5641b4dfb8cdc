//! One payment, its facts, the balances and what was announced, as a store would keep them.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

#[derive(Default, Debug, Clone, PartialEq, Eq)]
pub struct Books {
    payment: Option<Payment>,
    facts: BTreeMap<FactKey, EstablishedFact>,
    balances: BTreeMap<LedgerAccount, i64>,
    announced: BTreeSet<String>,
}

impl Books {
    pub fn take(&mut self, event: &PaymentEvent) -> Result<Decision, Refusal> {
        let decision = decide(self.payment.as_ref(), |key| self.facts.get(key).cloned(), event)?;
        if let Decision::Apply(change) = &decision {
            self.store(change);
        }
        Ok(decision)
    }

    fn store(&mut self, change: &Change) {
        assert_eq!(change.entries.iter().map(|entry| entry.amount.minor_units()).sum::<i64>(), 0);
        for fact in &change.facts {
            assert!(self.facts.insert(fact.key.clone(), fact.clone()).is_none(), "{fact:?} twice");
        }
        for entry in &change.entries {
            *self.balances.entry(entry.ledger).or_default() += entry.amount.minor_units();
        }
        self.balances.retain(|_, balance| *balance != 0);
        for message in &change.announcements {
            let line = format!("{} {}", message.kind, message.id());
            assert!(self.announced.insert(line), "{message:?} twice");
        }
        self.payment = Some(change.payment.clone());
    }

    pub fn applied(&mut self, event: &PaymentEvent) {
        let decision = self.take(event);
        assert!(matches!(decision, Ok(Decision::Apply(_))), "not applied: {decision:?}");
    }

    pub fn recorded(&mut self, event: &PaymentEvent) -> RecordReason {
        match self.take(event) {
            Ok(Decision::Record(reason)) => reason,
            other => panic!("not recorded: {other:?}"),
        }
    }

    pub fn waits(&mut self, event: &PaymentEvent) -> NotReady {
        match self.take(event) {
            Ok(Decision::NotReady(waits_for)) => waits_for,
            other => panic!("does not wait: {other:?}"),
        }
    }

    pub fn refused(&mut self, event: &PaymentEvent) -> Refusal {
        self.take(event).expect_err("the event is impossible")
    }

    pub fn payment(&self) -> &Payment {
        self.payment.as_ref().expect("there is a payment")
    }

    pub fn balance(&self, account: LedgerAccount) -> i64 {
        self.balances.get(&account).copied().unwrap_or(0)
    }

    pub fn announced(&self) -> Vec<&str> {
        self.announced.iter().map(String::as_str).collect()
    }

    /// What must not depend on the order of events: everything but who came last, and how many did.
    pub fn outcome(&self) -> Self {
        let mut outcome = self.clone();
        if let Some(payment) = &mut outcome.payment {
            payment.revision = 0;
            payment.last_event = EventId::parse("any").expect("a valid id");
        }
        // Which reports of progress were still news is a matter of order; nothing hangs on them.
        outcome.facts.retain(|key, _| !key.as_str().starts_with("progress:"));
        outcome
    }
}
