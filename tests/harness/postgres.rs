//! A test's own database.

use std::time::Duration;

use adapters::outbound::postgres::{PostgresAdmin, PostgresPool, PostgresSettings};
use application::ports::store_admin::StoreAdmin;
use secrecy::SecretString;
use tokio_postgres::{Client, NoTls};
use url::Url;

use crate::service;

/// A database of its own, which is dropped with it.
pub struct TestDatabase {
    name: String,
    url: String,
}

impl TestDatabase {
    /// A new database with the whole schema.
    ///
    /// # Panics
    /// PostgreSQL is not there.
    pub async fn create() -> Self {
        let database = Self::create_empty().await;
        let migrated = database.admin().migrate().await;
        migrated.expect("the migrations can be applied");
        database
    }

    /// A new database with nothing in it.
    ///
    /// # Panics
    /// PostgreSQL is not there.
    pub async fn create_empty() -> Self {
        let server = service("PAYONCE_TEST_DATABASE_URL");
        let client = connect(&server).await.expect("PostgreSQL is running");
        let name: String = client
            .query_one("SELECT 'test_' || replace(gen_random_uuid()::text, '-', '')", &[])
            .await
            .expect("a random name")
            .get(0);
        // Not from template1, which others may be connected to.
        client
            .batch_execute(&format!("CREATE DATABASE {name} TEMPLATE template0"))
            .await
            .expect("the test user may create databases");
        let mut url = Url::parse(&server).expect("PAYONCE_TEST_DATABASE_URL is a URL");
        url.set_path(&name);
        Self { name, url: url.to_string() }
    }

    /// Its URL.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// Its name on the server.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A session that has nothing to do with the adapter.
    ///
    /// # Panics
    /// PostgreSQL is not there.
    pub async fn client(&self) -> Client {
        self.try_client().await.expect("PostgreSQL is running")
    }

    /// As [`Self::client`], where the database may be away.
    ///
    /// # Errors
    /// It is.
    pub async fn try_client(&self) -> Result<Client, tokio_postgres::Error> {
        connect(&self.url).await
    }

    /// Settings for it, with time-outs that suit a busy machine.
    pub fn settings(&self) -> PostgresSettings {
        Self::settings_through(&self.url)
    }

    /// The same for another way to it, such as a proxy.
    pub fn settings_through(url: &str) -> PostgresSettings {
        PostgresSettings {
            url: SecretString::from(url),
            pool_max: 10,
            acquire_timeout: Duration::from_secs(10),
            connect_timeout: Duration::from_secs(10),
            statement_timeout: Duration::from_secs(20),
            lock_timeout: Duration::from_secs(10),
            idle_in_transaction_timeout: Duration::from_secs(30),
        }
    }

    /// A pool of at most `max` sessions.
    ///
    /// # Panics
    /// The settings cannot be used.
    pub fn pool(&self, max: usize) -> PostgresPool {
        let settings = PostgresSettings { pool_max: max, ..self.settings() };
        PostgresPool::new(&settings).expect("usable settings")
    }

    /// What sets it up.
    ///
    /// # Panics
    /// The settings cannot be used.
    pub fn admin(&self) -> PostgresAdmin {
        PostgresAdmin::new(self.pool(1), self.settings())
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        let drop_it = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        // In a thread of its own: a runtime may be running here. A database that stays behind harms nothing.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
            runtime.block_on(async {
                let client = connect(&service("PAYONCE_TEST_DATABASE_URL")).await.ok()?;
                client.batch_execute(&drop_it).await.ok()
            })
        });
        dropping.join().ok();
    }
}

async fn connect(url: &str) -> Result<Client, tokio_postgres::Error> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    // Ends with the client; what goes wrong, the client tells.
    tokio::spawn(async move { connection.await.ok() });
    Ok(client)
}
