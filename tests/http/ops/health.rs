use std::sync::Arc;
use std::time::{Duration, Instant};

use adapters::inbound::ops::Metrics;
use application::ports::readiness::{MockReadinessCheck, ReadinessCheck};

use super::listener::{Ops, Setup};
use crate::client::send;

fn start(checks: Vec<Arc<dyn ReadinessCheck>>, metrics: Metrics) -> Ops {
    Ops::start(Setup { checks, metrics, ..Setup::default() })
}

fn no_metrics() -> Metrics {
    Arc::new(|| Ok(String::new()))
}

fn part(name: &'static str, answer: Result<(), String>) -> Arc<dyn ReadinessCheck> {
    let mut part = MockReadinessCheck::new();
    part.expect_component().return_const(name);
    part.expect_required().return_const(true);
    part.expect_check().returning(move || answer.clone());
    Arc::new(part)
}

/// A part that blocks for as long as a lost host would.
struct Silent;

#[async_trait::async_trait]
impl ReadinessCheck for Silent {
    fn component(&self) -> &'static str {
        "store"
    }

    fn required(&self) -> bool {
        true
    }

    async fn check(&self) -> Result<(), String> {
        std::future::pending().await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_are_text_and_a_failure_to_gather_them_is_told() {
    let ops = start(Vec::new(), Arc::new(|| Ok("payonce_up 1\n".to_owned())));
    let answer = send(ops.address, "GET", "/metrics", &[], b"").await;
    assert_eq!((answer.status, answer.body.as_slice()), (200, &b"payonce_up 1\n"[..]));
    assert!(answer.header("content-type").unwrap().starts_with("text/plain; version=0.0.4"));
    let ops = start(Vec::new(), Arc::new(|| Err("broken".to_owned())));
    assert_eq!(send(ops.address, "GET", "/metrics", &[], b"").await.status, 500);
}

#[tokio::test(flavor = "multi_thread")]
async fn readiness_says_which_part_is_down_and_liveness_does_not_care() {
    let checks = vec![part("broker", Ok(())), part("cache", Err("gone".to_owned()))];
    let ops = start(checks, no_metrics());
    let answer = send(ops.address, "GET", "/health/ready", &[], b"").await;
    assert_eq!(answer.status, 503);
    let report = answer.json();
    assert_eq!(report["status"], "not_ready");
    assert_eq!(report["components"]["broker"]["status"], "up");
    assert_eq!(report["components"]["cache"]["status"], "down");
    assert_eq!(report["components"]["cache"]["detail"], "gone");
    assert_eq!(send(ops.address, "GET", "/health/live", &[], b"").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_that_never_answers_holds_up_nothing() {
    let ops = start(vec![Arc::new(Silent), part("broker", Ok(()))], no_metrics());
    let started = Instant::now();
    let answer = send(ops.address, "GET", "/health/ready", &[], b"").await;
    assert_eq!(answer.status, 503);
    assert!(started.elapsed() < Duration::from_secs(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draining_process_says_so() {
    let ops = start(vec![part("broker", Ok(()))], no_metrics());
    let before = send(ops.address, "GET", "/health/ready", &[], b"").await;
    assert_eq!((before.status, before.json()["status"].as_str()), (200, Some("ready")));
    ops.draining.cancel();
    let after = send(ops.address, "GET", "/health/ready", &[], b"").await;
    assert_eq!((after.status, after.json()["status"].as_str()), (503, Some("draining")));
    ops.stop.cancel();
    tokio::time::timeout(Duration::from_secs(5), ops.stopped).await.expect("it ends").unwrap().unwrap();
}
