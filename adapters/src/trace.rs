//! W3C trace context between text, as headers and queues carry it, and `tracing` spans.
//!
//! Text that is not valid is ignored, never an error: a sender's broken tracing must not cost an event.

use std::str::FromStr;

use application::TraceContext;
use opentelemetry::Context;
use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// The longest `tracestate` that is passed on, in bytes: what the standard asks everyone to carry.
pub const TRACESTATE_BYTES_MAX: usize = 512;

/// The trace context of a request's headers, with only what is valid of it.
pub fn from_headers(traceparent: Option<&[u8]>, tracestate: Option<&[u8]>) -> TraceContext {
    let valid = |value: &&str| parse_traceparent(value).is_some();
    let Some(traceparent) = traceparent.and_then(text).filter(valid) else {
        return TraceContext::default();
    };
    TraceContext {
        traceparent: Some(traceparent.to_owned()),
        tracestate: tracestate
            .and_then(text)
            .filter(|value| parse_tracestate(value).is_some())
            .map(str::to_owned),
    }
}

/// The remote span that `trace` names, where it validly names one.
pub fn span_context(trace: &TraceContext) -> Option<SpanContext> {
    let (trace_id, span_id, flags) = parse_traceparent(trace.traceparent.as_deref()?)?;
    let state = trace.tracestate.as_deref().and_then(parse_tracestate).unwrap_or_default();
    Some(SpanContext::new(trace_id, span_id, flags, true, state))
}

/// Makes `span` a child of the remote span that `trace` names. Does nothing when there is none, or when no
/// exporter listens.
pub fn set_remote_parent(span: &Span, trace: &TraceContext) {
    if span.is_disabled() {
        return;
    }
    if let Some(remote) = span_context(trace) {
        let parent = Context::new().with_remote_span_context(remote);
        if span.set_parent(parent).is_err() {
            tracing::trace!("no exporter listens; the remote parent is only passed on");
        }
    }
}

/// The context of `span` as text; `None` when no exporter listens.
pub fn of_span(span: &Span) -> Option<TraceContext> {
    if span.is_disabled() {
        return None;
    }
    let context = span.context();
    let span_ref = context.span();
    let own = span_ref.span_context();
    if !own.is_valid() {
        return None;
    }
    let state = own.trace_state().header();
    Some(TraceContext {
        traceparent: Some(format!(
            "00-{}-{}-{:02x}",
            own.trace_id(),
            own.span_id(),
            own.trace_flags() & TraceFlags::SAMPLED
        )),
        tracestate: (!state.is_empty()).then_some(state),
    })
}

fn text(value: &[u8]) -> Option<&str> {
    std::str::from_utf8(value).ok().map(str::trim)
}

/// Strict where the SDK's propagator is lenient: exact lengths, lower-case hex only, no sign characters.
fn parse_traceparent(value: &str) -> Option<(TraceId, SpanId, TraceFlags)> {
    const LENGTH: usize = 55;
    let hex = |part: &str| part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    if !value.is_ascii() || value.len() < LENGTH {
        return None;
    }
    let (head, rest) = value.split_at(LENGTH);
    let mut parts = head.split('-');
    let (version, trace_id, span_id, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let shaped = [(version, 2), (trace_id, 32), (span_id, 16), (flags, 2)]
        .iter()
        .all(|(part, length)| part.len() == *length && hex(part));
    // A later version may append fields, after one more dash; version 00 may not, and ff is none.
    let ended = rest.is_empty() || (version != "00" && rest.starts_with('-'));
    if !shaped || !ended || version == "ff" || parts.next().is_some() {
        return None;
    }
    let trace_id = TraceId::from_hex(trace_id).ok()?;
    let span_id = SpanId::from_hex(span_id).ok()?;
    let flags = TraceFlags::new(u8::from_str_radix(flags, 16).ok()?) & TraceFlags::SAMPLED;
    (trace_id != TraceId::INVALID && span_id != SpanId::INVALID).then_some((trace_id, span_id, flags))
}

fn parse_tracestate(value: &str) -> Option<TraceState> {
    let printable = value.bytes().all(|b| matches!(b, b' '..=b'~' | b'\t'));
    if value.is_empty() || value.len() > TRACESTATE_BYTES_MAX || !printable {
        return None;
    }
    TraceState::from_str(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALID: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_valid_context_is_passed_on_as_it_came() {
        let trace = from_headers(Some(VALID.as_bytes()), Some(b"vendor=1,other=2"));
        assert_eq!(trace.traceparent.as_deref(), Some(VALID));
        assert_eq!(trace.tracestate.as_deref(), Some("vendor=1,other=2"));
        let span = span_context(&trace).unwrap();
        assert!(span.is_remote() && span.is_sampled());
        assert_eq!(span.trace_state().header(), "vendor=1,other=2");
    }

    #[test]
    fn what_is_not_a_traceparent_is_ignored_whole() {
        for wrong in [
            "",
            "00",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-+1",
            "00-4bf92f3577b34da6a3ce929d0e0e473-600f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0g",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7é-0",
        ] {
            let trace = from_headers(Some(wrong.as_bytes()), Some(b"vendor=1"));
            assert_eq!(trace, TraceContext::default(), "{wrong}");
        }
        assert_eq!(from_headers(Some(&[0xff; 55]), None), TraceContext::default());
    }

    #[test]
    fn a_later_version_is_read_by_its_known_part() {
        let later = "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more";
        assert!(from_headers(Some(later.as_bytes()), None).traceparent.is_some());
    }

    #[test]
    fn an_oversize_or_broken_tracestate_is_dropped_and_the_trace_kept() {
        let long = format!("vendor={}", "x".repeat(TRACESTATE_BYTES_MAX));
        for state in [long.as_bytes(), b"novalue", b"a=\x01", b"\xff"] {
            let trace = from_headers(Some(VALID.as_bytes()), Some(state));
            assert!(trace.traceparent.is_some());
            assert_eq!(trace.tracestate, None);
        }
    }

    #[test]
    fn a_span_that_nobody_exports_has_no_context() {
        let span = tracing::info_span!("quiet");
        set_remote_parent(&span, &from_headers(Some(VALID.as_bytes()), None));
        assert_eq!(of_span(&span), None);
    }
}
