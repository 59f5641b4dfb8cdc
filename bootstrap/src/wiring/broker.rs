//! The broker: RabbitMQ, or the queue that is embedded in this process.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use application::ports::dead_letter_queue::DeadLetterQueue;
use application::ports::event_publisher::EventPublisher;
use application::ports::event_queue::{EventQueue, QueueInspector};
use application::ports::readiness::ReadinessCheck;
use domain::ConsumerName;
use secrecy::ExposeSecret;

use adapters::clock::SystemClock;
use adapters::inbound::{amqp, embedded};
use adapters::outbound::amqp::topology::Queues;
use adapters::outbound::amqp::{AmqpInspector, AmqpPublisher, AmqpSettings, Audience, PublisherSettings};
use adapters::outbound::embedded::{EmbeddedBroker, EmbeddedInspector, EmbeddedSettings};

use super::process_name;
use crate::config::{Config, file_of, ms, scheme};

/// The broker of this process.
pub enum Broker {
    /// RabbitMQ; every user has connections of its own.
    Amqp,
    /// The queue in this process's own file, which receiver and worker share.
    Embedded(Arc<EmbeddedBroker>),
}

/// What the receiver publishes by.
pub struct Publisher {
    port: Arc<dyn EventPublisher>,
    readiness: Arc<dyn ReadinessCheck>,
    amqp: Option<Arc<AmqpPublisher>>,
}

impl Publisher {
    /// The port.
    pub fn port(&self) -> Arc<dyn EventPublisher> {
        self.port.clone()
    }

    /// Whether it can publish.
    pub fn readiness(&self) -> Arc<dyn ReadinessCheck> {
        self.readiness.clone()
    }

    /// Finishes what is in flight and disconnects.
    pub async fn close(&self) {
        if let Some(publisher) = &self.amqp {
            publisher.close().await;
        }
    }
}

/// The worker's end of the broker.
pub struct Queue {
    port: Arc<dyn EventQueue>,
    readiness: Arc<dyn ReadinessCheck>,
}

impl Queue {
    /// Opens subscriptions.
    pub fn port(&self) -> Arc<dyn EventQueue> {
        self.port.clone()
    }

    /// Whether a subscription is open.
    pub fn readiness(&self) -> Arc<dyn ReadinessCheck> {
        self.readiness.clone()
    }
}

impl Broker {
    /// The broker that `broker.url` names. An embedded one is opened, and its folder locked; RabbitMQ is
    /// connected to later.
    ///
    /// # Errors
    /// Another process has the embedded queue, or its file is of no use.
    pub fn open(config: &Config) -> anyhow::Result<Self> {
        match scheme(config.broker.url.expose_secret()) {
            "amqp" | "amqps" => Ok(Self::Amqp),
            "embedded" => {
                let settings = EmbeddedSettings {
                    publish_waiting_max: config.broker.publish_waiting_max,
                    publish_group_max: config.broker.publish_group_max,
                    publish_timeout: ms(config.broker.confirm_timeout_ms),
                    worker: Some(process_name().to_owned()),
                    ..EmbeddedSettings::at(embedded_file(config))
                };
                let broker = EmbeddedBroker::open(settings, Arc::new(SystemClock)).context("broker.url")?;
                Ok(Self::Embedded(broker))
            }
            other => anyhow::bail!("broker.url: there is no broker for the scheme {other:?}"),
        }
    }

    /// The receiver's end. RabbitMQ is connected to in the background.
    pub fn publisher(&self, config: &Config) -> Publisher {
        self.publisher_to(config, "receiver", Audience::EveryConsumer)
    }

    /// What dead letters are replayed by. RabbitMQ is connected to in the background.
    pub fn replayer(&self, config: &Config) -> Publisher {
        self.publisher_to(config, "replayer", Audience::OwnConsumer)
    }

    fn publisher_to(&self, config: &Config, role: &str, audience: Audience) -> Publisher {
        match self {
            Self::Amqp => {
                let broker = &config.broker;
                let settings = PublisherSettings {
                    audience,
                    confirm_timeout: ms(broker.confirm_timeout_ms),
                    waiting_max: broker.publish_waiting_max,
                    group_max: broker.publish_group_max,
                    channels: broker.publish_channels,
                };
                let publisher = AmqpPublisher::start(amqp_settings(config, role), settings);
                Publisher { port: publisher.clone(), readiness: publisher.clone(), amqp: Some(publisher) }
            }
            Self::Embedded(broker) => {
                let publisher = broker.publisher();
                Publisher { port: publisher.clone(), readiness: publisher, amqp: None }
            }
        }
    }

    /// The worker's end. Does not connect.
    ///
    /// # Errors
    /// A setting cannot be used.
    pub fn queue(&self, config: &Config) -> anyhow::Result<Queue> {
        let worker = &config.worker;
        let prefetch = u16::try_from(worker.prefetch).context("worker.prefetch")?;
        let (batch_max, linger) = (worker.batch_max, ms(worker.batch_linger_ms));
        match self {
            Self::Amqp => {
                let confirm_timeout = ms(config.broker.confirm_timeout_ms);
                let consume = amqp::ConsumeSettings { prefetch, batch_max, linger, confirm_timeout };
                let settings = amqp_settings(config, "worker");
                let queue = Arc::new(amqp::AmqpQueue::new(settings, consume, Arc::new(SystemClock)));
                Ok(Queue { port: queue.clone(), readiness: queue })
            }
            Self::Embedded(broker) => {
                let queue = broker.queue(embedded::ConsumeSettings { prefetch, batch_max, linger });
                Ok(Queue { port: queue.clone(), readiness: queue })
            }
        }
    }

    /// Where dead letters are taken from. Does not connect.
    pub fn dead_letter_queue(&self, config: &Config) -> Arc<dyn DeadLetterQueue> {
        match self {
            Self::Amqp => {
                let letters = amqp::DeadLetterSettings {
                    payload_bytes_max: config.http.body_bytes_max,
                    ..amqp::DeadLetterSettings::default()
                };
                Arc::new(amqp::AmqpDeadLetterQueue::new(amqp_settings(config, "archive"), letters))
            }
            Self::Embedded(broker) => broker.dead_letter_queue(embedded::DeadLetterSettings::default()),
        }
    }

    /// Counts what waits.
    pub fn inspector(&self, config: &Config) -> Arc<dyn QueueInspector> {
        match self {
            Self::Amqp => Arc::new(AmqpInspector::new(amqp_settings(config, "inspector"))),
            Self::Embedded(broker) => broker.inspector(),
        }
    }

    /// Brings what waits to its end. Must be called after everybody who uses it has ended.
    pub async fn close(&self) {
        if let Self::Embedded(broker) = self {
            broker.close().await;
        }
    }
}

/// Counts what waits, from outside of the process that has the broker in use.
///
/// # Errors
/// There is no embedded queue yet, or its file is of no use.
pub fn inspector(config: &Config) -> anyhow::Result<Arc<dyn QueueInspector>> {
    match scheme(config.broker.url.expose_secret()) {
        "embedded" => Ok(EmbeddedInspector::open_read_only(&embedded_file(config))?),
        _ => Ok(Broker::Amqp.inspector(config)),
    }
}

/// False where `broker.url` names an embedded queue that no start has made yet.
pub fn embedded_queue_exists(config: &Config) -> bool {
    scheme(config.broker.url.expose_secret()) != "embedded" || embedded_file(config).exists()
}

fn embedded_file(config: &Config) -> PathBuf {
    file_of(config.broker.url.expose_secret()).into()
}

/// How this process's own part reaches RabbitMQ.
pub(super) fn amqp_settings(config: &Config, role: &str) -> AmqpSettings {
    let mut settings = AmqpSettings::new(
        config.broker.url.clone(),
        format!("payonce-{role}"),
        ms(config.broker.connect_timeout_ms),
        config.worker.retry_policy().waits(),
    );
    settings.worker = Some(process_name().to_owned());
    let queues = |(place, name): (usize, &ConsumerName)| match place {
        0 => Queues::first(),
        _ => Queues::of(name),
    };
    let consumers = config.consumers();
    settings.consumers = consumers.iter().enumerate().map(queues).collect();
    let own = |(_, name): &(usize, &ConsumerName)| name.as_str() == config.worker.consumer;
    if let Some(own) = consumers.iter().enumerate().find(own) {
        settings.queues = queues(own);
    }
    settings
}
