//! The right to relay to one destination.

use application::ports::outbox::{
    LeaseClaim, OutboxBatch, OutboxEntry, OutboxError, OutboxLease, Settled, Standing,
};
use application::ports::unit_of_work::StoreError;
use async_trait::async_trait;
use diesel::dsl::sql;
use diesel::pg::data_types::PgTimestamp;
use diesel::sql_types::BigInt;
use domain::ConsumerName;

use super::cursor::{Cursor, Reading};
use super::statements::{
    CountWaiting, DueMessages, ForgetMessages, KeepMessages, MovePosition, PromoteMessages, ReadMessages,
    ReleaseLease,
};
use crate::outbound::outbox_settlement::{Settlement, WAITING_MAX};
use crate::outbound::outbox_time::{millis, since_millis};
use crate::outbound::postgres::pool::PostgresPool;
use crate::outbound::postgres::rows;
use crate::outbound::postgres::session::Session;

/// Every transaction of a lower number has ended.
const ALL_ENDED_BELOW: &str = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint";
/// No transaction of this or a higher number has begun.
const NONE_BEGUN_FROM: &str = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint";

/// A message as it is stored.
type EntryRow =
    (i64, String, String, String, String, String, String, Option<i64>, Option<String>, PgTimestamp);

/// A lease of one term.
pub(super) struct PostgresLease {
    pool: PostgresPool,
    consumer: ConsumerName,
    destination: String,
    lease_ms: i64,
    term: i64,
    cursor: Cursor,
    /// The cursor as it is once the last batch is settled.
    after_batch: Cursor,
    /// How many more messages may wait, at least. Counted anew when there is none left.
    room: i64,
}

impl PostgresLease {
    pub(super) fn new(
        pool: PostgresPool,
        consumer: ConsumerName,
        claim: &LeaseClaim,
        term: i64,
        cursor: Cursor,
    ) -> Self {
        let (destination, lease_ms) = (claim.destination.clone(), millis(claim.lease));
        let after_batch = cursor.clone();
        Self { pool, consumer, destination, lease_ms, term, cursor, after_batch, room: 0 }
    }

    async fn due(&self, session: &mut Session, limit: i64) -> Result<Vec<OutboxEntry>, StoreError> {
        let due = DueMessages {
            due_consumer: self.consumer.as_str(),
            due_destination: &self.destination,
            due_limit: limit,
            consumer: self.consumer.as_str(),
            destination: &self.destination,
            limit,
        };
        let found: Vec<(EntryRow, i32, i64)> = session.rows(due).await?;
        let entry = |(row, attempts, tried_ms): (EntryRow, i32, i64)| {
            let attempts = u32::try_from(attempts).unwrap_or(0);
            entry(row, Standing::Waiting { attempts, tried_for: since_millis(tried_ms) })
        };
        Ok(found.into_iter().map(entry).collect())
    }

    /// Whether new messages may be handed out: should all of them have to wait, there must be room for them.
    async fn has_room(&mut self, session: &mut Session, limit: i64) -> Result<bool, StoreError> {
        if self.room < limit {
            let count = CountWaiting {
                consumer: self.consumer.as_str(),
                destination: &self.destination,
                limit: WAITING_MAX,
            };
            let waiting: Vec<i64> = session.rows(count).await?;
            self.room = WAITING_MAX - waiting.first().copied().unwrap_or_default();
        }
        Ok(self.room >= limit)
    }

    /// The new messages, and whether there may be more. Moves the cursor of the batch.
    async fn fresh(
        &mut self,
        session: &mut Session,
        limit: i64,
    ) -> Result<(Vec<OutboxEntry>, bool), StoreError> {
        // Before reading: what had ended by then is seen.
        let all_ended_below =
            if self.cursor.has_gaps() { number(session, ALL_ENDED_BELOW).await? } else { 0 };
        let (firsts, lasts) = self.cursor.ranges();
        let read = ReadMessages {
            consumer: self.consumer.as_str(),
            destination: &self.destination,
            firsts,
            lasts,
            limit_of_each: limit,
            limit,
        };
        let found: Vec<(EntryRow, bool, bool)> = session.rows(read).await?;
        let places: Vec<i64> = found.iter().map(|(row, _, _)| row.0).collect();
        // After reading: what had not begun by then cannot fill a gap.
        let none_begun_from =
            if self.cursor.finds_gaps(&places) { number(session, NONE_BEGUN_FROM).await? } else { 0 };
        let is_cut = i64::try_from(places.len()).is_ok_and(|count| count >= limit);
        let reading = Reading { found: &places, is_cut, all_ended_below, none_begun_from };
        let (after, taken) = self.cursor.after(&reading);
        self.after_batch = after;
        let entries = found
            .into_iter()
            .take(taken)
            .filter(|(_, is_ours, _)| *is_ours)
            .map(|(row, _, is_behind)| entry(row, if is_behind { Standing::Behind } else { Standing::New }))
            .collect();
        Ok((entries, is_cut && taken == places.len()))
    }

    /// Stores a cursor, and has the lease begin anew.
    async fn store(&self, session: &mut Session, cursor: &Cursor) -> Result<(), OutboxError> {
        let gaps = cursor.stored_gaps();
        let moved = MovePosition {
            position: cursor.position(),
            gaps: &gaps,
            settled: cursor.settled(),
            lease_ms: self.lease_ms,
            consumer: self.consumer.as_str(),
            destination: &self.destination,
            term: self.term,
        };
        own(session.change(moved).await?)
    }

    async fn keep(&self, session: &mut Session, settlement: &Settlement<'_>) -> Result<(), StoreError> {
        let (consumer, destination) = (self.consumer.as_str(), self.destination.as_str());
        let kept = &settlement.kept;
        if !kept.is_empty() {
            let keep = KeepMessages {
                consumer,
                destination,
                seqs: kept.iter().map(|kept| kept.seq).collect(),
                sources: kept.iter().map(|kept| kept.source).collect(),
                payment_ids: kept.iter().map(|kept| kept.payment_id).collect(),
                states: kept.iter().map(|kept| kept.state).collect(),
                attempts: kept.iter().map(|kept| kept.attempts).collect(),
                waits_ms: kept.iter().map(|kept| kept.wait_ms).collect(),
                errors: kept.iter().map(|kept| kept.error).collect(),
            };
            session.change(keep).await?;
        }
        if !settlement.forgotten.is_empty() {
            let seqs = settlement.forgotten.clone();
            session.change(ForgetMessages { consumer, destination, seqs }).await?;
        }
        let payments = &settlement.payments;
        let promote = PromoteMessages {
            sources: payments.iter().map(|(source, _)| *source).collect(),
            payment_ids: payments.iter().map(|(_, payment_id)| *payment_id).collect(),
            given_consumer: consumer,
            given_destination: destination,
            consumer,
            destination,
        };
        session.change(promote).await?;
        Ok(())
    }
}

#[async_trait]
impl OutboxLease for PostgresLease {
    async fn next(&mut self, limit: usize) -> Result<OutboxBatch, OutboxError> {
        let limit = i64::try_from(limit.max(1)).unwrap_or(i64::MAX);
        let mut session = self.pool.session().await?;
        let mut entries = self.due(&mut session, limit).await?;
        let mut more = i64::try_from(entries.len()).is_ok_and(|count| count >= limit);
        self.after_batch = self.cursor.clone();
        if self.has_room(&mut session, limit).await? {
            let (fresh, is_cut) = self.fresh(&mut session, limit).await?;
            more |= is_cut;
            entries.extend(fresh);
            entries.sort_by_key(|entry| entry.seq);
        }
        session.release();
        if entries.is_empty() {
            // There is nothing to settle, so nobody would move it.
            self.cursor = self.after_batch.clone();
        }
        Ok(OutboxBatch { entries, more })
    }

    async fn settle(&mut self, settled: Vec<Settled>) -> Result<(), OutboxError> {
        let settlement = Settlement::of(&settled);
        let mut session = self.pool.session().await?;
        if settlement.is_simple() {
            self.store(&mut session, &self.after_batch).await?;
            session.release();
        } else {
            session.begin().await?;
            self.store(&mut session, &self.after_batch).await?;
            self.keep(&mut session, &settlement).await?;
            session.commit().await?;
        }
        self.cursor = self.after_batch.clone();
        self.room -= i64::try_from(settlement.kept.len()).unwrap_or(i64::MAX);
        Ok(())
    }

    async fn renew(&mut self) -> Result<(), OutboxError> {
        let mut session = self.pool.session().await?;
        // With what was passed over meanwhile, for which there was nothing to settle.
        self.store(&mut session, &self.cursor).await?;
        session.release();
        Ok(())
    }

    async fn release(self: Box<Self>) -> Result<(), OutboxError> {
        let mut session = self.pool.session().await?;
        let release = ReleaseLease {
            consumer: self.consumer.as_str(),
            destination: &self.destination,
            term: self.term,
        };
        let released = session.change(release).await?;
        session.release();
        own(released)
    }
}

/// The row of the term was changed, or the term is over.
const fn own(changed: usize) -> Result<(), OutboxError> {
    if changed == 1 { Ok(()) } else { Err(OutboxError::LeaseLost) }
}

async fn number(session: &mut Session, query: &str) -> Result<i64, StoreError> {
    let found: Vec<i64> = session.rows(sql::<BigInt>(query)).await?;
    found.first().copied().ok_or_else(|| StoreError::Transient("no transaction number was told".into()))
}

fn entry(row: EntryRow, standing: Standing) -> OutboxEntry {
    let (seq, id, kind, source, payment_id, account, fact, amount_minor, currency, occurred_at) = row;
    OutboxEntry {
        seq,
        id,
        kind,
        source,
        payment_id,
        account,
        fact,
        amount_minor,
        currency,
        occurred_at: rows::timestamp(occurred_at),
        standing,
    }
}
