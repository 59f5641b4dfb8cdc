//! The payments that events change.

use application::ports::unit_of_work::StoreError;
use diesel::pg::data_types::PgTimestamp;
use diesel::sql_types::{Array, BigInt, Bool, Nullable, SmallInt, Text, Timestamptz};
use domain::{Currency, MerchantId, Money, Payment, PaymentKey, Totals};

use crate::outbound::payment_row::{self, PaymentRow};
use crate::outbound::postgres::rows::{self, PaymentSql};
use crate::outbound::postgres::session::Session;
use crate::outbound::postgres::statement::statement;

statement! {
    /// Payments, locked in key order: the rows are sorted first and locked then.
    LockPayments<'a> -> PaymentSql {
        "SELECT stored.source, stored.payment_id, stored.merchant, stored.last_event_id, stored.revision, \
           stored.currency, stored.standing_at, stored.standing_stage, stored.captures_closed, \
           stored.authorised_minor, stored.captured_minor, stored.charged_minor, \
           stored.refunded_singly_minor, stored.refunded_in_all_minor, stored.refunds_failed_minor, \
           stored.disputes_opened_minor, stored.disputes_won_minor, stored.disputes_lost_minor \
         FROM unnest(" sources: Vec<&'a str> => Array<Text>,
        ", " payment_ids: Vec<&'a str> => Array<Text>,
        ") AS given (source, payment_id) \
         JOIN payments AS stored USING (source, payment_id) \
         WHERE stored.consumer = " consumer: &'a str => Text,
        " ORDER BY stored.source, stored.payment_id \
         FOR UPDATE OF stored"
    }
}

/// Declares a statement over whole payments, `given` by column, each of the same consumer.
macro_rules! payments_statement {
    ($(#[$doc:meta])* $name:ident { $with_the_given:literal }) => {
        statement! {
            $(#[$doc])*
            $name<'a> -> () {
                "WITH given AS (SELECT " consumer: &'a str => Text,
                " AS consumer, columns.* \
                 FROM unnest(" sources: Vec<&'a str> => Array<Text>,
                ", " payment_ids: Vec<&'a str> => Array<Text>,
                ", " merchants: Vec<Option<&'a str>> => Array<Nullable<Text>>,
                ", " states: Vec<&'a str> => Array<Text>,
                ", " amounts_minor: Vec<i64> => Array<BigInt>,
                ", " currencies: Vec<Option<&'a str>> => Array<Nullable<Text>>,
                ", " standings_at: Vec<Option<PgTimestamp>> => Array<Nullable<Timestamptz>>,
                ", " standing_stages: Vec<Option<i16>> => Array<Nullable<SmallInt>>,
                ", " authorised: Vec<i64> => Array<BigInt>,
                ", " captured: Vec<i64> => Array<BigInt>,
                ", " charged: Vec<i64> => Array<BigInt>,
                ", " refunded_singly: Vec<i64> => Array<BigInt>,
                ", " refunded_in_all: Vec<i64> => Array<BigInt>,
                ", " refunds_failed: Vec<i64> => Array<BigInt>,
                ", " disputes_opened: Vec<i64> => Array<BigInt>,
                ", " disputes_won: Vec<i64> => Array<BigInt>,
                ", " disputes_lost: Vec<i64> => Array<BigInt>,
                ", " captures_closed: Vec<bool> => Array<Bool>,
                ", " last_event_ids: Vec<&'a str> => Array<Text>,
                ", " revisions: Vec<i64> => Array<BigInt>,
                ") AS columns (source, payment_id, merchant, state, amount_minor, currency, standing_at, \
                   standing_stage, authorised_minor, captured_minor, charged_minor, refunded_singly_minor, \
                   refunded_in_all_minor, refunds_failed_minor, disputes_opened_minor, disputes_won_minor, \
                   disputes_lost_minor, captures_closed, last_event_id, revision)) "
                $with_the_given
            }
        }

        impl<'a> $name<'a> {
            fn of(consumer: &'a str, payments: &[&'a Payment]) -> Self {
                let sums = |sum: fn(&Totals) -> i64| column(payments, |payment| sum(&payment.totals));
                Self {
                    consumer,
                    sources: column(payments, |payment| payment.key.source.as_str()),
                    payment_ids: column(payments, |payment| payment.key.payment_id.as_str()),
                    merchants: column(payments, |payment| payment.merchant.as_ref().map(MerchantId::as_str)),
                    states: column(payments, |payment| payment.state().as_str()),
                    amounts_minor: column(payments, |payment| payment.amount().map_or(0, Money::minor_units)),
                    currencies: column(payments, |payment| payment.currency.as_ref().map(Currency::code)),
                    standings_at: column(payments, |payment| {
                        payment.standing.map(|standing| rows::moment(standing.at))
                    }),
                    standing_stages: column(payments, |payment| {
                        payment.standing.map(|standing| standing.stage.rank())
                    }),
                    authorised: sums(|totals| totals.authorised),
                    captured: sums(|totals| totals.captured),
                    charged: sums(|totals| totals.charged),
                    refunded_singly: sums(|totals| totals.refunded_singly),
                    refunded_in_all: sums(|totals| totals.refunded_in_all),
                    refunds_failed: sums(|totals| totals.refunds_failed),
                    disputes_opened: sums(|totals| totals.disputes_opened),
                    disputes_won: sums(|totals| totals.disputes_won),
                    disputes_lost: sums(|totals| totals.disputes_lost),
                    captures_closed: column(payments, |payment| payment.captures_closed),
                    last_event_ids: column(payments, |payment| payment.last_event.as_str()),
                    revisions: column(payments, |payment| payment.revision),
                }
            }
        }
    };
}

payments_statement! {
    /// Stores new payments, except those that exist.
    CreatePayments {
        "INSERT INTO payments \
           (consumer, source, payment_id, merchant, state, amount_minor, currency, standing_at, \
            standing_stage, authorised_minor, captured_minor, charged_minor, refunded_singly_minor, \
            refunded_in_all_minor, refunds_failed_minor, disputes_opened_minor, disputes_won_minor, \
            disputes_lost_minor, captures_closed, last_event_id, revision) \
         SELECT * FROM given ORDER BY source COLLATE \"C\", payment_id COLLATE \"C\" \
         ON CONFLICT (consumer, source, payment_id) DO NOTHING"
    }
}

payments_statement! {
    /// Changes payments that are one revision behind. They are locked already.
    ChangePayments {
        "UPDATE payments AS stored \
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
           revision = given.revision, updated_at = clock_timestamp() \
         FROM given \
         WHERE stored.consumer = given.consumer AND stored.source = given.source \
           AND stored.payment_id = given.payment_id AND stored.revision = given.revision - 1"
    }
}

fn column<'a, T>(payments: &[&'a Payment], value: impl Fn(&'a Payment) -> T) -> Vec<T> {
    payments.iter().map(|payment| value(payment)).collect()
}

/// The payments that exist of `keys`, locked, in key order.
pub(in crate::outbound::postgres) async fn lock(
    session: &mut Session,
    consumer: &str,
    keys: &[PaymentKey],
) -> Result<Vec<Payment>, StoreError> {
    let lock = LockPayments {
        sources: keys.iter().map(|key| key.source.as_str()).collect(),
        payment_ids: keys.iter().map(|key| key.payment_id.as_str()).collect(),
        consumer,
    };
    let found: Vec<PaymentRow<PgTimestamp>> = session.rows(lock).await?;
    let payments: Result<Vec<Payment>, StoreError> =
        found.into_iter().map(|row| payment_row::payment(row, rows::timestamp)).collect();
    payments.map_err(|error| session.fail(error))
}

/// Stores payments as they are now.
pub(in crate::outbound::postgres) async fn save(
    session: &mut Session,
    consumer: &str,
    payments: &[Payment],
) -> Result<(), StoreError> {
    let (created, changed): (Vec<&Payment>, Vec<&Payment>) =
        payments.iter().partition(|payment| payment.revision == 1);
    if !created.is_empty() {
        let count = session.change(CreatePayments::of(consumer, &created)).await?;
        session.expect_rows(count, created.len(), "another unit has created a payment meanwhile")?;
    }
    if !changed.is_empty() {
        let count = session.change(ChangePayments::of(consumer, &changed)).await?;
        session.expect_rows(count, changed.len(), "another unit has changed a payment meanwhile")?;
    }
    Ok(())
}
