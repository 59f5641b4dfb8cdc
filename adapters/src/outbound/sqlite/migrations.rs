//! The schema's steps, and how they are applied.

use std::path::Path;
use std::time::Duration;

use application::ports::BoxError;
use application::ports::unit_of_work::StoreError;
use diesel::dsl::sql;
use diesel::migration::{Migration, MigrationSource};
use diesel::sql_types::{BigInt, Text};
use diesel::sqlite::Sqlite;
use diesel::{RunQueryDsl, SqliteConnection};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use super::classify::classify;
use super::connect::{Access, OpenOptions, open};
use super::store::SqliteStore;

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../migrations/sqlite");

/// How long to wait for another process that migrates.
const LOCK_TIMEOUT: Duration = Duration::from_mins(2);

/// Applies what is missing, over a connection of its own, and names it.
pub(super) async fn migrate(path: &Path) -> Result<Vec<String>, StoreError> {
    let path = path.to_owned();
    tokio::task::spawn_blocking(move || {
        let options = OpenOptions { access: Access::Create, busy_timeout: LOCK_TIMEOUT };
        let mut connection = open(&path, options)?;
        apply(&mut connection)
    })
    .await
    .map_err(|error| StoreError::Transient(error.into()))?
}

/// All steps in one transaction, which locks the file: one process works, the others wait, and then find
/// nothing left to do. The lock goes with the process.
fn apply(connection: &mut SqliteConnection) -> Result<Vec<String>, StoreError> {
    connection
        .immediate_transaction(|connection| {
            let mut applied = Vec::new();
            for migration in connection.pending_migrations(MIGRATIONS).map_err(failed)? {
                connection.run_migration(&migration).map_err(failed)?;
                applied.push(migration.name().to_string());
            }
            Ok(applied)
        })
        .map_err(|Failed(error)| error)
}

/// What went wrong in the transaction, or in beginning or committing it.
struct Failed(StoreError);

impl From<diesel::result::Error> for Failed {
    fn from(error: diesel::result::Error) -> Self {
        Self(classify(error))
    }
}

fn failed(error: BoxError) -> Failed {
    Failed(match error.downcast::<diesel::result::Error>() {
        Ok(error) => classify(*error),
        Err(error) => StoreError::Transient(error),
    })
}

/// The names of the steps that are missing. Changes nothing: without a file, all of them are.
pub(super) async fn pending(store: &SqliteStore) -> Result<Vec<String>, StoreError> {
    let applied = if store.file.path().exists() { store.readers.read(applied).await? } else { Vec::new() };
    let mut known: Vec<Box<dyn Migration<Sqlite>>> =
        MIGRATIONS.migrations().map_err(StoreError::Permanent)?;
    known.retain(|migration| !applied.contains(&migration.name().version().to_string()));
    let mut names: Vec<String> = known.iter().map(|migration| migration.name().to_string()).collect();
    names.sort();
    Ok(names)
}

fn applied(connection: &mut SqliteConnection) -> Result<Vec<String>, StoreError> {
    let tables: i64 =
        sql::<BigInt>("SELECT count(*) FROM sqlite_schema WHERE name = '__diesel_schema_migrations'")
            .get_result(connection)
            .map_err(classify)?;
    if tables == 0 {
        return Ok(Vec::new());
    }
    sql::<Text>("SELECT version FROM __diesel_schema_migrations").load(connection).map_err(classify)
}
