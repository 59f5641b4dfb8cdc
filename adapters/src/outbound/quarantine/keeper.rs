//! The thread that has the file. SQLite blocks, and a request that is refused must not wait for a disk.

use std::path::PathBuf;
use std::sync::mpsc::Receiver;

use application::error_chain::describe;
use application::ports::BoxError;
use application::ports::quarantine::{Quarantined, RejectedRequest};
use diesel::SqliteConnection;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use std::time::Duration;
use tokio::sync::oneshot;

use super::rows;
use super::settings::QuarantineLimits;
use crate::outbound::sqlite::connect::{Access, OpenOptions, open};

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../migrations/quarantine");

/// How long to wait for another process that has the file, such as an operator's command.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// How many requests are written in one transaction.
const GROUP_MAX: usize = 32;

/// What the keeper is asked for. A caller that has gone needs no answer.
pub enum Order {
    Keep(RejectedRequest),
    List { before: Option<i64>, limit: u32, answer: Answer<Vec<Quarantined>> },
    Get { id: i64, answer: Answer<Option<Quarantined>> },
    Remove { id: i64, answer: Answer<bool> },
}

pub type Answer<T> = oneshot::Sender<Result<T, BoxError>>;

pub struct Keeper {
    pub path: PathBuf,
    pub limits: QuarantineLimits,
    pub connection: SqliteConnection,
}

impl Keeper {
    /// Opens the file, and makes it where it is not there.
    pub fn open(path: PathBuf, limits: QuarantineLimits) -> Result<Self, BoxError> {
        let mut connection = open(&path, OpenOptions { access: Access::Create, busy_timeout: BUSY_TIMEOUT })?;
        connection.run_pending_migrations(MIGRATIONS)?;
        Ok(Self { path, limits, connection })
    }

    /// Works until every asker has gone.
    pub fn run(mut self, orders: &Receiver<Order>) {
        while let Ok(order) = orders.recv() {
            let mut group = Vec::new();
            let mut next = Some(order);
            while let Some(order) = next.take() {
                match order {
                    Order::Keep(request) => group.push(request),
                    other => {
                        self.keep(&mut group);
                        self.answer(other);
                    }
                }
                if group.len() < GROUP_MAX {
                    next = orders.try_recv().ok();
                }
            }
            self.keep(&mut group);
        }
    }

    fn keep(&mut self, group: &mut Vec<RejectedRequest>) {
        if group.is_empty() {
            return;
        }
        if let Err(error) = rows::add(&mut self.connection, group, self.limits) {
            let (path, count) = (self.path.display(), group.len());
            tracing::warn!(error = describe(&*error), count, "rejected requests could not be kept in {path}");
        }
        group.clear();
    }

    fn answer(&mut self, order: Order) {
        match order {
            Order::Keep(_) => {}
            Order::List { before, limit, answer } => {
                answer.send(rows::list(&mut self.connection, before, limit)).ok();
            }
            Order::Get { id, answer } => {
                answer.send(rows::get(&mut self.connection, id)).ok();
            }
            Order::Remove { id, answer } => {
                answer.send(rows::remove(&mut self.connection, id)).ok();
            }
        }
    }
}
