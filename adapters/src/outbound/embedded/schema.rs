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
    }
}

diesel::table! {
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
        unclean_stops -> BigInt,
        reason -> Text,
        detail -> Text,
        dead_lettered_at -> BigInt,
        release -> Text,
    }
}

diesel::table! {
    probe (id) {
        id -> BigInt,
        padding -> Binary,
    }
}
