//! What the page remembers from one request to the next.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use application::ports::store_audit::{StoreAudit, StoreTotals};
use domain::Timestamp;

use super::super::services::OpsServices;
use super::sampler::{Samples, take};

/// How old the totals of the store may be: to count a large store takes a while.
const TOTALS_AGE_MAX: Duration = Duration::from_mins(1);

/// How long counting may hold a page up; it goes without them then.
const TOTALS_TIMEOUT: Duration = Duration::from_secs(2);

/// The last hour of this process, and totals that were counted a moment ago.
pub struct Page {
    /// The last hour.
    pub samples: Arc<Samples>,
    totals: Mutex<Option<(Timestamp, StoreTotals)>>,
}

impl Page {
    /// Begins to sample `services`. Wants a tokio runtime; ends with the last of those who have this.
    pub fn start(services: &OpsServices) -> Self {
        let samples = Arc::<Samples>::default();
        tokio::spawn(take(Arc::downgrade(&samples), services.metrics.clone(), services.queue.clone()));
        Self { samples, totals: Mutex::default() }
    }

    /// What the store has settled in all, as of a minute ago at most; `None` when it cannot be told in time.
    pub async fn totals(&self, audit: &dyn StoreAudit, now: Timestamp) -> Option<StoreTotals> {
        let known = *self.totals.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, totals)) = known
            && now.since(at) < TOTALS_AGE_MAX
        {
            return Some(totals);
        }
        let totals = tokio::time::timeout(TOTALS_TIMEOUT, audit.totals(None)).await.ok()?.ok()?;
        *self.totals.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, totals));
        Some(totals)
    }
}
