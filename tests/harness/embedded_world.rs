//! One test's embedded world: a data folder, and one process on it.

use std::time::Instant;

use serde_json::Value;

use crate::client::Client;
use crate::embedded::TestDataFolder;
use crate::process::Process;
use crate::world::{DRAIN_TIMEOUT, audit_once};

/// A data folder of its own, with the store and the queue in it.
pub struct EmbeddedWorld {
    /// The folder.
    pub folder: TestDataFolder,
    settings: Vec<(String, String)>,
}

/// A running `payonce`.
pub struct Payonce {
    /// The process.
    pub process: Process,
    /// Sends webhooks to it.
    pub client: Client,
    /// The address of its operators' listener.
    pub ops: String,
}

impl EmbeddedWorld {
    /// A new world; nothing is on the disk yet.
    pub fn create() -> Self {
        let folder = TestDataFolder::create();
        let path = folder.path().display();
        let settings = vec![
            ("PAYONCE__STORE__URL".to_owned(), format!("sqlite:{path}/payonce.db")),
            ("PAYONCE__BROKER__URL".to_owned(), format!("embedded:{path}/queue.db")),
            ("PAYONCE__HTTP__BIND".to_owned(), "127.0.0.1:0".to_owned()),
            ("PAYONCE__OPS__BIND".to_owned(), "127.0.0.1:0".to_owned()),
            ("PAYONCE__WORKER__RETRY_DELAY_MS".to_owned(), "500".to_owned()),
        ];
        Self { folder, settings }
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

    /// Starts `payonce` and waits until it listens.
    ///
    /// # Panics
    /// It does not start.
    pub async fn start(&self) -> Payonce {
        Self::listening(Process::start("payonce", &[], &self.settings)).await
    }

    /// Starts `payonce` with a limit on the size of every file, as on a disk that gets full.
    ///
    /// # Panics
    /// It does not start.
    pub async fn start_with_file_limit(&self, file_bytes_max: u64) -> Payonce {
        Self::listening(Process::start_with_file_limit("payonce", file_bytes_max, &self.settings)).await
    }

    /// A process of this world, once it listens.
    ///
    /// # Panics
    /// It does not start.
    pub async fn listening(mut process: Process) -> Payonce {
        let ops = process.address_in("listening for operations").await;
        let client = Client::new(process.address_in("listening for webhooks").await);
        Payonce { process, client, ops }
    }

    /// Waits until nothing waits in the queue, then gives the report of `payonce audit`.
    ///
    /// # Panics
    /// An invariant is broken, or an event is not accounted for.
    pub async fn audit(&self, accepted: Option<u64>) -> Value {
        let since = Instant::now();
        loop {
            let audit = audit_once(&self.settings, accepted).await;
            if audit.clean && audit.drained {
                return audit.report;
            }
            assert!(since.elapsed() < DRAIN_TIMEOUT, "the audit fails: {:#}\n{}", audit.report, audit.stderr);
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    }
}
