//! The limits of the public listener. Each is there on purpose, so none has a hidden default here.

use std::time::Duration;

/// The limits of the public listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpSettings {
    /// The longest body that is read, in bytes.
    pub body_bytes_max: usize,
    /// How long a body may take from the end of its headers, all in all.
    pub body_deadline: Duration,
    /// How long a connection's first headers may take.
    pub header_timeout: Duration,
    /// How long an idle connection stays open. Longer than a load balancer's, or it sees resets.
    pub keep_alive: Duration,
    /// How many threads serve requests.
    pub workers: usize,
    /// How many connections there may be, over all workers.
    pub connections_max: usize,
    /// How long requests in flight may take to finish once the server stops.
    pub shutdown_grace: Duration,
    /// What `Retry-After` says.
    pub retry_after: Duration,
}

impl HttpSettings {
    pub(super) fn connections_max_per_worker(&self) -> usize {
        self.connections_max.div_ceil(self.workers.max(1)).max(1)
    }

    pub(super) fn shutdown_grace_secs(&self) -> u64 {
        whole_secs(self.shutdown_grace)
    }

    pub(super) fn retry_after_secs(&self) -> u64 {
        whole_secs(self.retry_after).max(1)
    }
}

/// Rounded up: half a second of grace is not none.
fn whole_secs(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}
