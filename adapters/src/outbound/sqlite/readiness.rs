//! Whether the file can be written to now.

use std::time::Duration;

use application::error_chain::describe;
use application::ports::readiness::ReadinessCheck;
use application::ports::unit_of_work::StoreError;
use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::connection::SimpleConnection;

use super::classify::classify;
use super::connect::set_busy_timeout;
use super::store::SqliteStore;
use super::writer::Seat;

/// How long [`ReadinessCheck::check`] may take.
const CHECK_TIMEOUT: Duration = Duration::from_secs(1);

/// How long to wait for another process that writes: that one shows that it can be done.
const BUSY_TIMEOUT: Duration = Duration::from_millis(100);

/// Something to write.
const PROBE: &str = "UPDATE store_identity SET probed_at = CAST(unixepoch('subsec') * 1000000 AS INTEGER)";

/// Whether the store can be written to.
pub struct SqliteReadiness {
    store: SqliteStore,
}

impl SqliteReadiness {
    /// Asks through `store`.
    pub const fn new(store: SqliteStore) -> Self {
        Self { store }
    }
}

#[async_trait]
impl ReadinessCheck for SqliteReadiness {
    fn component(&self) -> &'static str {
        "store"
    }

    fn required(&self) -> bool {
        true
    }

    async fn check(&self) -> Result<(), String> {
        probe(&self.store, CHECK_TIMEOUT).await.map_err(|error| describe(&error))
    }
}

/// Asks whether the file can be written to, and takes no answer within `timeout` for no. Only a commit finds
/// out that the disk is full. While a unit of this process has its turn, it is enough that the file can be
/// read: the unit itself will tell.
pub(super) async fn probe(store: &SqliteStore, timeout: Duration) -> Result<(), StoreError> {
    let asked = async {
        match store.writer.turn_if_free().await? {
            Some(turn) => turn.run(write).await,
            None => store.readers.read(read).await,
        }
    };
    tokio::time::timeout(timeout, asked)
        .await
        .unwrap_or_else(|_| Err(StoreError::Unavailable(format!("no answer within {timeout:?}").into())))
}

fn write(seat: &mut Seat) -> Result<(), StoreError> {
    let busy_timeout = seat.busy_timeout();
    set_busy_timeout(seat.connection()?, BUSY_TIMEOUT).map_err(classify)?;
    let written = match seat.transaction() {
        Ok(connection) => connection.batch_execute(PROBE).map_err(classify).and_then(|()| seat.commit()),
        // Another process is writing.
        Err(StoreError::Transient(_)) => Ok(()),
        Err(error) => Err(error),
    };
    set_busy_timeout(seat.connection()?, busy_timeout).map_err(classify)?;
    written
}

fn read(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    connection.batch_execute("SELECT count(*) FROM store_identity").map_err(classify)
}
