//! Receiver and worker on RabbitMQ and PostgreSQL.

use async_trait::async_trait;
use bytes::Bytes;
use harness::world::{Receiver, Worker, World};
use serde_json::Value;

use super::site::Site;

pub struct RabbitSite {
    pub world: World,
    pub worker: Worker,
    receiver: Receiver,
}

impl RabbitSite {
    /// The same with one setting changed.
    pub async fn open_with(key: &str, value: &str) -> Self {
        let mut world = World::create().await;
        world.set(key, value);
        let receiver = world.receiver().await;
        let worker = world.worker().await;
        Self { world, worker, receiver }
    }
}

#[async_trait]
impl Site for RabbitSite {
    async fn open() -> Self {
        Self::open_with("PAYONCE__DEAD_LETTERS__POLL_MS", "50").await
    }

    async fn deliver(&self, body: Bytes) {
        self.receiver.client.deliver(body).await;
    }

    async fn execute(&self, statements: &str) {
        self.world.database.client().await.batch_execute(statements).await.unwrap();
    }

    async fn count(&self, query: &str) -> i64 {
        self.world.database.client().await.query_one(query, &[]).await.unwrap().get(0)
    }

    fn environment(&self) -> &[(String, String)] {
        self.world.environment()
    }

    async fn audit(&self, accepted: u64) -> Value {
        self.world.audit(accepted).await
    }
}
