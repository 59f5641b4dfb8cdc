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
    /// Payments, each looked up and locked in the order in which their keys are given.
    LockPayments<'a> -> PaymentSql {
        "SELECT stored.source, stored.payment_id, stored.merchant, stored.last_event_id, stored.revision, \
           stored.currency, stored.standing_at, stored.standing_stage, stored.captures_closed, \
           stored.authorised_minor, stored.captured_minor, stored.charged_minor, \
           stored.refunded_singly_minor, stored.refunded_in_all_minor, stored.refunds_failed_minor, \
           stored.disputes_opened_minor, stored.disputes_won_minor, stored.disputes_lost_minor \
         FROM unnest(" sources: Vec<&'a str> => Array<Text>,
        ", " payment_ids: Vec<&'a str> => Array<Text>,
        ") AS given (source, payment_id) CROSS JOIN LATERAL \
           (SELECT * FROM payments AS p WHERE p.payment_id = given.payment_id AND p.source = given.source \
              AND p.consumer = " consumer: &'a str => Text,
        " LIMIT 1 FOR UPDATE) AS stored"
    }
}

/// Declares a statement over whole payments, given by column, each of the same consumer.
macro_rules! payments_statement {
    ($(#[$doc:meta])* $name:ident { $before:literal $after:literal }) => {
        statement! {
            $(#[$doc])*
            $name<'a> -> () {
                $before
                consumer: &'a str => Text,
                " AS consumer, unnest(" sources: Vec<&'a str> => Array<Text>,
                ") AS source, unnest(" payment_ids: Vec<&'a str> => Array<Text>,
                ") AS payment_id, unnest(" merchants: Vec<Option<&'a str>> => Array<Nullable<Text>>,
                ") AS merchant, unnest(" states: Vec<&'a str> => Array<Text>,
                ") AS state, unnest(" amounts_minor: Vec<i64> => Array<BigInt>,
                ") AS amount_minor, unnest(" currencies: Vec<Option<&'a str>> => Array<Nullable<Text>>,
                ") AS currency, unnest(" standings_at: Vec<Option<PgTimestamp>> => Array<Nullable<Timestamptz>>,
                ") AS standing_at, unnest(" standing_stages: Vec<Option<i16>> => Array<Nullable<SmallInt>>,
                ") AS standing_stage, unnest(" authorised: Vec<i64> => Array<BigInt>,
                ") AS authorised_minor, unnest(" captured: Vec<i64> => Array<BigInt>,
                ") AS captured_minor, unnest(" charged: Vec<i64> => Array<BigInt>,
                ") AS charged_minor, unnest(" refunded_singly: Vec<i64> => Array<BigInt>,
                ") AS refunded_singly_minor, unnest(" refunded_in_all: Vec<i64> => Array<BigInt>,
                ") AS refunded_in_all_minor, unnest(" refunds_failed: Vec<i64> => Array<BigInt>,
                ") AS refunds_failed_minor, unnest(" disputes_opened: Vec<i64> => Array<BigInt>,
                ") AS disputes_opened_minor, unnest(" disputes_won: Vec<i64> => Array<BigInt>,
                ") AS disputes_won_minor, unnest(" disputes_lost: Vec<i64> => Array<BigInt>,
                ") AS disputes_lost_minor, unnest(" captures_closed: Vec<bool> => Array<Bool>,
                ") AS captures_closed, unnest(" last_event_ids: Vec<&'a str> => Array<Text>,
                ") AS last_event_id, unnest(" revisions: Vec<i64> => Array<BigInt>,
                ") AS revision"
                $after
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
    /// Stores new payments, except those that exist: two units that meet at a new payment are nothing unusual, and
    /// the server logs every key that is violated.
    CreatePayments {
        "INSERT INTO payments \
           (consumer, source, payment_id, merchant, state, amount_minor, currency, standing_at, \
            standing_stage, authorised_minor, captured_minor, charged_minor, refunded_singly_minor, \
            refunded_in_all_minor, refunds_failed_minor, disputes_opened_minor, disputes_won_minor, \
            disputes_lost_minor, captures_closed, last_event_id, revision) \
         SELECT "
        " ON CONFLICT (consumer, source, payment_id) DO NOTHING"
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
         FROM (SELECT "
        ") AS given \
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
    let mut keys: Vec<&PaymentKey> = keys.iter().collect();
    keys.sort_unstable();
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
    let (mut created, changed): (Vec<&Payment>, Vec<&Payment>) =
        payments.iter().partition(|payment| payment.revision == 1);
    created.sort_unstable_by_key(|payment| &payment.key);
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
