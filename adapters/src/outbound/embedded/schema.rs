//! The tables of `migrations/embedded`, as diesel sees them.

diesel::table! {
    events (id) {
        id -> BigInt,
        source -> Text,
        event_id -> Text,
        received_at -> BigInt,
        content_type -> Nullable<Text>,
        headers -> Text,
        traceparent -> Nullable<Text>,
        tracestate -> Nullable<Text>,
        payload -> Binary,
        failed_attempts -> BigInt,
        history -> Text,
        unclean_stops -> BigInt,
        due_at -> Nullable<BigInt>,
        queued_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    // All but `unclean_stops`, which is only copied: diesel takes no more columns at once than these.
    dead_letters (id) {
        id -> BigInt,
        source -> Text,
        event_id -> Text,
        received_at -> BigInt,
        content_type -> Nullable<Text>,
        headers -> Text,
        traceparent -> Nullable<Text>,
        tracestate -> Nullable<Text>,
        payload -> Binary,
        failed_attempts -> BigInt,
        history -> Text,
        reason -> Text,
        detail -> Text,
        dead_lettered_at -> BigInt,
        release -> Text,
        worker -> Nullable<Text>,
    }
}

diesel::table! {
    probe (id) {
        id -> BigInt,
        padding -> Binary,
    }
}
