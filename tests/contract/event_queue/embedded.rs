//! The main queue in a file of its own.

use std::sync::Arc;

use adapters::inbound::embedded::{ConsumeSettings, EmbeddedQueue};
use adapters::outbound::embedded::{EmbeddedBroker, EmbeddedInspector, EmbeddedPublisher, EmbeddedSettings};
use application::ports::event_publisher::EventPublisher;
use application::ports::event_queue::{EventQueue, QueueInspector};
use async_trait::async_trait;
use harness::embedded::{TestDataFolder, open_queue};

use super::{Fixture, Setup};

mod file;
mod poison;

pub struct EmbeddedFixture {
    pub folder: TestDataFolder,
    pub settings: EmbeddedSettings,
    pub broker: Arc<EmbeddedBroker>,
    pub publisher: Arc<EmbeddedPublisher>,
    pub queue: Arc<EmbeddedQueue>,
    pub inspector: Arc<EmbeddedInspector>,
    setup: Setup,
}

impl EmbeddedFixture {
    /// An empty queue with other limits than the default ones.
    pub async fn with(setup: Setup, change: impl FnOnce(&mut EmbeddedSettings)) -> Self {
        let folder = TestDataFolder::create();
        let mut settings = folder.settings();
        change(&mut settings);
        Self::open(folder, settings, setup).await
    }

    async fn open(folder: TestDataFolder, settings: EmbeddedSettings, setup: Setup) -> Self {
        let consume = ConsumeSettings {
            prefetch: setup.unsettled_max,
            batch_max: setup.batch_max,
            linger: setup.linger,
        };
        let broker = open_queue(&settings).await;
        Self {
            publisher: broker.publisher(),
            queue: broker.queue(consume),
            inspector: broker.inspector(),
            folder,
            settings,
            broker,
            setup,
        }
    }

    /// What another process finds when this one is killed now, subscriptions and all.
    pub async fn killed(self) -> Self {
        let copy = self.folder.copy();
        let settings = EmbeddedSettings { path: copy.queue(), ..self.settings.clone() };
        Self::open(copy, settings, self.setup).await
    }

    /// Ends the process as it should end, and starts another.
    pub async fn restart(self) -> Self {
        self.broker.close().await;
        let Self { folder, settings, setup, .. } = self;
        Self::open(folder, settings, setup).await
    }
}

#[async_trait]
impl Fixture for EmbeddedFixture {
    async fn new(setup: Setup) -> Self {
        Self::with(setup, |_| {}).await
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

crate::event_queue_contract!(contract, crate::event_queue::embedded::EmbeddedFixture);
