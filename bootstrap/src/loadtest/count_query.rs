//! Progress as a count in some PostgreSQL: how another system is measured by the same instrument.

use anyhow::Context as _;
use async_trait::async_trait;
use tokio::sync::Mutex;
use tokio_postgres::{Client, NoTls};
use tokio_util::task::AbortOnDropHandle;

use super::drain::Progress;

/// Asks one query, over one connection that is opened again when it is gone.
pub(super) struct CountQuery {
    url: String,
    query: String,
    open: Mutex<Option<Open>>,
}

struct Open {
    client: Client,
    _driver: AbortOnDropHandle<()>,
}

impl CountQuery {
    pub fn new(url: String, query: String) -> Self {
        Self { url, query, open: Mutex::new(None) }
    }

    async fn connect(&self) -> anyhow::Result<Open> {
        let (client, connection) =
            tokio_postgres::connect(&self.url, NoTls).await.context("--count-url: cannot connect")?;
        let driver = tokio::spawn(async move {
            // Whatever ends the connection, the query on it is told.
            drop(connection.await);
        });
        Ok(Open { client, _driver: AbortOnDropHandle::new(driver) })
    }
}

#[async_trait]
impl Progress for CountQuery {
    async fn committed(&self) -> anyhow::Result<u64> {
        let mut guard = self.open.lock().await;
        let open = match guard.take() {
            Some(open) if !open.client.is_closed() => open,
            _ => self.connect().await?,
        };
        let row = open.client.query_one(&self.query, &[]).await.context("--count-query")?;
        let count: i64 = row.try_get(0).context("--count-query does not give one bigint")?;
        *guard = Some(open);
        u64::try_from(count).context("--count-query gives a negative number")
    }
}
