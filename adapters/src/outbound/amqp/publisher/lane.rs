//! One publishing channel: takes everything that waits as a group, publishes it, answers, takes the next.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use application::ports::event_publisher::PublishError;
use lapin::ConnectionStatus;
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;

use super::super::{ConfirmChannel, Outcome, Outgoing};
use super::{Answer, Job, PublisherSettings};

/// What the lanes of a connection share.
pub(super) struct Lanes {
    /// Whoever is free takes the next group.
    pub queue: Arc<Mutex<mpsc::Receiver<Job>>>,
    pub settings: PublisherSettings,
    /// Where it goes.
    pub exchange: &'static str,
    pub routing_key: String,
    pub status: ConnectionStatus,
    /// The connection is of no use any more: take no further group.
    pub broken: CancellationToken,
    /// Bring to an end what waits, and take nothing more.
    pub closing: CancellationToken,
    /// Publishes that found no queue since this was last looked at.
    pub unroutable: AtomicU64,
}

/// How a lane ended.
#[derive(Debug)]
pub(super) enum LaneEnd {
    /// Nothing waits, and nothing will come.
    Drained,
    /// The channel is of no use any more.
    Broken(String),
}

/// Serves until the channel breaks, or until everything is published after `closing`.
pub(super) async fn run(mut channel: ConfirmChannel, lanes: Arc<Lanes>) -> LaneEnd {
    loop {
        let group = tokio::select! {
            biased;
            () = lanes.broken.cancelled() => return LaneEnd::Broken("another channel broke".to_owned()),
            group = next_group(&lanes) => group,
        };
        if group.is_empty() {
            channel.close().await;
            return LaneEnd::Drained;
        }
        if let Err(reason) = publish(&mut channel, group, &lanes).await {
            return LaneEnd::Broken(reason);
        }
    }
}

/// Empty when nothing waits and nothing will come. Loses nothing when dropped.
async fn next_group(lanes: &Lanes) -> Vec<Job> {
    let mut group = Vec::new();
    let mut queue = lanes.queue.lock().await;
    if !lanes.closing.is_cancelled() {
        tokio::select! {
            biased;
            _ = queue.recv_many(&mut group, lanes.settings.group_max.max(1)) => return group,
            () = lanes.closing.cancelled() => {}
        }
    }
    queue.close();
    queue.recv_many(&mut group, lanes.settings.group_max.max(1)).await;
    group
}

async fn publish(channel: &mut ConfirmChannel, mut group: Vec<Job>, lanes: &Lanes) -> Result<(), String> {
    if lanes.status.blocked() {
        for job in group {
            let reason = "it blocks publishers".to_owned();
            job.finish(Err(PublishError::Unavailable(reason)));
        }
        return Ok(());
    }
    // Whoever waits no more sends again; publishing for them would only make duplicates.
    group.retain(|job| !job.answer.is_closed());
    let Some(deadline) = group.iter().map(|job| job.deadline).max() else {
        return Ok(());
    };
    let outgoing = group
        .iter_mut()
        .map(|job| Outgoing {
            exchange: lanes.exchange,
            routing_key: &lanes.routing_key,
            properties: std::mem::take(&mut job.properties),
            payload: &job.payload,
        })
        .collect();
    let outcomes = channel.publish(outgoing, deadline).await;
    let mut broken = None;
    for (job, outcome) in group.into_iter().zip(outcomes) {
        match &outcome {
            Outcome::Unroutable(_) => drop(lanes.unroutable.fetch_add(1, Ordering::Relaxed)),
            Outcome::TimedOut => broken = Some("no confirm came in time".to_owned()),
            Outcome::Broken(reason) => broken = Some(reason.clone()),
            Outcome::Stored | Outcome::Refused => {}
        }
        job.finish(answer(outcome, lanes.settings));
    }
    match broken {
        Some(reason) => Err(reason),
        None if channel.intact() => Ok(()),
        None => Err("the channel was closed".to_owned()),
    }
}

fn answer(outcome: Outcome, settings: PublisherSettings) -> Answer {
    match outcome {
        Outcome::Stored => Ok(()),
        Outcome::Unroutable(text) => Err(PublishError::Unroutable(text)),
        Outcome::Refused => Err(PublishError::Refused),
        Outcome::TimedOut => Err(PublishError::TimedOut(settings.confirm_timeout)),
        Outcome::Broken(reason) => Err(PublishError::Broken(reason.into())),
    }
}
