//! The transaction that carries a batch.

use std::collections::HashSet;
use std::time::Duration;

use application::ports::unit_of_work::{Claim, RecordedEvent, StoreError, Transaction, UnitOfWork};
use async_trait::async_trait;
use domain::{ConsumerName, Fingerprint, Payment, PaymentEvent, PaymentKey};

use super::payment_columns::PaymentColumns;
use super::pool::PostgresPool;
use super::readiness::probe;
use super::rows::{self, OUTCOME_APPLIED, OUTCOME_RECORDED};
use super::session::Session;
use super::statements::{ClaimEvents, LockPayments, MarkRecorded, StoreRecorded, StoredFingerprints};
use crate::outbound::payment_row::{self, PaymentRow};

/// How long [`UnitOfWork::probe`] may take.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// Transactions on PostgreSQL, at READ COMMITTED: the keys and row locks decide, not the isolation.
pub struct PostgresUnitOfWork {
    pool: PostgresPool,
    consumer: ConsumerName,
}

impl PostgresUnitOfWork {
    /// Processes events as `consumer`, to which the idempotency keys are scoped.
    pub const fn new(pool: PostgresPool, consumer: ConsumerName) -> Self {
        Self { pool, consumer }
    }
}

#[async_trait]
impl UnitOfWork for PostgresUnitOfWork {
    async fn begin(&self) -> Result<Box<dyn Transaction>, StoreError> {
        let mut session = self.pool.session().await?;
        session.begin().await.map_err(|error| match error {
            StoreError::Transient(cause) | StoreError::Permanent(cause) => StoreError::Unavailable(cause),
            unavailable @ StoreError::Unavailable(_) => unavailable,
        })?;
        Ok(Box::new(PostgresTransaction { session, consumer: self.consumer.clone() }))
    }

    async fn probe(&self) -> Result<(), StoreError> {
        probe(&self.pool, PROBE_TIMEOUT).await
    }
}

/// One open transaction. The session ends with it, unless it is committed.
struct PostgresTransaction {
    session: Session,
    consumer: ConsumerName,
}

#[async_trait]
impl Transaction for PostgresTransaction {
    async fn claim(&mut self, events: &[PaymentEvent]) -> Result<Vec<Claim>, StoreError> {
        let fingerprints: Vec<Fingerprint> = events.iter().map(PaymentEvent::fingerprint).collect();
        let claim = ClaimEvents {
            consumer: self.consumer.as_str(),
            event_ids: events.iter().map(|event| event.key.event_id.as_str()).collect(),
            sources: events.iter().map(|event| event.key.source.as_str()).collect(),
            fingerprints: fingerprints.iter().map(|print| print.as_bytes().as_slice()).collect(),
            outcomes: events.iter().map(outcome).collect(),
            payment_ids: events.iter().map(payment_id).collect(),
            received_at: events.iter().map(|event| rows::moment(event.received_at)).collect(),
        };
        let inserted: Vec<(String, String)> = self.session.rows(claim).await?;
        let fresh: HashSet<(&str, &str)> =
            inserted.iter().map(|(event_id, source)| (event_id.as_str(), source.as_str())).collect();
        let known: Vec<&PaymentEvent> = events.iter().filter(|event| !fresh.contains(&key(event))).collect();
        let mut stored = self.stored_fingerprints(&known).await?.into_iter();
        let mut claims = Vec::with_capacity(events.len());
        for (event, claimed) in events.iter().zip(&fingerprints) {
            if fresh.contains(&key(event)) {
                claims.push(Claim::Fresh);
                continue;
            }
            claims.push(match stored.next().flatten() {
                Some(stored) if stored == *claimed => Claim::Duplicate,
                Some(stored) => Claim::Conflict { stored },
                // It was there when it stood in the way, so it was removed since.
                None => return Err(self.lost_race("an event was removed while it was claimed")),
            });
        }
        Ok(claims)
    }

    async fn lock_payments(&mut self, keys: &[PaymentKey]) -> Result<Vec<Payment>, StoreError> {
        let lock = LockPayments {
            sources: keys.iter().map(|key| key.source.as_str()).collect(),
            payment_ids: keys.iter().map(|key| key.payment_id.as_str()).collect(),
        };
        let found: Vec<PaymentRow> = self.session.rows(lock).await?;
        let payments: Result<Vec<Payment>, StoreError> =
            found.into_iter().map(payment_row::payment).collect();
        payments.map_err(|error| self.session.fail(error))
    }

    async fn save_payments(&mut self, payments: &[Payment]) -> Result<(), StoreError> {
        let (created, changed): (Vec<&Payment>, Vec<&Payment>) =
            payments.iter().partition(|payment| payment.revision == 1);
        if !created.is_empty() {
            let columns = PaymentColumns::of(&created);
            let count = self.session.change(columns.create()).await?;
            self.expect_rows(count, created.len(), "another unit has created a payment meanwhile")?;
        }
        if !changed.is_empty() {
            let columns = PaymentColumns::of(&changed);
            let count = self.session.change(columns.change()).await?;
            self.expect_rows(count, changed.len(), "another unit has changed a payment meanwhile")?;
        }
        Ok(())
    }

    async fn record(&mut self, recorded: &[RecordedEvent]) -> Result<(), StoreError> {
        let expected_applied: Vec<&PaymentEvent> =
            recorded.iter().map(|recorded| &recorded.event).filter(|event| event.change.is_some()).collect();
        if !expected_applied.is_empty() {
            let mark = MarkRecorded {
                consumer: self.consumer.as_str(),
                event_ids: expected_applied.iter().map(|event| event.key.event_id.as_str()).collect(),
                sources: expected_applied.iter().map(|event| event.key.source.as_str()).collect(),
            };
            let count = self.session.change(mark).await?;
            self.expect_rows(count, expected_applied.len(), "an event to record is not claimed")?;
        }
        let store = StoreRecorded {
            consumer: self.consumer.as_str(),
            event_ids: recorded.iter().map(|recorded| recorded.event.key.event_id.as_str()).collect(),
            sources: recorded.iter().map(|recorded| recorded.event.key.source.as_str()).collect(),
            kinds: recorded.iter().map(|recorded| recorded.event.kind.as_str()).collect(),
            reasons: recorded.iter().map(|recorded| recorded.reason.as_str()).collect(),
            payloads: recorded.iter().map(|recorded| recorded.payload.as_ref()).collect(),
        };
        self.session.change(store).await?;
        Ok(())
    }

    async fn commit(self: Box<Self>) -> Result<(), StoreError> {
        self.session.commit().await
    }
}

impl PostgresTransaction {
    /// Element `i` is what is stored for `events[i]`.
    async fn stored_fingerprints(
        &mut self,
        events: &[&PaymentEvent],
    ) -> Result<Vec<Option<Fingerprint>>, StoreError> {
        let mut stored = vec![None; events.len()];
        if events.is_empty() {
            return Ok(stored);
        }
        let query = StoredFingerprints {
            consumer: self.consumer.as_str(),
            event_ids: events.iter().map(|event| event.key.event_id.as_str()).collect(),
            sources: events.iter().map(|event| event.key.source.as_str()).collect(),
        };
        let found: Vec<(i64, Vec<u8>)> = self.session.rows(query).await?;
        for (ordinal, fingerprint) in found {
            // PostgreSQL counts from 1.
            let place = usize::try_from(ordinal - 1).ok().and_then(|place| stored.get_mut(place));
            if let Some(place) = place {
                *place = Fingerprint::from_bytes(&fingerprint);
            }
        }
        Ok(stored)
    }

    fn expect_rows(
        &mut self,
        found: usize,
        expected: usize,
        otherwise: &'static str,
    ) -> Result<(), StoreError> {
        if found == expected { Ok(()) } else { Err(self.lost_race(otherwise)) }
    }

    fn lost_race(&mut self, what: &'static str) -> StoreError {
        self.session.fail(StoreError::Transient(what.into()))
    }
}

fn key(event: &PaymentEvent) -> (&str, &str) {
    (event.key.event_id.as_str(), event.key.source.as_str())
}

fn outcome(event: &PaymentEvent) -> i16 {
    if event.change.is_some() { OUTCOME_APPLIED } else { OUTCOME_RECORDED }
}

fn payment_id(event: &PaymentEvent) -> Option<&str> {
    event.change.as_ref().map(|change| change.payment.as_str())
}
