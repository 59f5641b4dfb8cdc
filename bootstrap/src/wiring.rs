//! Which adapter stands behind which port: chosen by the scheme of a URL, here and nowhere else.

use std::collections::HashMap;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use application::ports::event_publisher::EventPublisher;
use application::ports::event_queue::{EventQueue, QueueInspector};
use application::ports::observer::Observer;
use application::ports::provider::{Provider, Sources};
use application::ports::readiness::ReadinessCheck;
use application::ports::seen_events::SeenEvents;
use application::ports::store_admin::StoreAdmin;
use application::ports::store_audit::StoreAudit;
use application::ports::unit_of_work::UnitOfWork;
use application::use_cases::Audit;
use domain::{ConsumerName, SourceName};
use secrecy::ExposeSecret;
use url::Url;

use adapters::clock::SystemClock;
use adapters::inbound::amqp::{self, AmqpQueue};
use adapters::outbound::amqp::{AmqpInspector, AmqpPublisher, AmqpSettings, PublisherSettings};
use adapters::outbound::memory::{MemorySeenEvents, NoSeenEvents};
use adapters::outbound::postgres::{
    PostgresAdmin, PostgresAudit, PostgresPool, PostgresReadiness, PostgresSettings, PostgresUnitOfWork,
};
use adapters::outbound::redis::{RedisSeenEvents, RedisSettings};
use adapters::outbound::telemetry::OpenTelemetryObserver;
use adapters::providers::native::NativeProvider;

use crate::config::{Config, SourceConfig, ms};
use crate::telemetry::Telemetry;

/// Every TLS connection of the process uses this one provider.
pub fn install_crypto_provider() {
    // An error says that one is installed already, which is what is wanted.
    rustls::crypto::aws_lc_rs::default_provider().install_default().ok();
}

/// The configured sources that are switched on.
///
/// # Errors
/// A source's secret is not usable.
pub fn sources(config: &Config) -> anyhow::Result<Sources> {
    let mut providers: HashMap<SourceName, Arc<dyn Provider>> = HashMap::new();
    for (name, source) in config.sources.iter().filter(|(_, source)| source.enabled) {
        let provider = provider(source).with_context(|| format!("sources.{name}"))?;
        providers.insert(SourceName::parse(name)?, provider);
    }
    Ok(Sources::new(providers))
}

fn provider(source: &SourceConfig) -> anyhow::Result<Arc<dyn Provider>> {
    match source.provider.as_str() {
        "native" if source.secrets.is_empty() => Ok(Arc::new(NativeProvider::unsigned())),
        "native" => {
            let tolerance = Duration::from_secs(source.tolerance_s);
            Ok(Arc::new(NativeProvider::signed(source.secrets.clone(), tolerance)?))
        }
        other => anyhow::bail!("there is no provider {other:?}"),
    }
}

/// The metrics of this process.
pub fn observer(telemetry: &Telemetry) -> Arc<dyn Observer> {
    Arc::new(OpenTelemetryObserver::new(&telemetry.meter()))
}

/// The bound operators' listener.
///
/// # Errors
/// The address cannot be bound.
pub fn ops_listener(config: &Config) -> anyhow::Result<TcpListener> {
    TcpListener::bind(&config.ops.bind)
        .with_context(|| format!("ops.bind: cannot listen on {}", config.ops.bind))
}

/// The store's ports.
#[derive(Clone)]
pub struct Store {
    unit_of_work: Arc<dyn UnitOfWork>,
    audit: Arc<dyn StoreAudit>,
    admin: Arc<dyn StoreAdmin>,
    readiness: Arc<dyn ReadinessCheck>,
}

impl Store {
    /// Begins transactions.
    pub fn unit_of_work(&self) -> Arc<dyn UnitOfWork> {
        self.unit_of_work.clone()
    }

    /// Looks for broken invariants.
    pub fn audit(&self) -> Arc<dyn StoreAudit> {
        self.audit.clone()
    }

    /// Migrates.
    pub fn admin(&self) -> Arc<dyn StoreAdmin> {
        self.admin.clone()
    }

    /// Whether it can be written to.
    pub fn readiness(&self) -> Arc<dyn ReadinessCheck> {
        self.readiness.clone()
    }
}

/// The store that `store.url` names. Does not connect.
///
/// # Errors
/// The URL cannot be used.
pub fn store(config: &Config) -> anyhow::Result<Store> {
    match scheme(config.store.url.expose_secret()).as_str() {
        "postgres" | "postgresql" => postgres(config),
        other => anyhow::bail!("store.url: there is no store for the scheme {other:?}"),
    }
}

fn postgres(config: &Config) -> anyhow::Result<Store> {
    let store = &config.store;
    let settings = PostgresSettings {
        url: store.url.clone(),
        pool_max: store.pool_max,
        acquire_timeout: ms(store.acquire_timeout_ms),
        connect_timeout: ms(store.connect_timeout_ms),
        statement_timeout: ms(store.statement_timeout_ms),
        lock_timeout: ms(store.lock_timeout_ms),
        idle_in_transaction_timeout: ms(store.idle_in_transaction_timeout_ms),
    };
    let consumer = ConsumerName::parse(&config.worker.consumer)?;
    let pool = PostgresPool::new(&settings).context("store.url")?;
    Ok(Store {
        unit_of_work: Arc::new(PostgresUnitOfWork::new(pool.clone(), consumer.clone())),
        audit: Arc::new(PostgresAudit::new(pool.clone(), consumer)),
        admin: Arc::new(PostgresAdmin::new(pool.clone(), settings)),
        readiness: Arc::new(PostgresReadiness::new(pool)),
    })
}

/// What the receiver publishes by.
#[derive(Clone)]
pub struct Publisher(Arc<AmqpPublisher>);

impl Publisher {
    /// The port.
    pub fn port(&self) -> Arc<dyn EventPublisher> {
        self.0.clone()
    }

    /// Whether it is connected.
    pub fn readiness(&self) -> Arc<dyn ReadinessCheck> {
        self.0.clone()
    }

    /// Finishes what is in flight and disconnects.
    pub async fn close(&self) {
        self.0.close().await;
    }
}

/// The publisher of the broker that `broker.url` names. Connects in the background.
///
/// # Errors
/// The URL cannot be used.
pub fn publisher(config: &Config) -> anyhow::Result<Publisher> {
    let broker = &config.broker;
    let settings = PublisherSettings {
        confirm_timeout: ms(broker.confirm_timeout_ms),
        waiting_max: broker.publish_waiting_max,
        group_max: broker.publish_group_max,
        channels: broker.publish_channels,
    };
    Ok(Publisher(AmqpPublisher::start(amqp_settings(config, "receiver"), settings)))
}

/// The worker's end of the broker.
#[derive(Clone)]
pub struct Queue {
    queue: Arc<AmqpQueue>,
    inspector: Arc<AmqpInspector>,
}

impl Queue {
    /// Opens subscriptions.
    pub fn port(&self) -> Arc<dyn EventQueue> {
        self.queue.clone()
    }

    /// Counts what waits.
    pub fn inspector(&self) -> Arc<dyn QueueInspector> {
        self.inspector.clone()
    }

    /// Whether a subscription is open.
    pub fn readiness(&self) -> Arc<dyn ReadinessCheck> {
        self.queue.clone()
    }
}

/// The queue of the broker that `broker.url` names. Does not connect.
///
/// # Errors
/// The URL cannot be used.
pub fn queue(config: &Config) -> anyhow::Result<Queue> {
    let worker = &config.worker;
    let settings = amqp::ConsumeSettings {
        prefetch: u16::try_from(worker.prefetch).context("worker.prefetch")?,
        batch_max: worker.batch_max,
        linger: ms(worker.batch_linger_ms),
        confirm_timeout: ms(config.broker.confirm_timeout_ms),
    };
    Ok(Queue {
        queue: Arc::new(AmqpQueue::new(amqp_settings(config, "worker"), settings, Arc::new(SystemClock))),
        inspector: Arc::new(AmqpInspector::new(amqp_settings(config, "inspector"))),
    })
}

fn amqp_settings(config: &Config, role: &str) -> AmqpSettings {
    AmqpSettings {
        url: config.broker.url.clone(),
        name: format!("payonce-{role}"),
        connect_timeout: ms(config.broker.connect_timeout_ms),
        retry_tiers: vec![ms(config.worker.retry_delay_ms)],
    }
}

/// The cache's ports.
#[derive(Clone)]
pub struct Cache {
    port: Arc<dyn SeenEvents>,
    readiness: Arc<dyn ReadinessCheck>,
}

impl Cache {
    /// The port.
    pub fn port(&self) -> Arc<dyn SeenEvents> {
        self.port.clone()
    }

    /// Whether it answers.
    pub fn readiness(&self) -> Arc<dyn ReadinessCheck> {
        self.readiness.clone()
    }
}

/// The cache that `cache.url` names, with its marks under `namespace`. Does not connect.
///
/// # Errors
/// The URL cannot be used.
pub fn cache(config: &Config, namespace: &str) -> anyhow::Result<Cache> {
    let cache = &config.cache;
    let mark_ttl = Duration::from_secs(cache.mark_ttl_s);
    match scheme(cache.url.expose_secret()).as_str() {
        "redis" | "rediss" => {
            let settings = RedisSettings {
                url: cache.url.clone(),
                namespace: format!("{namespace}:{}", config.worker.consumer),
                timeout: ms(cache.timeout_ms),
                lease: Duration::from_secs(cache.lease_s),
                mark_ttl,
                pool_max: cache.pool_max,
                breaker_open: ms(cache.breaker_open_ms),
            };
            let seen = Arc::new(RedisSeenEvents::new(&settings, Arc::new(SystemClock)).context("cache.url")?);
            Ok(Cache { port: seen.clone(), readiness: seen })
        }
        "memory" => {
            let seen =
                Arc::new(MemorySeenEvents::new(cache.memory_entries_max, mark_ttl, Arc::new(SystemClock)));
            Ok(Cache { port: seen.clone(), readiness: seen })
        }
        "none" => Ok(Cache { port: Arc::new(NoSeenEvents), readiness: Arc::new(NoSeenEvents) }),
        other => anyhow::bail!("cache.url: there is no cache for the scheme {other:?}"),
    }
}

/// The audit over store and broker.
///
/// # Errors
/// A URL cannot be used.
pub fn audit(config: &Config) -> anyhow::Result<Audit> {
    Ok(Audit::new(store(config)?.audit(), queue(config)?.inspector()))
}

fn scheme(url: &str) -> String {
    Url::parse(url).map(|url| url.scheme().to_owned()).unwrap_or_default()
}
