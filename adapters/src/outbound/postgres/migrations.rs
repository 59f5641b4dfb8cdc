//! The schema's steps, and how they are applied.

use std::time::Duration;

use application::ports::BoxError;
use application::ports::unit_of_work::StoreError;
use diesel::dsl::sql;
use diesel::migration::{Migration, MigrationSource};
use diesel::pg::Pg;
use diesel::sql_types::{Bool, Text};
use diesel_async::{AsyncMigrationHarness, AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use tokio::time::Instant;

use super::classify::classify;
use super::connect::Connector;
use super::pool::PostgresPool;
use super::settings::PostgresSettings;

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../migrations/postgres");

/// "payonce" in ASCII: who migrates holds the advisory lock of this number.
const LOCK_QUERY: &str = "SELECT pg_try_advisory_lock(31632371580035941)";

/// The indexes that a step builds with `CREATE INDEX CONCURRENTLY`, where such a one cannot be used.
const UNFINISHED_INDEXES_QUERY: &str = "SELECT c.relname::text FROM pg_index AS i \
     JOIN pg_class AS c ON c.oid = i.indexrelid \
     WHERE NOT i.indisvalid AND c.relnamespace = current_schema()::regnamespace \
       AND c.relname IN ('processed_events_by_moment', 'payments_by_id', 'payment_facts_by_payment', \
         'ledger_entries_by_event', 'outbox_by_id')";

/// How long to wait for another process that migrates.
const LOCK_TIMEOUT: Duration = Duration::from_mins(2);

/// How often to ask for the lock. It is asked for again and again, since waiting inside of a statement would
/// hold up `CREATE INDEX CONCURRENTLY` of the one who has it.
const LOCK_POLL: Duration = Duration::from_millis(100);

/// Applies what is missing, in a session of its own, and names it.
pub(super) async fn migrate(settings: &PostgresSettings) -> Result<Vec<String>, StoreError> {
    let connector = Connector::with_statement_timeout(settings, Duration::ZERO)
        .map_err(|error| StoreError::Permanent(error.into()))?;
    let mut session = tokio::time::timeout(settings.connect_timeout, connector.connect())
        .await
        .map_err(|_| StoreError::Unavailable("no session within the connect time-out".into()))?
        .map_err(|error| StoreError::Unavailable(error.into()))?;
    lock(&mut session).await?;
    remove_unfinished_indexes(&mut session).await?;
    // The harness blocks its thread, which a current-thread runtime does not allow elsewhere. The lock goes with
    // the session, which ends in there.
    tokio::task::spawn_blocking(move || apply(session))
        .await
        .map_err(|error| StoreError::Transient(error.into()))?
        .map_err(StoreError::Transient)
}

async fn lock(session: &mut AsyncPgConnection) -> Result<(), StoreError> {
    let deadline = Instant::now() + LOCK_TIMEOUT;
    loop {
        let locked: Vec<bool> = sql::<Bool>(LOCK_QUERY).load(session).await.map_err(classify)?;
        if locked == [true] {
            return Ok(());
        }
        if Instant::now() >= deadline {
            return Err(StoreError::Transient(
                format!("another process has been migrating for {LOCK_TIMEOUT:?}").into(),
            ));
        }
        tokio::time::sleep(LOCK_POLL).await;
    }
}

/// What a step has left that was interrupted: an index that is kept up and never used, and whose name is taken
/// when the step is done again.
async fn remove_unfinished_indexes(session: &mut AsyncPgConnection) -> Result<(), StoreError> {
    let unfinished: Vec<String> =
        sql::<Text>(UNFINISHED_INDEXES_QUERY).load(session).await.map_err(classify)?;
    for index in unfinished {
        session.batch_execute(&format!("DROP INDEX CONCURRENTLY {index}")).await.map_err(classify)?;
    }
    Ok(())
}

fn apply(session: AsyncPgConnection) -> Result<Vec<String>, BoxError> {
    let mut harness = AsyncMigrationHarness::new(session);
    let mut applied = Vec::new();
    for migration in harness.pending_migrations(MIGRATIONS)? {
        harness.run_migration(&migration)?;
        applied.push(migration.name().to_string());
    }
    Ok(applied)
}

/// The names of the steps that are missing. Changes nothing.
pub(super) async fn pending(pool: &PostgresPool) -> Result<Vec<String>, StoreError> {
    let mut session = pool.session().await?;
    let table: Vec<bool> =
        session.rows(sql::<Bool>("SELECT to_regclass('__diesel_schema_migrations') IS NOT NULL")).await?;
    let applied: Vec<String> = if table == [true] {
        session.rows(sql::<Text>("SELECT version FROM __diesel_schema_migrations")).await?
    } else {
        Vec::new()
    };
    session.release();
    let mut known: Vec<Box<dyn Migration<Pg>>> = MIGRATIONS.migrations().map_err(StoreError::Permanent)?;
    known.retain(|migration| !applied.contains(&migration.name().version().to_string()));
    let mut names: Vec<String> = known.iter().map(|migration| migration.name().to_string()).collect();
    names.sort();
    Ok(names)
}
