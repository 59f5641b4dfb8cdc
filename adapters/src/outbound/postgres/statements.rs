//! The statements of a unit of work: one for each table and verb, over any number of rows.
//!
//! Every statement takes its locks in the order of the keys, byte by byte (`COLLATE "C"`), so that two batches
//! with the same keys never wait for each other in a circle. A conflict is let pass only on the table's own
//! key: any other unique rule is somebody's business rule, and breaking it is an error.

use diesel::pg::data_types::PgTimestamp;
use diesel::sql_types::{Array, BigInt, Binary, Nullable, SmallInt, Text, Timestamptz};

use super::statement::statement;

statement! {
    /// Stores the events whose key is new, and gives their keys. Waits for other units that store the same key.
    ClaimEvents<'a> -> (Text, Text) {
        "INSERT INTO processed_events \
           (consumer, event_id, source, fingerprint, outcome, payment_id, received_at) \
         SELECT " consumer: &'a str => Text,
        ", event_id, source, fingerprint, outcome, payment_id, received_at \
         FROM unnest(" event_ids: Vec<&'a str> => Array<Text>,
        ", " sources: Vec<&'a str> => Array<Text>,
        ", " fingerprints: Vec<&'a [u8]> => Array<Binary>,
        ", " outcomes: Vec<i16> => Array<SmallInt>,
        ", " payment_ids: Vec<Option<&'a str>> => Array<Nullable<Text>>,
        ", " received_at: Vec<PgTimestamp> => Array<Timestamptz>,
        ") AS given (event_id, source, fingerprint, outcome, payment_id, received_at) \
         ORDER BY event_id COLLATE \"C\", source COLLATE \"C\" \
         ON CONFLICT (event_id, source, consumer) DO NOTHING \
         RETURNING event_id, source"
    }
}

statement! {
    /// The meaning that is stored for keys, each with the ordinal number of its key.
    StoredFingerprints<'a> -> (BigInt, Binary) {
        "SELECT given.ordinality, stored.fingerprint \
         FROM unnest(" event_ids: Vec<&'a str> => Array<Text>,
        ", " sources: Vec<&'a str> => Array<Text>,
        ") WITH ORDINALITY AS given (event_id, source, ordinality) \
         JOIN processed_events AS stored USING (event_id, source) \
         WHERE stored.consumer = " consumer: &'a str => Text,
        ""
    }
}

statement! {
    /// Payments, locked in key order: the rows are sorted first and locked then.
    LockPayments<'a> -> (Text, Text, Text, BigInt, Text, Text, BigInt) {
        "SELECT stored.source, stored.payment_id, stored.state, stored.amount_minor, stored.currency, \
           stored.last_event_id, stored.revision \
         FROM unnest(" sources: Vec<&'a str> => Array<Text>,
        ", " payment_ids: Vec<&'a str> => Array<Text>,
        ") AS given (source, payment_id) \
         JOIN payments AS stored USING (source, payment_id) \
         ORDER BY stored.source, stored.payment_id \
         FOR UPDATE OF stored"
    }
}

statement! {
    /// Stores new payments, except those that exist.
    CreatePayments<'a> -> () {
        "INSERT INTO payments (source, payment_id, state, amount_minor, currency, last_event_id, revision) \
         SELECT source, payment_id, state, amount_minor, currency, last_event_id, revision \
         FROM unnest(" sources: Vec<&'a str> => Array<Text>,
        ", " payment_ids: Vec<&'a str> => Array<Text>,
        ", " states: Vec<&'a str> => Array<Text>,
        ", " amounts_minor: Vec<i64> => Array<BigInt>,
        ", " currencies: Vec<&'a str> => Array<Text>,
        ", " last_event_ids: Vec<&'a str> => Array<Text>,
        ", " revisions: Vec<i64> => Array<BigInt>,
        ") AS given (source, payment_id, state, amount_minor, currency, last_event_id, revision) \
         ORDER BY source COLLATE \"C\", payment_id COLLATE \"C\" \
         ON CONFLICT (source, payment_id) DO NOTHING"
    }
}

statement! {
    /// Changes payments that are one revision behind. They are locked already.
    ChangePayments<'a> -> () {
        "UPDATE payments AS stored \
         SET state = given.state, amount_minor = given.amount_minor, currency = given.currency, \
           last_event_id = given.last_event_id, revision = given.revision, updated_at = clock_timestamp() \
         FROM unnest(" sources: Vec<&'a str> => Array<Text>,
        ", " payment_ids: Vec<&'a str> => Array<Text>,
        ", " states: Vec<&'a str> => Array<Text>,
        ", " amounts_minor: Vec<i64> => Array<BigInt>,
        ", " currencies: Vec<&'a str> => Array<Text>,
        ", " last_event_ids: Vec<&'a str> => Array<Text>,
        ", " revisions: Vec<i64> => Array<BigInt>,
        ") AS given (source, payment_id, state, amount_minor, currency, last_event_id, revision) \
         WHERE stored.source = given.source AND stored.payment_id = given.payment_id \
           AND stored.revision = given.revision - 1"
    }
}

statement! {
    /// Turns claimed events into recorded ones.
    MarkRecorded<'a> -> () {
        "UPDATE processed_events AS stored SET outcome = 2 \
         FROM unnest(" event_ids: Vec<&'a str> => Array<Text>,
        ", " sources: Vec<&'a str> => Array<Text>,
        ") AS given (event_id, source) \
         WHERE stored.event_id = given.event_id AND stored.source = given.source \
           AND stored.consumer = " consumer: &'a str => Text,
        ""
    }
}

statement! {
    /// Stores why events had no effect, and their bytes.
    StoreRecorded<'a> -> () {
        "INSERT INTO recorded_events (consumer, event_id, source, kind, reason, payload) \
         SELECT " consumer: &'a str => Text,
        ", event_id, source, kind, reason, payload \
         FROM unnest(" event_ids: Vec<&'a str> => Array<Text>,
        ", " sources: Vec<&'a str> => Array<Text>,
        ", " kinds: Vec<&'a str> => Array<Text>,
        ", " reasons: Vec<&'a str> => Array<Text>,
        ", " payloads: Vec<&'a [u8]> => Array<Binary>,
        ") AS given (event_id, source, kind, reason, payload)"
    }
}
