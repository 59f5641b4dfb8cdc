//! Payments, their history and the balances.

use application::ports::payment_reader::{Balance, PaymentReader, PaymentView, TimelineEntry};
use application::ports::unit_of_work::StoreError;
use async_trait::async_trait;
use diesel::dsl::sql;
use diesel::sql_types::{BigInt, Nullable, Text};
use diesel::{OptionalExtension, RunQueryDsl, SqliteConnection};
use domain::{ConsumerName, PaymentKey, Timestamp};

use super::batch::payments::PaymentSql;
use super::classify::classify;
use super::store::SqliteStore;
use crate::outbound::payment_row::{self, PaymentRow};
use crate::outbound::view_rows::{self, BalanceRow, TimelineRow};

/// The payments in a SQLite store. Reads beside whoever writes.
pub struct SqlitePaymentReader {
    store: SqliteStore,
    consumer: ConsumerName,
}

impl SqlitePaymentReader {
    /// Reads what the events of `consumer` have done.
    pub const fn new(store: SqliteStore, consumer: ConsumerName) -> Self {
        Self { store, consumer }
    }
}

#[async_trait]
impl PaymentReader for SqlitePaymentReader {
    async fn payment(&self, key: &PaymentKey) -> Result<Option<PaymentView>, StoreError> {
        let (consumer, key) = (self.consumer.clone(), key.clone());
        self.store.readers.read(move |connection| payment(connection, &consumer, &key)).await
    }

    async fn timeline(&self, key: &PaymentKey, limit: u32) -> Result<Vec<TimelineEntry>, StoreError> {
        let (consumer, key) = (self.consumer.clone(), key.clone());
        self.store.readers.read(move |connection| timeline(connection, &consumer, &key, limit)).await
    }

    async fn balances(&self, account: &str) -> Result<Vec<Balance>, StoreError> {
        let (consumer, account) = (self.consumer.clone(), account.to_owned());
        self.store.readers.read(move |connection| balances(connection, &consumer, &account)).await
    }
}

fn payment(
    connection: &mut SqliteConnection,
    consumer: &ConsumerName,
    key: &PaymentKey,
) -> Result<Option<PaymentView>, StoreError> {
    let query = sql::<(PaymentSql, (BigInt, BigInt))>(
        "SELECT source, payment_id, merchant, last_event_id, revision, \
           currency, standing_at, standing_stage, captures_closed, \
           authorised_minor, captured_minor, charged_minor, \
           refunded_singly_minor, refunded_in_all_minor, refunds_failed_minor, \
           disputes_opened_minor, disputes_won_minor, disputes_lost_minor, \
           created_at, updated_at \
         FROM payments WHERE consumer = ",
    )
    .bind::<Text, _>(consumer.as_str())
    .sql(" AND source = ")
    .bind::<Text, _>(key.source.as_str())
    .sql(" AND payment_id = ")
    .bind::<Text, _>(key.payment_id.as_str());
    let found: Option<(PaymentRow<i64>, (i64, i64))> =
        query.get_result(connection).optional().map_err(classify)?;
    let Some((row, (created_at, updated_at))) = found else { return Ok(None) };
    Ok(Some(PaymentView {
        payment: payment_row::payment(row, Timestamp::from_micros)?,
        created_at: Timestamp::from_micros(created_at),
        updated_at: Timestamp::from_micros(updated_at),
    }))
}

fn timeline(
    connection: &mut SqliteConnection,
    consumer: &ConsumerName,
    key: &PaymentKey,
    limit: u32,
) -> Result<Vec<TimelineEntry>, StoreError> {
    type Row =
        ((Text, Nullable<Text>, Nullable<Text>), (Nullable<Text>, Nullable<BigInt>, Nullable<Text>), BigInt);
    let query = sql::<Row>("WITH asked AS (SELECT ")
        .bind::<Text, _>(consumer.as_str())
        .sql(" AS consumer, ")
        .bind::<Text, _>(key.source.as_str())
        .sql(" AS source, ")
        .bind::<Text, _>(key.payment_id.as_str())
        .sql(
            " AS payment_id) \
             SELECT event_id, NULL AS kind, NULL AS reason, fact, amount_minor, currency, \
               established_at AS at \
             FROM asked CROSS JOIN payment_facts USING (consumer, source, payment_id) \
             UNION ALL \
             SELECT event_id, kind, reason, NULL, NULL, NULL, recorded_at \
             FROM asked CROSS JOIN recorded_events USING (consumer, source, payment_id) \
             ORDER BY at DESC, event_id, fact \
             LIMIT ",
        )
        .bind::<BigInt, _>(i64::from(limit));
    let found: Vec<TimelineRow<i64>> = query.load(connection).map_err(classify)?;
    found.into_iter().map(|row| view_rows::timeline_entry(row, Timestamp::from_micros)).collect()
}

fn balances(
    connection: &mut SqliteConnection,
    consumer: &ConsumerName,
    account: &str,
) -> Result<Vec<Balance>, StoreError> {
    let query = sql::<(Text, Text, BigInt)>(
        "SELECT ledger, currency, balance_minor FROM account_balances WHERE consumer = ",
    )
    .bind::<Text, _>(consumer.as_str())
    .sql(" AND account = ")
    .bind::<Text, _>(account);
    let found: Vec<BalanceRow> = query.load(connection).map_err(classify)?;
    view_rows::balances(found)
}
