//! Receiver and worker on RabbitMQ and PostgreSQL.

use adapters::outbound::postgres::PostgresDeadLetters;
use application::ports::dead_letters::DeadLetters;
use async_trait::async_trait;
use bytes::Bytes;
use harness::world::{Receiver, Worker, World};
use serde_json::Value;

use super::site::{Site, consumer};

pub struct RabbitSite {
    pub world: World,
    pub worker: Worker,
    receiver: Receiver,
}

impl RabbitSite {
    /// The same with one setting changed.
    pub async fn open_with(key: &str, value: &str) -> Self {
        Self::open_with_all(&[(key, value)]).await
    }

    /// The same with settings changed.
    pub async fn open_with_all(settings: &[(&str, &str)]) -> Self {
        let mut world = World::create().await;
        world.set("PAYONCE__DEAD_LETTERS__POLL_MS", "50");
        world.set("PAYONCE__BROKER__CONFIRM_TIMEOUT_MS", "2000");
        world.set("PAYONCE__DEAD_LETTERS__LEASE_S", "5");
        for (key, value) in settings {
            world.set(key, value);
        }
        let receiver = world.receiver().await;
        let worker = world.worker().await;
        Self { world, worker, receiver }
    }
}

#[async_trait]
impl Site for RabbitSite {
    async fn open() -> Self {
        Self::open_with("PAYONCE__DEAD_LETTERS__ARCHIVE", "true").await
    }

    async fn deliver(&self, body: Bytes) {
        self.receiver.client.deliver(body).await;
    }

    fn letters(&self) -> Box<dyn DeadLetters> {
        Box::new(PostgresDeadLetters::new(self.world.database.pool(1), consumer()))
    }

    async fn kill_worker(&mut self) {
        self.worker.process.kill_9().await;
        self.worker.process.assert_no_panic();
    }

    async fn start_worker(&mut self) {
        self.worker = self.world.worker().await;
    }

    async fn execute(&self, statements: &str) {
        self.world.database.client().await.batch_execute(statements).await.expect("the statements run");
    }

    async fn count(&self, query: &str) -> i64 {
        self.world.database.client().await.query_one(query, &[]).await.expect("one row").get(0)
    }

    fn environment(&self) -> &[(String, String)] {
        self.world.environment()
    }

    async fn audit(&self, accepted: u64) -> Value {
        self.world.audit(accepted).await
    }
}
