use std::sync::atomic::{AtomicU64, Ordering};

use application::ports::event_queue::{QueueDepths, QueueError, QueueInspector};
use application::ports::store_audit::{StoreAudit, StoreTotals, Violation};
use application::ports::unit_of_work::StoreError;
use async_trait::async_trait;
use clap::Parser;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;

/// A store that is empty at first, and then has `settled` events.
struct Fixed {
    settled: u64,
    asked: AtomicU64,
    violations: Vec<Violation>,
}

#[async_trait]
impl StoreAudit for Fixed {
    async fn violations(&self, _limit: u32) -> Result<Vec<Violation>, StoreError> {
        Ok(self.violations.clone())
    }

    async fn totals<'a>(&self, _prefix: Option<&'a str>) -> Result<StoreTotals, StoreError> {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        // The first two questions are for the baseline.
        let applied = if asked < 2 { 0 } else { self.settled };
        Ok(StoreTotals { applied, ..StoreTotals::default() })
    }
}

struct Empty;

#[async_trait]
impl QueueInspector for Empty {
    async fn depths(&self) -> Result<QueueDepths, QueueError> {
        Ok(QueueDepths::default())
    }
}

fn system(settled: u64, violations: Vec<Violation>) -> SystemUnderTest {
    let store = Fixed { settled, asked: 0.into(), violations };
    SystemUnderTest { store: Arc::new(store), queue: Arc::new(Empty) }
}

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    args: LoadtestArgs,
}

fn args(text: &str) -> LoadtestArgs {
    let words = std::iter::once("loadtest").chain(text.split_ascii_whitespace());
    Cli::try_parse_from(words).unwrap().args
}

/// Says 200 to everything; requests here are small enough to come in one piece.
async fn agreeable() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let mut buffer = [0; 4_096];
                while stream.read(&mut buffer).await.is_ok_and(|read| read > 0) {
                    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
                }
            });
        }
    });
    url
}

#[tokio::test]
async fn a_good_run_is_clean_and_reports_every_figure() {
    let target = agreeable().await;
    let args = args(&format!("--target {target} --events 100 --duplicates 10 --run good"));
    let report = run(args, Some(system(90, Vec::new()))).await.unwrap();
    assert!(report.clean(), "{report}");
    assert_eq!((report.accepted, report.copies, report.committed), (90, 10, Some(90)));
    assert!(report.accepted_per_second.is_some() && report.committed_per_second.is_some());
    let text = report.to_string();
    assert!(text.contains("every invariant holds") && text.contains("accept ms"), "{text}");
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["run"], "good-");
    assert_eq!(json["accounting"]["applied"], 90);
}

#[tokio::test]
async fn what_never_comes_is_missing_and_the_run_not_clean() {
    let target = agreeable().await;
    let args = args(&format!("--target {target} --events 10 --drain-timeout 0 --connections 2"));
    let report = run(args, Some(system(9, Vec::new()))).await.unwrap();
    assert_eq!(report.missing, 1);
    assert!(!report.clean());
    assert!(report.to_string().contains("1 of 10 events are not committed"), "{report}");
    assert!(report.to_string().contains("LOST"), "{report}");
}

#[tokio::test]
async fn a_broken_invariant_makes_a_run_unclean() {
    let target = agreeable().await;
    let broken = Violation { invariant: "key_processed_once", detail: "evt_1".to_owned() };
    let args = args(&format!("--target {target} --events 10"));
    let report = run(args, Some(system(10, vec![broken]))).await.unwrap();
    assert_eq!(report.problems, ["key_processed_once: evt_1"]);
}

#[tokio::test]
async fn without_a_system_only_the_answers_are_reported() {
    let target = agreeable().await;
    let report = run(args(&format!("--target {target} --events 10 --rate 1000")), None).await.unwrap();
    assert!(report.clean() && !report.audited);
    assert_eq!((report.accepted, report.committed), (10, None));
    let nobody = run(args("--target http://127.0.0.1:1/ --events 3"), None).await.unwrap();
    assert_eq!(nobody.problems, ["nothing was accepted"]);
}

#[tokio::test]
async fn arguments_that_make_no_sense_are_errors() {
    for (text, says) in [
        ("--target https://example.com/", "plain http only"),
        ("--run a/b", "--run"),
        ("--secret-file /nonexistent", "--secret-file"),
        ("--metrics ftp://x/", "--metrics"),
        ("--drain-only", "nothing to ask"),
    ] {
        let error = format!("{:#}", run(args(text), None).await.unwrap_err());
        assert!(error.contains(says), "{text}: {error}");
    }
    for text in ["--count-url x", "--accept-only --drain-only", "--duplicates 100", "--expect 3", "--rate 0"]
    {
        let words = std::iter::once("loadtest").chain(text.split_ascii_whitespace());
        assert!(Cli::try_parse_from(words).is_err(), "{text}");
    }
}
