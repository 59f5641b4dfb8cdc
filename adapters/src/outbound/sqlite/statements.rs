//! The statements of a unit of work: one for each table and verb, over any number of rows.
//!
//! A conflict is let pass only on the table's own key: any other unique rule is somebody's business rule, and
//! breaking it is an error. `CROSS JOIN` has SQLite look up the given rows one by one, in any version and
//! whatever it believes to know of the sizes of the tables.

use diesel::sql_types::{BigInt, Binary, Nullable, Text};

use super::statement::{row, statement};

row! {
    /// An event to claim.
    NewEvent<'a> {
        event_id: &'a str => Text,
        source: &'a str => Text,
        consumer: &'a str => Text,
        fingerprint: &'a [u8] => Binary,
        outcome: i64 => BigInt,
        payment_id: Option<&'a str> => Nullable<Text>,
        received_at: i64 => BigInt,
    }
}

row! {
    /// An event by its key.
    KnownEvent<'a> {
        event_id: &'a str => Text,
        source: &'a str => Text,
        consumer: &'a str => Text,
    }
}

row! {
    /// A payment by its key.
    KnownPayment<'a> {
        source: &'a str => Text,
        payment_id: &'a str => Text,
    }
}

row! {
    /// A payment.
    PaymentNow<'a> {
        source: &'a str => Text,
        payment_id: &'a str => Text,
        state: &'a str => Text,
        amount_minor: i64 => BigInt,
        currency: &'a str => Text,
        last_event_id: &'a str => Text,
        revision: i64 => BigInt,
    }
}

row! {
    /// An event without effect.
    Unapplied<'a> {
        event_id: &'a str => Text,
        source: &'a str => Text,
        consumer: &'a str => Text,
        kind: &'a str => Text,
        reason: &'a str => Text,
        payload: &'a [u8] => Binary,
    }
}

statement! {
    /// Stores the events whose key is new, and gives their keys.
    ClaimEvents over NewEvent -> (Text, Text) {
        "INSERT INTO processed_events \
           (event_id, source, consumer, fingerprint, outcome, payment_id, received_at) \
         VALUES ",
        " ON CONFLICT (event_id, source, consumer) DO NOTHING \
         RETURNING event_id, source"
    }
}

statement! {
    /// Keys and the meaning that is stored for them.
    StoredFingerprints over KnownEvent -> (Text, Text, Binary) {
        "WITH given (event_id, source, consumer) AS (VALUES ",
        ") SELECT stored.event_id, stored.source, stored.fingerprint \
         FROM given CROSS JOIN processed_events AS stored \
         WHERE stored.event_id = given.event_id AND stored.source = given.source \
           AND stored.consumer = given.consumer"
    }
}

statement! {
    /// Payments. They need no lock of their own: the transaction has that of the file.
    LoadPayments over KnownPayment -> (Text, Text, Text, BigInt, Text, Text, BigInt) {
        "WITH given (source, payment_id) AS (VALUES ",
        ") SELECT stored.source, stored.payment_id, stored.state, stored.amount_minor, stored.currency, \
           stored.last_event_id, stored.revision \
         FROM given CROSS JOIN payments AS stored \
         WHERE stored.source = given.source AND stored.payment_id = given.payment_id"
    }
}

statement! {
    /// Stores new payments, except those that exist.
    CreatePayments over PaymentNow -> () {
        "INSERT INTO payments \
           (source, payment_id, state, amount_minor, currency, last_event_id, revision) \
         VALUES ",
        " ON CONFLICT (source, payment_id) DO NOTHING"
    }
}

statement! {
    /// Stores changed payments, except those that have not the revision before.
    ChangePayments over PaymentNow -> () {
        "WITH given (source, payment_id, state, amount_minor, currency, last_event_id, revision) AS (VALUES ",
        ") UPDATE payments \
         SET state = given.state, amount_minor = given.amount_minor, currency = given.currency, \
           last_event_id = given.last_event_id, revision = given.revision, \
           updated_at = CAST(unixepoch('subsec') * 1000000 AS INTEGER) \
         FROM given \
         WHERE payments.source = given.source AND payments.payment_id = given.payment_id \
           AND payments.revision = given.revision - 1"
    }
}

statement! {
    /// Says of claimed events that they have no effect after all.
    MarkRecorded over KnownEvent -> () {
        "WITH given (event_id, source, consumer) AS (VALUES ",
        ") UPDATE processed_events SET outcome = 2 FROM given \
         WHERE processed_events.event_id = given.event_id AND processed_events.source = given.source \
           AND processed_events.consumer = given.consumer"
    }
}

statement! {
    /// Stores why events had no effect, and their bytes.
    StoreRecorded over Unapplied -> () {
        "INSERT INTO recorded_events (event_id, source, consumer, kind, reason, payload) VALUES ",
        ""
    }
}
