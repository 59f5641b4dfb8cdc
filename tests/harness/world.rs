//! One test's world: its own database, vhost and cache marks, and the processes on it.

use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::process::Command;

use crate::client::Client;
use crate::postgres::TestDatabase;
use crate::process::{Process, executable};
use crate::rabbitmq::TestVhost;
use crate::service;

/// How long events may take to drain, on a machine that is busy with other tests.
pub(crate) const DRAIN_TIMEOUT: Duration = Duration::from_mins(2);

/// A test's own database and vhost. The cache is shared: its marks are kept under the database's identity.
pub struct World {
    /// The database.
    pub database: TestDatabase,
    /// The vhost.
    pub vhost: TestVhost,
    settings: Vec<(String, String)>,
}

/// A receiver and where it listens.
pub struct Receiver {
    /// The process.
    pub process: Process,
    /// Sends webhooks to it.
    pub client: Client,
    /// The address of its operators' listener.
    pub ops: String,
}

/// A worker.
pub struct Worker {
    /// The process.
    pub process: Process,
    /// The address of its operators' listener.
    pub ops: String,
}

impl World {
    /// A new world, with the shared Redis as its cache.
    ///
    /// # Panics
    /// The services are not there.
    pub async fn create() -> Self {
        Self::on(TestDatabase::create().await).await
    }

    /// A new world whose database has no schema yet.
    ///
    /// # Panics
    /// The services are not there.
    pub async fn create_unmigrated() -> Self {
        Self::on(TestDatabase::create_empty().await).await
    }

    async fn on(database: TestDatabase) -> Self {
        let vhost = TestVhost::create().await;
        let settings = [
            ("PAYONCE__STORE__URL", database.url()),
            ("PAYONCE__BROKER__URL", vhost.url()),
            ("PAYONCE__CACHE__URL", service("PAYONCE_TEST_REDIS_URL")),
            ("PAYONCE__HTTP__BIND", "127.0.0.1:0".to_owned()),
            ("PAYONCE__OPS__BIND", "127.0.0.1:0".to_owned()),
            ("PAYONCE__WORKER__RETRY_DELAY_MS", "500".to_owned()),
            ("PAYONCE__WORKER__NOT_READY_DELAY_MAX_MS", "2000".to_owned()),
            ("PAYONCE__WORKER__BACKOFF_MAX_MS", "1000".to_owned()),
        ];
        let settings = settings.map(|(key, value)| (key.to_owned(), value)).to_vec();
        Self { database, vhost, settings }
    }

    /// Changes a setting for processes that are started from now on.
    pub fn set(&mut self, key: &str, value: &str) {
        self.settings.retain(|(known, _)| known != key);
        self.settings.push((key.to_owned(), value.to_owned()));
    }

    /// The environment of a process in this world.
    pub fn environment(&self) -> &[(String, String)] {
        &self.settings
    }

    /// Starts a receiver and waits until it listens and is ready.
    ///
    /// # Panics
    /// It does not start.
    pub async fn receiver(&self) -> Receiver {
        let receiver = self.receiver_that_may_not_be_ready().await;
        wait_until_ready(&receiver.ops).await;
        receiver
    }

    /// Starts a receiver and waits until it listens.
    ///
    /// # Panics
    /// It does not start.
    pub async fn receiver_that_may_not_be_ready(&self) -> Receiver {
        let mut process = Process::start("receiver", &[], &self.settings);
        let ops = process.address_in("listening for operations").await;
        let client = Client::new(process.address_in("listening for webhooks").await);
        Receiver { process, client, ops }
    }

    /// Starts a worker and waits until its operators' listener is open.
    ///
    /// # Panics
    /// It does not start.
    pub async fn worker(&self) -> Worker {
        let mut process = Process::start("worker", &[], &self.settings);
        let ops = process.address_in("listening for operations").await;
        Worker { process, ops }
    }

    /// Waits until the database has settled `count` events.
    ///
    /// # Panics
    /// It never does.
    pub async fn wait_until_settled(&self, count: i64) {
        self.wait_for_count("SELECT count(*) FROM processed_events", count).await;
    }

    /// Waits until a query that counts gives `wanted`.
    ///
    /// # Panics
    /// It never does.
    pub async fn wait_for_count(&self, query: &str, wanted: i64) {
        let since = Instant::now();
        loop {
            // The database may be away for a moment.
            let found = match self.database.try_client().await {
                Ok(client) => client.query_one(query, &[]).await.map(|row| row.get::<_, i64>(0)).ok(),
                Err(_) => None,
            };
            if found == Some(wanted) {
                return;
            }
            assert!(since.elapsed() < DRAIN_TIMEOUT, "{query} gives {found:?}, not {wanted}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Waits until nothing waits in the broker, then runs `payonce audit` and gives its report.
    ///
    /// # Panics
    /// An invariant is broken, or an event is not accounted for.
    pub async fn audit(&self, accepted: u64) -> Value {
        let since = Instant::now();
        loop {
            let audit = audit_once(&self.settings, Some(accepted)).await;
            if audit.clean && audit.drained {
                return audit.report;
            }
            assert!(since.elapsed() < DRAIN_TIMEOUT, "the audit fails: {:#}\n{}", audit.report, audit.stderr);
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
}

/// What one run of `payonce audit` said.
pub struct AuditRun {
    /// Whether it found nothing.
    pub clean: bool,
    /// Whether nothing waits any more.
    pub drained: bool,
    /// Its report.
    pub report: Value,
    /// What it complained of.
    pub stderr: String,
}

/// Runs `payonce audit` once.
///
/// # Panics
/// It cannot be started.
pub async fn audit_once(settings: &[(String, String)], accepted: Option<u64>) -> AuditRun {
    let mut arguments = vec!["audit".to_owned(), "--json".to_owned()];
    if let Some(accepted) = accepted {
        arguments.extend(["--accepted".to_owned(), accepted.to_string()]);
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = run_payonce(settings, &arguments).await;
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    AuditRun {
        clean: output.status.success(),
        drained: report["queued"] == 0 && report["to_be_retried"] == 0,
        report,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Runs a command of `payonce` to its end.
///
/// # Panics
/// It cannot be started.
pub async fn run_payonce(settings: &[(String, String)], arguments: &[&str]) -> Output {
    let mut command = Command::new(executable("payonce"));
    command.args(arguments).stdin(Stdio::null());
    for alias in ["DATABASE_URL", "AMQP_URL", "REDIS_URL"] {
        command.env_remove(alias);
    }
    let settings = settings.iter().map(|(key, value)| (key, value));
    command.envs(settings).output().await.expect("payonce runs")
}

/// Waits until `/health/ready` answers 200.
///
/// # Panics
/// It never does.
pub async fn wait_until_ready(ops: &str) {
    let since = Instant::now();
    let client = Client::new(ops.to_owned());
    loop {
        let answer = client.get("/health/ready").await;
        match &answer {
            Ok(answer) if answer.status == 200 => return,
            _ => assert!(since.elapsed() < DRAIN_TIMEOUT, "{ops} is not ready: {answer:?}"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
