//! Sends the plan: one task a connection, each taking the next request that is due.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use adapters::clock::SystemClock;
use application::ports::clock::Clock as _;
use futures::future::join_all;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::http::{HeaderName, HeaderValue, Method, Request, header};
use tokio::sync::Semaphore;
use tokio_util::task::AbortOnDropHandle;

use super::connection::{Connection, Target};
use super::event::Events;
use super::pace::{Schedule, pace};
use super::plan::{Plan, Slot};
use super::signing::Signer;
use super::tally::{Marks, Tally, is_acceptance};

const BACKOFF_FIRST: Duration = Duration::from_millis(100);
const BACKOFF_MAX: Duration = Duration::from_secs(5);

const WEBHOOK_ID: HeaderName = HeaderName::from_static("webhook-id");
const WEBHOOK_TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const WEBHOOK_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// What to send, where and how.
pub(super) struct Load {
    pub target: Target,
    pub events: Events,
    pub plan: Plan,
    pub signer: Option<Signer>,
    pub rate: Option<u32>,
    pub connections: u16,
    pub attempts: u32,
    pub timeout: Duration,
}

/// What came of it.
pub(super) struct Sent {
    pub tally: Tally,
    /// Distinct events ever answered 2xx.
    pub accepted: u64,
    /// Distinct events that may have been stored although they were not.
    pub uncertain: u64,
    /// When the first request was due.
    pub start: Instant,
}

/// How far the sending is, for the screen.
#[derive(Debug, Default)]
pub(super) struct Live {
    pub sent: AtomicU64,
    pub accepted: AtomicU64,
}

struct Run {
    load: Load,
    schedule: Schedule,
    permits: Arc<Semaphore>,
    next: AtomicUsize,
    marks: Marks,
    live: Arc<Live>,
}

/// Sends everything. Dropping the future stops the senders.
pub(super) async fn send(load: Load, live: Arc<Live>) -> anyhow::Result<Sent> {
    let mut connections: Vec<_> =
        (0..load.connections).map(|_| Connection::new(load.target.clone())).collect();
    // One that cannot connect yet tries again when it has something to send.
    join_all(connections.iter_mut().map(Connection::warm)).await;

    let schedule = Schedule::new(Instant::now(), load.rate);
    let run = Arc::new(Run {
        permits: pace(schedule, load.plan.len(), connections.len())?,
        schedule,
        next: AtomicUsize::new(0),
        marks: Marks::new(load.plan.distinct()),
        load,
        live,
    });
    let senders: Vec<_> = connections
        .into_iter()
        .map(|connection| AbortOnDropHandle::new(tokio::spawn(Arc::clone(&run).work(connection))))
        .collect();
    let mut tally = Tally::new()?;
    for sender in senders {
        tally.merge(sender.await??)?;
    }
    Ok(Sent {
        tally,
        accepted: run.marks.accepted(),
        uncertain: run.marks.uncertain(),
        start: schedule.start(),
    })
}

impl Run {
    async fn work(self: Arc<Self>, mut connection: Connection) -> anyhow::Result<Tally> {
        let mut tally = Tally::new()?;
        while let Some((slot, due)) = self.take().await {
            self.deliver(slot, due, &mut connection, &mut tally).await?;
        }
        Ok(tally)
    }

    /// The next request, once it is due, and the time from which its latency counts.
    async fn take(&self) -> Option<(Slot, Instant)> {
        self.permits.acquire().await.ok()?.forget();
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        let slot = self.load.plan.get(index)?;
        Some((slot, self.schedule.due(index).unwrap_or_else(Instant::now)))
    }

    /// Sends one event until it is accepted or the attempts are used up.
    async fn deliver(
        &self,
        slot: Slot,
        due: Instant,
        connection: &mut Connection,
        tally: &mut Tally,
    ) -> anyhow::Result<()> {
        let body = self.load.events.body(slot.event);
        self.live.sent.fetch_add(1, Ordering::Relaxed);
        for attempt in 1..=self.load.attempts {
            if attempt > 1 {
                tally.retries += 1;
                tokio::time::sleep(backoff(attempt)).await;
            }
            let request = self.request(slot.event, body.clone())?;
            let answer = connection.send(request, self.load.timeout).await;
            self.marks.note(slot.event, &answer);
            if is_acceptance(&answer) {
                tally.accept(slot.copy, due, Instant::now());
                self.live.accepted.fetch_add(1, Ordering::Relaxed);
                break;
            }
            tally.refuse(&answer);
        }
        Ok(())
    }

    /// Signed anew for each attempt, as a provider does.
    fn request(&self, event: u32, body: Bytes) -> anyhow::Result<Request<Full<Bytes>>> {
        let signature = self.load.signer.as_ref().map(|signer| {
            let (id, now) = (self.load.events.id(event), SystemClock.now());
            let signature = signer.sign(&id, now, &body);
            (id, now.as_secs(), signature)
        });
        let mut request = self.load.target.request(Method::POST, body);
        let headers = request.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some((id, seconds, signature)) = signature {
            headers.insert(WEBHOOK_ID, HeaderValue::try_from(id)?);
            headers.insert(WEBHOOK_TIMESTAMP, HeaderValue::from(seconds));
            headers.insert(WEBHOOK_SIGNATURE, HeaderValue::try_from(signature)?);
        }
        Ok(request)
    }
}

/// How long to wait before this attempt: twice as long each time, up to a limit.
fn backoff(attempt: u32) -> Duration {
    let doublings = attempt.saturating_sub(2).min(10);
    BACKOFF_FIRST.saturating_mul(1 << doublings).min(BACKOFF_MAX)
}

#[cfg(test)]
mod tests;
