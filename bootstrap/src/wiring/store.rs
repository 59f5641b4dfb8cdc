//! The store: PostgreSQL or SQLite.

use std::sync::Arc;

use anyhow::Context;
use application::ports::dead_letters::DeadLetters;
use application::ports::event_reader::EventReader;
use application::ports::event_retention::EventRetention;
use application::ports::operator_actions::OperatorActions;
use application::ports::outbox::Outbox;
use application::ports::payment_reader::PaymentReader;
use application::ports::readiness::ReadinessCheck;
use application::ports::replay_jobs::ReplayJobs;
use application::ports::store_admin::StoreAdmin;
use application::ports::store_audit::StoreAudit;
use application::ports::unit_of_work::UnitOfWork;
use domain::ConsumerName;
use secrecy::ExposeSecret;

use adapters::outbound::postgres::{
    PostgresAdmin, PostgresAudit, PostgresDeadLetters, PostgresEventReader, PostgresEventRetention,
    PostgresOutbox, PostgresPaymentReader, PostgresPool, PostgresReadiness, PostgresSettings,
    PostgresUnitOfWork,
};
use adapters::outbound::sqlite::{
    SqliteAdmin, SqliteAudit, SqliteDeadLetters, SqliteEventReader, SqliteEventRetention, SqliteOutbox,
    SqlitePaymentReader, SqliteReadiness, SqliteSettings, SqliteStore, SqliteUnitOfWork,
};

use crate::config::{Config, StoreConfig, file_of, ms, scheme};

/// The store's ports.
#[derive(Clone)]
pub struct Store {
    unit_of_work: Arc<dyn UnitOfWork>,
    outbox: Arc<dyn Outbox>,
    dead_letters: Arc<dyn DeadLetters>,
    replay_jobs: Arc<dyn ReplayJobs>,
    operator_actions: Arc<dyn OperatorActions>,
    payments: Arc<dyn PaymentReader>,
    events: Arc<dyn EventReader>,
    retention: Arc<dyn EventRetention>,
    audit: Arc<dyn StoreAudit>,
    admin: Arc<dyn StoreAdmin>,
    readiness: Arc<dyn ReadinessCheck>,
}

impl Store {
    /// Begins transactions.
    pub fn unit_of_work(&self) -> Arc<dyn UnitOfWork> {
        self.unit_of_work.clone()
    }

    /// Hands out what the rest of the company is to hear.
    pub fn outbox(&self) -> Arc<dyn Outbox> {
        self.outbox.clone()
    }

    /// Keeps what was given up.
    pub fn dead_letters(&self) -> Arc<dyn DeadLetters> {
        self.dead_letters.clone()
    }

    /// Keeps the jobs that replay it.
    pub fn replay_jobs(&self) -> Arc<dyn ReplayJobs> {
        self.replay_jobs.clone()
    }

    /// Keeps what operators have done.
    pub fn operator_actions(&self) -> Arc<dyn OperatorActions> {
        self.operator_actions.clone()
    }

    /// Reads payments and balances.
    pub fn payments(&self) -> Arc<dyn PaymentReader> {
        self.payments.clone()
    }

    /// Finds events and the paths that they took.
    pub fn events(&self) -> Arc<dyn EventReader> {
        self.events.clone()
    }

    /// Removes events that are old enough.
    pub fn retention(&self) -> Arc<dyn EventRetention> {
        self.retention.clone()
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
    let consumer = ConsumerName::parse(&config.worker.consumer)?;
    match scheme(config.store.url.expose_secret()) {
        "postgres" | "postgresql" => postgres(&config.store, consumer),
        "sqlite" => sqlite(&config.store, consumer),
        other => anyhow::bail!("store.url: there is no store for the scheme {other:?}"),
    }
}

fn postgres(store: &StoreConfig, consumer: ConsumerName) -> anyhow::Result<Store> {
    let settings = PostgresSettings {
        url: store.url.clone(),
        pool_max: store.pool_max,
        acquire_timeout: ms(store.acquire_timeout_ms),
        connect_timeout: ms(store.connect_timeout_ms),
        statement_timeout: ms(store.statement_timeout_ms),
        lock_timeout: ms(store.lock_timeout_ms),
        idle_in_transaction_timeout: ms(store.idle_in_transaction_timeout_ms),
    };
    let pool = PostgresPool::new(&settings).context("store.url")?;
    let dead_letters = Arc::new(PostgresDeadLetters::new(pool.clone(), consumer.clone()));
    Ok(Store {
        dead_letters: dead_letters.clone(),
        replay_jobs: dead_letters.clone(),
        operator_actions: dead_letters,
        payments: Arc::new(PostgresPaymentReader::new(pool.clone(), consumer.clone())),
        events: Arc::new(PostgresEventReader::new(pool.clone(), consumer.clone())),
        retention: Arc::new(PostgresEventRetention::new(pool.clone(), consumer.clone())),
        unit_of_work: Arc::new(PostgresUnitOfWork::new(pool.clone(), consumer.clone())),
        outbox: Arc::new(PostgresOutbox::new(pool.clone(), consumer.clone())),
        audit: Arc::new(PostgresAudit::new(pool.clone(), consumer)),
        admin: Arc::new(PostgresAdmin::new(pool.clone(), settings)),
        readiness: Arc::new(PostgresReadiness::new(pool)),
    })
}

fn sqlite(store: &StoreConfig, consumer: ConsumerName) -> anyhow::Result<Store> {
    let settings = SqliteSettings {
        path: file_of(store.url.expose_secret()).into(),
        readers_max: store.pool_max,
        busy_timeout: ms(store.lock_timeout_ms),
        acquire_timeout: ms(store.acquire_timeout_ms),
    };
    let file = SqliteStore::new(&settings).context("store.url")?;
    let dead_letters = Arc::new(SqliteDeadLetters::new(file.clone(), consumer.clone()));
    Ok(Store {
        dead_letters: dead_letters.clone(),
        replay_jobs: dead_letters.clone(),
        operator_actions: dead_letters,
        payments: Arc::new(SqlitePaymentReader::new(file.clone(), consumer.clone())),
        events: Arc::new(SqliteEventReader::new(file.clone(), consumer.clone())),
        retention: Arc::new(SqliteEventRetention::new(file.clone(), consumer.clone())),
        unit_of_work: Arc::new(SqliteUnitOfWork::new(file.clone(), consumer.clone())),
        outbox: Arc::new(SqliteOutbox::new(file.clone(), consumer.clone())),
        audit: Arc::new(SqliteAudit::new(file.clone(), consumer)),
        admin: Arc::new(SqliteAdmin::new(file.clone())),
        readiness: Arc::new(SqliteReadiness::new(file)),
    })
}
