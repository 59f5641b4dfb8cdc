//! In a SQLite file of its own, which outlives the process: a secret is mended by a restart, usually.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};

use application::ports::BoxError;
use application::ports::quarantine::{Quarantine, QuarantineError, Quarantined, RejectedRequest};
use async_trait::async_trait;
use tokio::sync::oneshot;

use super::keeper::{Answer, Keeper, Order};
use super::settings::{QuarantineLimits, WAITING_MAX, bytes_of};

/// Keeps the newest rejected requests in a file. Several processes may have it open.
pub struct FileQuarantine {
    orders: SyncSender<Order>,
    limits: QuarantineLimits,
    let_go: AtomicU64,
}

impl FileQuarantine {
    /// Opens the file at `path`, and makes it where it is not there.
    ///
    /// # Errors
    /// It cannot be opened or made.
    pub fn open(path: PathBuf, limits: QuarantineLimits) -> Result<Self, QuarantineError> {
        let doing = format!("opening {}", path.display());
        let failed = |source: BoxError| QuarantineError { doing, source };
        let opened = Keeper::open(path, limits);
        let keeper = match opened {
            Ok(keeper) => keeper,
            Err(error) => return Err(failed(error)),
        };
        let (orders, inbox) = sync_channel(WAITING_MAX);
        let thread = std::thread::Builder::new().name("quarantine".to_owned());
        thread.spawn(move || keeper.run(&inbox)).map_err(|error| failed(error.into()))?;
        Ok(Self { orders, limits, let_go: AtomicU64::new(0) })
    }

    async fn ask<T: Send>(
        &self,
        doing: &str,
        order: impl FnOnce(Answer<T>) -> Order,
    ) -> Result<T, QuarantineError> {
        let failed = |source: BoxError| QuarantineError { doing: doing.to_owned(), source };
        let (answer, answered) = oneshot::channel();
        let mut order = order(answer);
        // An operator's question waits for its turn; it does not take a thread for it.
        loop {
            order = match self.orders.try_send(order) {
                Ok(()) => break,
                Err(TrySendError::Full(order)) => order,
                Err(TrySendError::Disconnected(_)) => return Err(failed("its thread has ended".into())),
            };
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        match answered.await {
            Ok(answered) => answered.map_err(failed),
            Err(gone) => Err(failed(gone.into())),
        }
    }
}

#[async_trait]
impl Quarantine for FileQuarantine {
    fn keep(&self, request: RejectedRequest) {
        let fits = bytes_of(&request) <= self.limits.bytes_max && self.limits.entries_max > 0;
        if fits && self.orders.try_send(Order::Keep(request)).is_ok() {
            return;
        }
        // Not for each of them: whoever sends many must not fill the log.
        let let_go = self.let_go.fetch_add(1, Ordering::Relaxed) + 1;
        if let_go.is_power_of_two() {
            tracing::warn!(let_go, "rejected requests come faster than they can be kept, or are too large");
        }
    }

    async fn list(&self, before: Option<i64>, limit: u32) -> Result<Vec<Quarantined>, QuarantineError> {
        self.ask("listing", |answer| Order::List { before, limit, answer }).await
    }

    async fn get(&self, id: i64) -> Result<Option<Quarantined>, QuarantineError> {
        self.ask("reading", |answer| Order::Get { id, answer }).await
    }

    async fn remove(&self, id: i64) -> Result<bool, QuarantineError> {
        self.ask("removing", |answer| Order::Remove { id, answer }).await
    }
}
