//! The payments that events change.

use application::ports::unit_of_work::StoreError;
use diesel::sql_types::{BigInt, Bool, Nullable, SmallInt, Text};
use diesel::{RunQueryDsl, SqliteConnection};
use domain::{ConsumerName, Currency, MerchantId, Money, Payment, PaymentKey, Timestamp};

use super::expect_rows;
use crate::outbound::payment_row::{self, PaymentRow};
use crate::outbound::sqlite::classify::classify;
use crate::outbound::sqlite::statement::{groups, row, statement};

/// The columns of [`PaymentRow`].
pub(in crate::outbound::sqlite) type PaymentSql = (
    (Text, Text, Nullable<Text>, Text, BigInt),
    (Nullable<Text>, Nullable<BigInt>, Nullable<SmallInt>, Bool),
    (BigInt, BigInt, BigInt, BigInt, BigInt, BigInt, BigInt, BigInt, BigInt),
);

row! {
    /// A payment by its key.
    KnownPayment<'a> {
        consumer: &'a str => Text,
        source: &'a str => Text,
        payment_id: &'a str => Text,
    }
}

row! {
    /// A payment.
    PaymentNow<'a> {
        consumer: &'a str => Text,
        source: &'a str => Text,
        payment_id: &'a str => Text,
        merchant: Option<&'a str> => Nullable<Text>,
        state: &'a str => Text,
        amount_minor: i64 => BigInt,
        currency: Option<&'a str> => Nullable<Text>,
        standing_at: Option<i64> => Nullable<BigInt>,
        standing_stage: Option<i16> => Nullable<SmallInt>,
        authorised: i64 => BigInt,
        captured: i64 => BigInt,
        charged: i64 => BigInt,
        refunded_singly: i64 => BigInt,
        refunded_in_all: i64 => BigInt,
        refunds_failed: i64 => BigInt,
        disputes_opened: i64 => BigInt,
        disputes_won: i64 => BigInt,
        disputes_lost: i64 => BigInt,
        captures_closed: bool => Bool,
        last_event_id: &'a str => Text,
        revision: i64 => BigInt,
    }
}

statement! {
    /// Payments. They need no lock of their own: the transaction has that of the file.
    LoadPayments over KnownPayment -> PaymentSql {
        "WITH given (consumer, source, payment_id) AS (VALUES ",
        ") SELECT stored.source, stored.payment_id, stored.merchant, stored.last_event_id, stored.revision, \
           stored.currency, stored.standing_at, stored.standing_stage, stored.captures_closed, \
           stored.authorised_minor, stored.captured_minor, stored.charged_minor, \
           stored.refunded_singly_minor, stored.refunded_in_all_minor, stored.refunds_failed_minor, \
           stored.disputes_opened_minor, stored.disputes_won_minor, stored.disputes_lost_minor \
         FROM given CROSS JOIN payments AS stored \
         WHERE stored.consumer = given.consumer AND stored.source = given.source \
           AND stored.payment_id = given.payment_id"
    }
}

statement! {
    /// Stores new payments, except those that exist.
    CreatePayments over PaymentNow -> () {
        "INSERT INTO payments \
           (consumer, source, payment_id, merchant, state, amount_minor, currency, standing_at, \
            standing_stage, authorised_minor, captured_minor, charged_minor, refunded_singly_minor, \
            refunded_in_all_minor, refunds_failed_minor, disputes_opened_minor, disputes_won_minor, \
            disputes_lost_minor, captures_closed, last_event_id, revision) \
         VALUES ",
        " ON CONFLICT (consumer, source, payment_id) DO NOTHING"
    }
}

statement! {
    /// Stores changed payments, except those that have not the revision before.
    ChangePayments over PaymentNow -> () {
        "WITH given \
           (consumer, source, payment_id, merchant, state, amount_minor, currency, standing_at, \
            standing_stage, authorised_minor, captured_minor, charged_minor, refunded_singly_minor, \
            refunded_in_all_minor, refunds_failed_minor, disputes_opened_minor, disputes_won_minor, \
            disputes_lost_minor, captures_closed, last_event_id, revision) AS (VALUES ",
        ") UPDATE payments \
         SET merchant = given.merchant, state = given.state, amount_minor = given.amount_minor, \
           currency = given.currency, standing_at = given.standing_at, \
           standing_stage = given.standing_stage, authorised_minor = given.authorised_minor, \
           captured_minor = given.captured_minor, charged_minor = given.charged_minor, \
           refunded_singly_minor = given.refunded_singly_minor, \
           refunded_in_all_minor = given.refunded_in_all_minor, \
           refunds_failed_minor = given.refunds_failed_minor, \
           disputes_opened_minor = given.disputes_opened_minor, \
           disputes_won_minor = given.disputes_won_minor, disputes_lost_minor = given.disputes_lost_minor, \
           captures_closed = given.captures_closed, last_event_id = given.last_event_id, \
           revision = given.revision, updated_at = CAST(unixepoch('subsec') * 1000000 AS INTEGER) \
         FROM given \
         WHERE payments.consumer = given.consumer AND payments.source = given.source \
           AND payments.payment_id = given.payment_id AND payments.revision = given.revision - 1"
    }
}

/// The payments that exist of `keys`, in key order.
pub(in crate::outbound::sqlite) fn load(
    connection: &mut SqliteConnection,
    consumer: &ConsumerName,
    keys: &[PaymentKey],
) -> Result<Vec<Payment>, StoreError> {
    let known: Vec<KnownPayment<'_>> = keys
        .iter()
        .map(|key| KnownPayment {
            consumer: consumer.as_str(),
            source: key.source.as_str(),
            payment_id: key.payment_id.as_str(),
        })
        .collect();
    let mut payments = Vec::with_capacity(keys.len());
    for group in groups(&known) {
        let found: Vec<PaymentRow<i64>> = LoadPayments(group).load(connection).map_err(classify)?;
        for row in found {
            payments.push(payment_row::payment(row, Timestamp::from_micros)?);
        }
    }
    payments.sort_by(|one, other| one.key.cmp(&other.key));
    Ok(payments)
}

/// Stores payments as they are now.
pub(in crate::outbound::sqlite) fn save(
    connection: &mut SqliteConnection,
    consumer: &ConsumerName,
    payments: &[Payment],
) -> Result<(), StoreError> {
    let (created, changed): (Vec<PaymentNow<'_>>, Vec<PaymentNow<'_>>) = payments
        .iter()
        .map(|payment| payment_now(consumer, payment))
        .partition(|payment| payment.revision == 1);
    for group in groups(&created) {
        let count = CreatePayments(group).execute(connection).map_err(classify)?;
        expect_rows(count, group.len(), "another unit has created a payment meanwhile")?;
    }
    for group in groups(&changed) {
        let count = ChangePayments(group).execute(connection).map_err(classify)?;
        expect_rows(count, group.len(), "another unit has changed a payment meanwhile")?;
    }
    Ok(())
}

fn payment_now<'a>(consumer: &'a ConsumerName, payment: &'a Payment) -> PaymentNow<'a> {
    let totals = &payment.totals;
    PaymentNow {
        consumer: consumer.as_str(),
        source: payment.key.source.as_str(),
        payment_id: payment.key.payment_id.as_str(),
        merchant: payment.merchant.as_ref().map(MerchantId::as_str),
        state: payment.state().as_str(),
        amount_minor: payment.amount().map_or(0, Money::minor_units),
        currency: payment.currency.as_ref().map(Currency::code),
        standing_at: payment.standing.map(|standing| standing.at.as_micros()),
        standing_stage: payment.standing.map(|standing| standing.stage.rank()),
        authorised: totals.authorised,
        captured: totals.captured,
        charged: totals.charged,
        refunded_singly: totals.refunded_singly,
        refunded_in_all: totals.refunded_in_all,
        refunds_failed: totals.refunds_failed,
        disputes_opened: totals.disputes_opened,
        disputes_won: totals.disputes_won,
        disputes_lost: totals.disputes_lost,
        captures_closed: payment.captures_closed,
        last_event_id: payment.last_event.as_str(),
        revision: payment.revision,
    }
}
