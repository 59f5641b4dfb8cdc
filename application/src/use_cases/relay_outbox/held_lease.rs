//! A lease that is kept alive while something else is done.

use std::time::Duration;

use tokio::time::Instant;

use crate::ports::outbox::{OutboxBatch, OutboxError, OutboxLease, Settled};
use crate::ports::unit_of_work::StoreError;

/// How soon renewing is tried again when the store did not do it.
const RENEW_AGAIN: Duration = Duration::from_millis(500);

/// A lease and, by our own clock, until when it holds at least.
pub(super) struct HeldLease {
    lease: Box<dyn OutboxLease>,
    lasts: Duration,
    expires_at: Instant,
}

impl HeldLease {
    /// A lease that was asked for at `asked_at` and lasts that long. The store counts from when it is given,
    /// which is later; so ours ends first.
    pub(super) fn new(lease: Box<dyn OutboxLease>, lasts: Duration, asked_at: Instant) -> Self {
        Self { lease, lasts, expires_at: asked_at + lasts }
    }

    pub(super) async fn next(&mut self, limit: usize) -> Result<OutboxBatch, OutboxError> {
        self.lease.next(limit).await
    }

    pub(super) async fn settle(&mut self, settled: Vec<Settled>) -> Result<(), OutboxError> {
        let asked_at = Instant::now();
        self.lease.settle(settled).await?;
        self.expires_at = asked_at + self.lasts;
        Ok(())
    }

    pub(super) async fn release(self) -> Result<(), OutboxError> {
        self.lease.release().await
    }

    /// Does `work`, and renews the lease meanwhile. When the lease is lost, or cannot be renewed before it is
    /// over, `work` is dropped.
    pub(super) async fn keep_during<T: Send>(
        &mut self,
        work: impl Future<Output = T> + Send,
    ) -> Result<T, OutboxError> {
        if Instant::now() >= self.renew_at() {
            self.renew().await?;
        }
        tokio::select! {
            biased;
            done = work => Ok(done),
            lost = self.keep() => Err(lost),
        }
    }

    /// Renews the lease again and again, until it cannot.
    async fn keep(&mut self) -> OutboxError {
        let mut next = self.renew_at();
        loop {
            tokio::time::sleep_until(next).await;
            next = match self.renew().await {
                Ok(()) => self.renew_at(),
                Err(OutboxError::Store(_)) if Instant::now() + RENEW_AGAIN < self.expires_at => {
                    Instant::now() + RENEW_AGAIN
                }
                Err(error) => return error,
            };
        }
    }

    async fn renew(&mut self) -> Result<(), OutboxError> {
        let asked_at = Instant::now();
        let deadline = self.expires_at.max(asked_at + RENEW_AGAIN);
        match tokio::time::timeout_at(deadline, self.lease.renew()).await {
            Ok(renewed) => renewed?,
            Err(elapsed) => return Err(StoreError::Unavailable(elapsed.into()).into()),
        }
        self.expires_at = asked_at + self.lasts;
        Ok(())
    }

    /// After a third of its time.
    fn renew_at(&self) -> Instant {
        self.expires_at - self.lasts * 2 / 3
    }
}
