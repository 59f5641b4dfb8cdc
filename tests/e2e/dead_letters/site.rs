//! A running installation, whichever services it has.

use std::time::{Duration, Instant};

use application::ports::dead_letters::DeadLetters;
use async_trait::async_trait;
use bytes::Bytes;
use domain::ConsumerName;
use harness::world::run_payonce;
use serde_json::Value;

/// How long anything may take, on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_mins(1);

/// Whose letters they are: the consumer of the default configuration.
pub fn consumer() -> ConsumerName {
    ConsumerName::parse("payonce").expect("a name")
}

/// A receiver and a worker on a store of their own.
#[async_trait]
pub trait Site: Sync {
    async fn open() -> Self;

    /// Sends an event until it is accepted.
    async fn deliver(&self, body: Bytes);

    /// What keeps the dead letters, from outside.
    fn letters(&self) -> Box<dyn DeadLetters>;

    /// `kill -9` of whoever archives and replays.
    async fn kill_worker(&mut self);

    /// Starts it again.
    async fn start_worker(&mut self);

    /// Runs statements on the store, from outside.
    async fn execute(&self, statements: &str);

    /// What a query gives that counts.
    async fn count(&self, query: &str) -> i64;

    /// The environment of its processes.
    fn environment(&self) -> &[(String, String)];

    /// Waits until nothing waits any more; the audit, with so many accepted events, must be clean.
    async fn audit(&self, accepted: u64) -> Value;

    /// Waits until a query counts so many.
    async fn wait_for(&self, query: &str, wanted: i64) {
        let since = Instant::now();
        loop {
            let found = self.count(query).await;
            if found == wanted {
                return;
            }
            assert!(since.elapsed() < PATIENCE, "{query} gives {found}, not {wanted}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Waits until the store has so many letters in `state`.
    async fn wait_for_letters(&self, state: &str, wanted: i64) {
        self.wait_for(&format!("SELECT count(*) FROM dead_letters WHERE state = '{state}'"), wanted).await;
    }

    /// Runs `payonce dead-letters`, which must succeed, and gives what it prints.
    async fn operate(&self, arguments: &[&str]) -> Vec<u8> {
        let (done, printed, complaint) = self.try_to_operate(arguments).await;
        assert!(done, "{arguments:?} failed: {}{complaint}", String::from_utf8_lossy(&printed));
        printed
    }

    /// The same as JSON.
    async fn ask(&self, arguments: &[&str]) -> Value {
        let printed = self.operate(&[arguments, &["--json"]].concat()).await;
        serde_json::from_slice(&printed).expect("JSON")
    }

    /// Runs `payonce dead-letters`: whether it succeeded, what it prints, and its complaint.
    async fn try_to_operate(&self, arguments: &[&str]) -> (bool, Vec<u8>, String) {
        let arguments = [&["dead-letters"], arguments].concat();
        let output = run_payonce(self.environment(), &arguments).await;
        (output.status.success(), output.stdout, String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// The number of the only letter.
    async fn only_letter(&self) -> String {
        let page = self.ask(&["list", "--state", "any"]).await;
        let letters = page["letters"].as_array().expect("a list");
        assert_eq!(letters.len(), 1, "{page:#}");
        letters[0]["id"].to_string()
    }
}
