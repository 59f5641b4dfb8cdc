//! One process on its own files.

use async_trait::async_trait;
use bytes::Bytes;
use harness::embedded_world::{EmbeddedWorld, Payonce};
use harness::world::wait_until_ready;
use rusqlite::Connection;
use serde_json::Value;

use super::site::Site;

pub struct EmbeddedSite {
    world: EmbeddedWorld,
    payonce: Payonce,
}

impl EmbeddedSite {
    fn client(&self) -> Connection {
        let client = Connection::open(self.world.folder.path().join("payonce.db")).unwrap();
        client.execute_batch("PRAGMA busy_timeout = 10000").unwrap();
        client
    }
}

#[async_trait]
impl Site for EmbeddedSite {
    async fn open() -> Self {
        let mut world = EmbeddedWorld::create();
        world.set("PAYONCE__DEAD_LETTERS__POLL_MS", "50");
        let payonce = world.start().await;
        wait_until_ready(&payonce.ops).await;
        Self { world, payonce }
    }

    async fn deliver(&self, body: Bytes) {
        self.payonce.client.deliver(body).await;
    }

    async fn execute(&self, statements: &str) {
        self.client().execute_batch(statements).unwrap();
    }

    async fn count(&self, query: &str) -> i64 {
        self.client().query_row(query, [], |row| row.get(0)).unwrap()
    }

    fn environment(&self) -> &[(String, String)] {
        self.world.environment()
    }

    async fn audit(&self, accepted: u64) -> Value {
        self.world.audit(Some(accepted)).await
    }
}
