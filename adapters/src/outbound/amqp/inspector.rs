//! Counts what waits at the broker.

use application::ports::event_queue::{QueueDepths, QueueError, QueueInspector};
use async_trait::async_trait;
use lapin::options::QueueDeclareOptions;
use lapin::types::FieldTable;
use lapin::{Channel, Connection};
use tokio::sync::Mutex;

use super::connection::{AmqpSettings, connect};

/// Asks by passive declarations, on a connection of its own that is opened when first asked and again after
/// any error. AMQP tells only what is ready: deliveries in a consumer's hand are not counted.
pub struct AmqpInspector {
    settings: AmqpSettings,
    open: Mutex<Option<(Connection, Channel)>>,
}

impl AmqpInspector {
    /// Connects when it is first asked.
    pub fn new(settings: AmqpSettings) -> Self {
        Self { settings, open: Mutex::new(None) }
    }

    async fn count(&self) -> Result<QueueDepths, QueueError> {
        let mut open = self.open.lock().await;
        // Taken out, and put back only after success: an error or a cancelled call leaves a fresh start.
        let (connection, channel) = match open.take() {
            Some(opened) => opened,
            None => self.connect().await?,
        };
        let queues = &self.settings.queues;
        let mut depths = QueueDepths {
            main: ready(&channel, &queues.main()).await?,
            dead_letters: ready(&channel, &queues.dead_letters()).await?,
            retry: 0,
        };
        for delay in &self.settings.retry_tiers {
            depths.retry += ready(&channel, &queues.retry(*delay)).await?;
        }
        *open = Some((connection, channel));
        Ok(depths)
    }

    async fn connect(&self) -> Result<(Connection, Channel), QueueError> {
        let failed = |source| QueueError { doing: "connecting to count the queues".to_owned(), source };
        let connection = connect(&self.settings).await.map_err(|error| failed(error.into()))?;
        let channel = connection.create_channel().await.map_err(|error| failed(error.into()))?;
        Ok((connection, channel))
    }
}

async fn ready(channel: &Channel, queue: &str) -> Result<u64, QueueError> {
    let options = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::durable() };
    let declared =
        channel.queue_declare(queue.into(), options, FieldTable::default()).await.map_err(|source| {
            QueueError { doing: format!("counting the messages of {queue}"), source: source.into() }
        })?;
    Ok(u64::from(declared.message_count()))
}

#[async_trait]
impl QueueInspector for AmqpInspector {
    async fn depths(&self) -> Result<QueueDepths, QueueError> {
        let limit = self.settings.connect_timeout;
        match tokio::time::timeout(limit, self.count()).await {
            Ok(counted) => counted,
            Err(elapsed) => Err(QueueError {
                doing: format!("counting the queues for {} ms", limit.as_millis()),
                source: elapsed.into(),
            }),
        }
    }
}
