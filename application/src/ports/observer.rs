//! Hears what happens, for metrics. Never decides anything.

use std::time::Duration;

use domain::SourceName;

use crate::disposition::{DeadLetterReason, Disposition};
use crate::envelope::TraceContext;

/// Counts and times. An implementation MUST NOT block, and labels MUST come from closed sets (never an id).
#[cfg_attr(any(test, feature = "testing"), mockall::automock)]
pub trait Observer: Send + Sync {
    /// A request of a known source was answered; `outcome` is `accepted` or why it was not.
    fn request_answered(&self, source: &SourceName, outcome: &'static str, took: Duration);

    /// Events of a request were accepted.
    fn events_accepted(&self, source: &SourceName, count: usize);

    /// A request's signature was made with that one of the source's secrets, from 0.
    fn signature_matched(&self, source: &SourceName, slot: usize);

    /// A request's signature does not hold, for that reason.
    fn signature_refused(&self, source: &SourceName, reason: &'static str);

    /// A batch begins, in the current span; `producers` are the traces that its events came with. An
    /// implementation may link the span to them.
    fn batch_started(&self, producers: &[TraceContext]);

    /// An event of `source` was judged; `age` is the time since its arrival, at the commit.
    fn event_processed(&self, source: &SourceName, disposition: &Disposition, age: Duration);

    /// A batch of `size` events was processed.
    fn batch_processed(&self, size: usize, took: Duration);

    /// An event goes to the retry queue.
    fn event_retried(&self, class: &str);

    /// An event goes to the dead letters.
    fn event_dead_lettered(&self, reason: &DeadLetterReason);

    /// Acknowledgements that went nowhere.
    fn acks_lost(&self, count: usize);

    /// A subscription ended and is rebuilt.
    fn subscription_lost(&self);

    /// Processing is paused, or goes on again.
    fn paused(&self, paused: bool);
}
