//! Payments, their history and the balances.

use application::ports::payment_reader::{Balance, PaymentReader, PaymentView, TimelineEntry};
use application::ports::unit_of_work::StoreError;
use async_trait::async_trait;
use diesel::pg::data_types::PgTimestamp;
use diesel::sql_types::{BigInt, Nullable, Text, Timestamptz};
use domain::{ConsumerName, Payment, PaymentKey};

use super::pool::PostgresPool;
use super::rows::{self, PaymentSql};
use super::statement::statement;
use crate::outbound::payment_row::{self, PaymentRow};
use crate::outbound::view_rows::{self, BalanceRow, TimelineRow};

statement! {
    /// A payment, and when it was created and last changed.
    ReadPayment<'a> -> (PaymentSql, (Timestamptz, Timestamptz)) {
        "SELECT source, payment_id, merchant, last_event_id, revision, \
           currency, standing_at, standing_stage, captures_closed, \
           authorised_minor, captured_minor, charged_minor, \
           refunded_singly_minor, refunded_in_all_minor, refunds_failed_minor, \
           disputes_opened_minor, disputes_won_minor, disputes_lost_minor, \
           created_at, updated_at \
         FROM payments \
         WHERE consumer = " consumer: &'a str => Text,
        " AND source = " source: &'a str => Text,
        " AND payment_id = " payment_id: &'a str => Text,
        ""
    }
}

statement! {
    /// The facts of a payment and the events about it that had no effect, the latest first.
    ReadTimeline<'a> -> (
        (Text, Nullable<Text>, Nullable<Text>),
        (Nullable<Text>, Nullable<BigInt>, Nullable<Text>),
        Timestamptz,
    ) {
        "WITH asked AS (SELECT " consumer: &'a str => Text,
        " AS consumer, " source: &'a str => Text,
        " AS source, " payment_id: &'a str => Text,
        " AS payment_id) \
         SELECT event_id, NULL::text AS kind, NULL::text AS reason, fact, amount_minor, currency, \
           established_at AS at \
         FROM payment_facts JOIN asked USING (consumer, source, payment_id) \
         UNION ALL \
         SELECT event_id, kind, reason, NULL, NULL, NULL, recorded_at \
         FROM recorded_events JOIN asked USING (consumer, source, payment_id) \
         ORDER BY at DESC, event_id, fact \
         LIMIT " limit: i64 => BigInt,
        ""
    }
}

statement! {
    /// The balances of an account.
    ReadBalances<'a> -> (Text, Text, BigInt) {
        "SELECT ledger, currency, balance_minor FROM account_balances \
         WHERE consumer = " consumer: &'a str => Text,
        " AND account = " account: &'a str => Text,
        ""
    }
}

/// The payments in a PostgreSQL store.
pub struct PostgresPaymentReader {
    pool: PostgresPool,
    consumer: ConsumerName,
}

impl PostgresPaymentReader {
    /// Reads what the events of `consumer` have done.
    pub const fn new(pool: PostgresPool, consumer: ConsumerName) -> Self {
        Self { pool, consumer }
    }
}

#[async_trait]
impl PaymentReader for PostgresPaymentReader {
    async fn payment(&self, key: &PaymentKey) -> Result<Option<PaymentView>, StoreError> {
        let mut session = self.pool.session().await?;
        let query = ReadPayment {
            consumer: self.consumer.as_str(),
            source: key.source.as_str(),
            payment_id: key.payment_id.as_str(),
        };
        let mut found: Vec<(PaymentRow<PgTimestamp>, (PgTimestamp, PgTimestamp))> =
            session.rows(query).await?;
        session.release();
        let Some((row, (created_at, updated_at))) = found.pop() else { return Ok(None) };
        let payment: Payment = payment_row::payment(row, rows::timestamp)?;
        let (created_at, updated_at) = (rows::timestamp(created_at), rows::timestamp(updated_at));
        Ok(Some(PaymentView { payment, created_at, updated_at }))
    }

    async fn timeline(&self, key: &PaymentKey, limit: u32) -> Result<Vec<TimelineEntry>, StoreError> {
        let mut session = self.pool.session().await?;
        let query = ReadTimeline {
            consumer: self.consumer.as_str(),
            source: key.source.as_str(),
            payment_id: key.payment_id.as_str(),
            limit: i64::from(limit),
        };
        let found: Vec<TimelineRow<PgTimestamp>> = session.rows(query).await?;
        session.release();
        found.into_iter().map(|row| view_rows::timeline_entry(row, rows::timestamp)).collect()
    }

    async fn balances(&self, account: &str) -> Result<Vec<Balance>, StoreError> {
        let mut session = self.pool.session().await?;
        let query = ReadBalances { consumer: self.consumer.as_str(), account };
        let found: Vec<BalanceRow> = session.rows(query).await?;
        session.release();
        view_rows::balances(found)
    }
}
