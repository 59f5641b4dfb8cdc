//! What the queue carries: the bytes as they came, and what is needed to judge them later.

use bytes::Bytes;
use domain::{EventKey, Timestamp};

/// One event on its way: the raw payload of the request that brought it, and one event key.
///
/// A request that carries several events becomes several envelopes with the same payload, so that each is
/// deduplicated, retried and dead-lettered by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// Which event of the payload this envelope stands for.
    pub key: EventKey,
    /// When the request arrived. The signature's age was judged then, and is never judged again.
    pub received_at: Timestamp,
    /// When it was put into the main queue: on its arrival, or when an operator let it in or replayed it later.
    /// Its budgets of time count from then.
    pub queued_at: Timestamp,
    /// The request's `Content-Type`, where it had one.
    pub content_type: Option<String>,
    /// The request headers that the provider's translation needs, by lower-case name.
    pub headers: Vec<(String, String)>,
    /// The trace that the request belongs to.
    pub trace: TraceContext,
    /// The request body, byte for byte.
    pub payload: Bytes,
}

/// A W3C trace context, as text, so that no telemetry library is needed to carry it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceContext {
    /// `traceparent`, where there is a trace.
    pub traceparent: Option<String>,
    /// `tracestate`, where there is one.
    pub tracestate: Option<String>,
}
