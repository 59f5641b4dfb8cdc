//! The statements of the outbox. All times are the server's.

use diesel::sql_types::{Array, BigInt, Bool, Integer, Nullable, Text, Timestamptz};

use crate::outbound::postgres::statement::statement;

/// The columns of a message.
pub(super) type EntrySql =
    (BigInt, Text, Text, Text, Text, Text, Text, Nullable<BigInt>, Nullable<Text>, Timestamptz);

statement! {
    /// Stores a destination that is not there.
    NameDestination<'a> -> () {
        "INSERT INTO outbox_destinations (consumer, destination, position, settled) \
         SELECT " consumer: &'a str => Text,
        ", " destination: &'a str => Text,
        ", start, start FROM (SELECT CASE WHEN " newest: bool => Bool,
        " THEN coalesce((SELECT max(seq) FROM outbox), 0) ELSE 0 END) AS given (start) \
         ON CONFLICT (consumer, destination) DO NOTHING"
    }
}

statement! {
    /// Takes the lease where it is over, or the owner's. Gives term, position and gaps.
    TakeLease<'a> -> (BigInt, BigInt, Text) {
        "UPDATE outbox_destinations \
         SET owner = " owner: &'a str => Text,
        ", term = term + 1, relayed_at = clock_timestamp(), \
           lease_until = clock_timestamp() + " lease_ms: i64 => BigInt,
        " * interval '1 millisecond' \
         WHERE consumer = " consumer: &'a str => Text,
        " AND destination = " destination: &'a str => Text,
        " AND (lease_until IS NULL OR lease_until <= clock_timestamp() OR owner = " same_owner: &'a str => Text,
        ") RETURNING term, position, gaps"
    }
}

statement! {
    /// Stores how far the destination has come and has the lease begin anew, if the term is still the lease's.
    MovePosition<'a> -> () {
        "UPDATE outbox_destinations SET relayed_at = clock_timestamp(), \
           position = " position: i64 => BigInt,
        ", gaps = " gaps: &'a str => Text,
        ", settled = " settled: i64 => BigInt,
        ", lease_until = clock_timestamp() + " lease_ms: i64 => BigInt,
        " * interval '1 millisecond' \
         WHERE consumer = " consumer: &'a str => Text,
        " AND destination = " destination: &'a str => Text,
        " AND term = " term: i64 => BigInt,
        ""
    }
}

statement! {
    /// Gives the lease back.
    ReleaseLease<'a> -> () {
        "UPDATE outbox_destinations SET lease_until = NULL \
         WHERE consumer = " consumer: &'a str => Text,
        " AND destination = " destination: &'a str => Text,
        " AND term = " term: i64 => BigInt,
        ""
    }
}

statement! {
    /// The messages at places in given ranges, all in one state of the table, the lowest places first; whether
    /// each is this consumer's, and whether an earlier message of its payment waits.
    ReadMessages<'a> -> (EntrySql, Bool, Bool) {
        "SELECT o.seq, o.id, o.kind, o.source, o.payment_id, o.account, o.fact, o.amount_minor, o.currency, \
           o.occurred_at, o.consumer = " consumer: &'a str => Text,
        ", EXISTS (SELECT 1 FROM outbox_retries AS r WHERE r.consumer = o.consumer \
             AND r.destination = " destination: &'a str => Text,
        " AND r.source = o.source AND r.payment_id = o.payment_id AND r.state = 'waiting') \
         FROM unnest(" firsts: Vec<i64> => Array<BigInt>,
        ", " lasts: Vec<i64> => Array<BigInt>,
        ") AS given (first, last) CROSS JOIN LATERAL \
           (SELECT * FROM outbox WHERE seq BETWEEN given.first AND given.last \
            ORDER BY seq LIMIT " limit_of_each: i64 => BigInt,
        ") AS o ORDER BY o.seq LIMIT " limit: i64 => BigInt,
        ""
    }
}

statement! {
    /// The messages of payments of which one is due, each with its failed attempts and the milliseconds since
    /// the first of them.
    DueMessages<'a> -> (EntrySql, Integer, BigInt) {
        "WITH due AS (SELECT DISTINCT source, payment_id FROM \
           (SELECT source, payment_id FROM outbox_retries \
            WHERE consumer = " due_consumer: &'a str => Text,
        " AND destination = " due_destination: &'a str => Text,
        " AND state = 'waiting' AND next_at <= clock_timestamp() \
            ORDER BY next_at LIMIT " due_limit: i64 => BigInt,
        ") AS first_due) \
         SELECT o.seq, o.id, o.kind, o.source, o.payment_id, o.account, o.fact, o.amount_minor, o.currency, \
           o.occurred_at, r.attempts, \
           coalesce((extract(epoch FROM clock_timestamp() - r.first_tried_at) * 1000)::bigint, 0) \
         FROM due JOIN outbox_retries AS r USING (source, payment_id) JOIN outbox AS o USING (seq) \
         WHERE r.consumer = " consumer: &'a str => Text,
        " AND r.destination = " destination: &'a str => Text,
        " AND r.state = 'waiting' ORDER BY o.seq LIMIT " limit: i64 => BigInt,
        ""
    }
}

statement! {
    /// How many messages wait, counted up to a limit.
    CountWaiting<'a> -> BigInt {
        "SELECT count(*) FROM (SELECT 1 FROM outbox_retries \
         WHERE consumer = " consumer: &'a str => Text,
        " AND destination = " destination: &'a str => Text,
        " AND state = 'waiting' LIMIT " limit: i64 => BigInt,
        ") AS waiting"
    }
}

statement! {
    /// Keeps messages that were not taken: how often they were tried, when they are next (null: never by
    /// themselves), and why.
    KeepMessages<'a> -> () {
        "INSERT INTO outbox_retries (consumer, destination, seq, source, payment_id, state, attempts, next_at, \
           first_tried_at, last_error) \
         SELECT " consumer: &'a str => Text,
        ", " destination: &'a str => Text,
        ", seq, source, payment_id, state, attempts, clock_timestamp() + wait_ms * interval '1 millisecond', \
           CASE WHEN last_error IS NOT NULL THEN clock_timestamp() END, last_error \
         FROM unnest(" seqs: Vec<i64> => Array<BigInt>,
        ", " sources: Vec<&'a str> => Array<Text>,
        ", " payment_ids: Vec<&'a str> => Array<Text>,
        ", " states: Vec<&'a str> => Array<Text>,
        ", " attempts: Vec<i32> => Array<Integer>,
        ", " waits_ms: Vec<Option<i64>> => Array<Nullable<BigInt>>,
        ", " errors: Vec<Option<&'a str>> => Array<Nullable<Text>>,
        ") AS given (seq, source, payment_id, state, attempts, wait_ms, last_error) \
         ON CONFLICT (consumer, destination, seq) DO UPDATE \
         SET state = excluded.state, attempts = excluded.attempts, next_at = excluded.next_at, \
           first_tried_at = coalesce(outbox_retries.first_tried_at, excluded.first_tried_at), \
           last_error = excluded.last_error"
    }
}

statement! {
    /// Forgets messages that are delivered.
    ForgetMessages<'a> -> () {
        "DELETE FROM outbox_retries \
         WHERE consumer = " consumer: &'a str => Text,
        " AND destination = " destination: &'a str => Text,
        " AND seq = ANY(" seqs: Vec<i64> => Array<BigInt>,
        ")"
    }
}

statement! {
    /// Has the first message that waits of each payment be tried at once, unless it has a time of its own.
    PromoteMessages<'a> -> () {
        "UPDATE outbox_retries AS r SET next_at = clock_timestamp() \
         FROM (SELECT source, payment_id, min(seq) AS seq \
           FROM unnest(" sources: Vec<&'a str> => Array<Text>,
        ", " payment_ids: Vec<&'a str> => Array<Text>,
        ") AS given (source, payment_id) JOIN outbox_retries AS w USING (source, payment_id) \
           WHERE w.consumer = " given_consumer: &'a str => Text,
        " AND w.destination = " given_destination: &'a str => Text,
        " AND w.state = 'waiting' GROUP BY source, payment_id) AS first \
         WHERE r.consumer = " consumer: &'a str => Text,
        " AND r.destination = " destination: &'a str => Text,
        " AND r.seq = first.seq AND r.next_at IS NULL"
    }
}

statement! {
    /// How far the destinations have come: places behind, age of the oldest message that was not handed out in
    /// milliseconds, how many wait, how many have failed.
    Depths<'a> -> (Text, BigInt, BigInt, BigInt, BigInt) {
        "SELECT d.destination, \
           greatest(coalesce((SELECT max(seq) FROM outbox), 0) - d.position, 0), \
           coalesce((SELECT (extract(epoch FROM clock_timestamp() - o.created_at) * 1000)::bigint \
             FROM outbox AS o WHERE o.consumer = d.consumer AND o.seq > d.position ORDER BY o.seq LIMIT 1), 0), \
           (SELECT count(*) FROM outbox_retries AS r WHERE r.consumer = d.consumer \
             AND r.destination = d.destination AND r.state = 'waiting'), \
           (SELECT count(*) FROM outbox_retries AS r WHERE r.consumer = d.consumer \
             AND r.destination = d.destination AND r.state = 'failed') \
         FROM outbox_destinations AS d WHERE d.consumer = " consumer: &'a str => Text,
        " ORDER BY d.destination"
    }
}

statement! {
    /// Removes the oldest messages, where they are older than an age and everybody has them. Only as many rows
    /// are looked at as may be removed, since there is no index over their age. The last row always stays: it
    /// tells the highest place.
    RemoveMessages<'a> -> () {
        "DELETE FROM outbox WHERE seq IN (SELECT seq FROM \
           (SELECT o.seq, o.created_at FROM outbox AS o \
            WHERE o.consumer = " consumer: &'a str => Text,
        " AND o.seq < (SELECT max(seq) FROM outbox) \
              AND o.seq <= coalesce((SELECT min(d.settled) FROM outbox_destinations AS d \
                WHERE d.consumer = " destinations_of: &'a str => Text,
        " AND d.relayed_at > now() - " unused_ms: i64 => BigInt,
        " * interval '1 millisecond'), 9223372036854775807) \
              AND NOT EXISTS (SELECT 1 FROM outbox_retries AS r \
                WHERE r.consumer = o.consumer AND r.seq = o.seq) \
            ORDER BY o.seq LIMIT " limit: i64 => BigInt,
        ") AS oldest WHERE created_at < now() - " age_ms: i64 => BigInt,
        " * interval '1 millisecond')"
    }
}

statement! {
    /// Notes that messages are missing on purpose.
    NotePurge<'a> -> () {
        "INSERT INTO purges (consumer, purged, before) \
         VALUES (" consumer: &'a str => Text,
        ", 'outbox', now() - " age_ms: i64 => BigInt,
        " * interval '1 millisecond') \
         ON CONFLICT (consumer, purged) DO UPDATE SET before = greatest(purges.before, excluded.before)"
    }
}
