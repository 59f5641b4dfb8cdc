//! The main queue on a vhost of its own.

use std::sync::Arc;
use std::time::Duration;

use adapters::clock::SystemClock;
use adapters::inbound::amqp::{AmqpQueue, ConsumeSettings};
use adapters::outbound::amqp::{AmqpInspector, AmqpPublisher, PublisherSettings};
use application::ports::event_publisher::EventPublisher;
use application::ports::event_queue::{EventQueue, QueueInspector};
use async_trait::async_trait;
use harness::rabbitmq::TestVhost;

use super::{Fixture, Setup};

pub struct AmqpFixture {
    pub vhost: TestVhost,
    pub publisher: Arc<AmqpPublisher>,
    pub queue: Arc<AmqpQueue>,
    inspector: Arc<AmqpInspector>,
    consume: ConsumeSettings,
}

impl AmqpFixture {
    /// The same queue, as another process has it.
    pub fn another_process(&self) -> AmqpQueue {
        AmqpQueue::new(self.vhost.settings(), self.consume, Arc::new(SystemClock))
    }
}

#[async_trait]
impl Fixture for AmqpFixture {
    async fn new(setup: Setup) -> Self {
        let vhost = TestVhost::create().await;
        let publisher = AmqpPublisher::start(vhost.settings(), PublisherSettings::default());
        let consume = ConsumeSettings {
            prefetch: setup.unsettled_max,
            batch_max: setup.batch_max,
            linger: setup.linger,
            confirm_timeout: Duration::from_secs(5),
        };
        let queue = Arc::new(AmqpQueue::new(vhost.settings(), consume, Arc::new(SystemClock)));
        let inspector = Arc::new(AmqpInspector::new(vhost.settings()));
        assert!(publisher.wait_until_serving(Duration::from_secs(10)).await);
        Self { vhost, publisher, queue, inspector, consume }
    }

    fn publisher(&self) -> Arc<dyn EventPublisher> {
        self.publisher.clone()
    }

    fn queue(&self) -> Arc<dyn EventQueue> {
        self.queue.clone()
    }

    fn inspector(&self) -> Arc<dyn QueueInspector> {
        self.inspector.clone()
    }
}
