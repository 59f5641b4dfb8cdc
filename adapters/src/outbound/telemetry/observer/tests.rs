use std::sync::{Arc, Mutex};

use application::DuplicateLayer;
use application::ports::event_queue::QueueDepths;
use application::testing::source_name;
use domain::RecordReason;
use opentelemetry::metrics::MeterProvider as _;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use prometheus::{Registry, TextEncoder};

use super::*;
use crate::outbound::telemetry::register_queue_depths;

fn scraped(record: impl FnOnce(&Meter)) -> String {
    let registry = Registry::new();
    let exporter = opentelemetry_prometheus::exporter()
        .with_registry(registry.clone())
        .scope_info_enabled(false)
        .without_target_info()
        .build()
        .unwrap();
    let provider = SdkMeterProvider::builder().with_reader(exporter).build();
    record(&provider.meter("payonce"));
    TextEncoder::new().encode_to_string(&registry.gather()).unwrap()
}

fn has_line(text: &str, line: &str) {
    assert!(text.lines().any(|l| l == line), "{line} is not in\n{text}");
}

#[test]
fn events_are_counted_under_the_documented_names_and_labels() {
    let text = scraped(|meter| {
        let observer = OpenTelemetryObserver::new(meter);
        let (source, second) = (source_name(), Duration::from_secs(1));
        observer.request_answered(&source, "accepted", second);
        observer.events_accepted(&source, 3);
        observer.event_processed(&source, &Disposition::Applied, second);
        observer.event_processed(&source, &Disposition::Recorded(RecordReason::NoEffect), second);
        observer.event_processed(&source, &Disposition::Duplicate(DuplicateLayer::Cache), second);
        observer.event_retried("transient");
        observer.event_dead_lettered(&DeadLetterReason::Unreadable("x".to_owned()));
        observer.batch_processed(5, second);
        observer.paused(true);
    });
    for line in [
        r#"payonce_requests_total{outcome="accepted",source="payment"} 1"#,
        r#"payonce_events_accepted_total{source="payment"} 3"#,
        r#"payonce_events_processed_total{outcome="applied",source="payment"} 1"#,
        r#"payonce_events_processed_total{outcome="duplicate",source="payment"} 1"#,
        r#"payonce_duplicates_total{layer="cache"} 1"#,
        r#"payonce_retries_total{class="transient"} 1"#,
        r#"payonce_dead_letters_total{reason="unreadable"} 1"#,
        "payonce_acks_lost_total 0",
        "payonce_subscriptions_lost_total 0",
        "payonce_processing_paused 1",
        r#"payonce_accept_seconds_count{source="payment"} 1"#,
        "payonce_batch_size_count 1",
        "payonce_batch_seconds_count 1",
    ] {
        has_line(&text, line);
    }
}

#[test]
fn signatures_are_counted_by_secret_and_refusals_by_reason() {
    let text = scraped(|meter| {
        let observer = OpenTelemetryObserver::new(meter);
        for slot in [0, 1, 7, 8, 9, usize::MAX] {
            observer.signature_matched(&source_name(), slot);
        }
        observer.signature_refused(&source_name(), "wrong_signature");
    });
    for line in [
        r#"payonce_signatures_total{secret="0",source="payment"} 1"#,
        r#"payonce_signatures_total{secret="1",source="payment"} 1"#,
        r#"payonce_signatures_total{secret="7",source="payment"} 1"#,
        r#"payonce_signatures_total{secret="more",source="payment"} 3"#,
        r#"payonce_signature_refusals_total{reason="wrong_signature",source="payment"} 1"#,
    ] {
        has_line(&text, line);
    }
}

#[test]
fn the_age_is_that_of_events_this_run_committed() {
    let text = scraped(|meter| {
        let observer = OpenTelemetryObserver::new(meter);
        let age = Duration::from_secs(1);
        for disposition in [
            Disposition::Applied,
            Disposition::Recorded(RecordReason::NoEffect),
            Disposition::Duplicate(DuplicateLayer::Database),
            Disposition::DeadLetter(DeadLetterReason::Unreadable(String::new())),
        ] {
            observer.event_processed(&source_name(), &disposition, age);
        }
    });
    has_line(&text, r#"payonce_age_at_commit_seconds_count{source="payment"} 2"#);
}

#[test]
fn queue_depths_are_told_only_while_they_are_known() {
    let latest = Arc::new(Mutex::new(None));
    let unknown = scraped(|meter| {
        let _gauge = register_queue_depths(meter, latest.clone());
    });
    assert!(!unknown.contains("payonce_queue_depth"), "{unknown}");
    *latest.lock().unwrap() = Some(QueueDepths { main: 1, retry: 2, dead_letters: 3 });
    let known = scraped(|meter| {
        let _gauge = register_queue_depths(meter, latest);
    });
    for (queue, depth) in [("main", 1), ("retry", 2), ("dead_letters", 3)] {
        has_line(&known, &format!("payonce_queue_depth{{queue=\"{queue}\"}} {depth}"));
    }
}
