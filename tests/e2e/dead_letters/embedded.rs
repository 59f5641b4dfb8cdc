//! One process on its own files.

use std::time::Duration;

use adapters::outbound::sqlite::{SqliteDeadLetters, SqliteSettings, SqliteStore};
use application::ports::dead_letters::DeadLetters;
use async_trait::async_trait;
use bytes::Bytes;
use harness::embedded_world::{EmbeddedWorld, Payonce};
use harness::world::wait_until_ready;
use rusqlite::Connection;
use serde_json::Value;

use super::site::{Site, consumer};

pub struct EmbeddedSite {
    world: EmbeddedWorld,
    payonce: Payonce,
}

impl EmbeddedSite {
    fn client(&self) -> Connection {
        let client = Connection::open(self.world.folder.path().join("payonce.db")).expect("the store's file");
        client.execute_batch("PRAGMA busy_timeout = 10000").expect("this setting");
        client
    }
}

#[async_trait]
impl Site for EmbeddedSite {
    async fn open() -> Self {
        let mut world = EmbeddedWorld::create();
        world.set("PAYONCE__DEAD_LETTERS__POLL_MS", "50");
        world.set("PAYONCE__BROKER__CONFIRM_TIMEOUT_MS", "2000");
        world.set("PAYONCE__DEAD_LETTERS__LEASE_S", "5");
        let payonce = world.start().await;
        wait_until_ready(&payonce.ops).await;
        Self { world, payonce }
    }

    async fn deliver(&self, body: Bytes) {
        self.payonce.client.deliver(body).await;
    }

    fn letters(&self) -> Box<dyn DeadLetters> {
        let settings = SqliteSettings {
            path: self.world.folder.path().join("payonce.db"),
            readers_max: 1,
            busy_timeout: Duration::from_secs(10),
            acquire_timeout: Duration::from_secs(10),
        };
        Box::new(SqliteDeadLetters::new(SqliteStore::new(&settings).expect("usable settings"), consumer()))
    }

    async fn kill_worker(&mut self) {
        self.payonce.process.kill_9().await;
        self.payonce.process.assert_no_panic();
    }

    async fn start_worker(&mut self) {
        self.payonce = self.world.start().await;
    }

    async fn execute(&self, statements: &str) {
        self.client().execute_batch(statements).expect("the statements run");
    }

    async fn count(&self, query: &str) -> i64 {
        self.client().query_row(query, [], |row| row.get(0)).expect("one row")
    }

    fn environment(&self) -> &[(String, String)] {
        self.world.environment()
    }

    async fn audit(&self, accepted: u64) -> Value {
        self.world.audit(Some(accepted)).await
    }
}
