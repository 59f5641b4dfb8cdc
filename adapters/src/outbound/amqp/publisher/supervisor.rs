//! Keeps the publisher's connection: connects, declares the topology, runs the lanes, and starts over.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use application::error_chain::describe;
use application::ports::event_publisher::PublishError;
use futures::StreamExt;
use lapin::{Connection, Event};
use tokio::sync::{Mutex, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

use super::super::ConfirmChannel;
use super::super::connection::{AmqpSettings, backoff, close, connect, next_wait};
use super::super::topology::{self, MAIN_EXCHANGE, MAIN_ROUTING_KEY, TopologyError};
use super::lane::{self, LaneEnd, Lanes};
use super::{Audience, Condition, Job, PublisherSettings};

/// How often the connection is looked at, besides what it tells by itself.
const WATCH_INTERVAL: Duration = Duration::from_millis(100);

/// The least time between two repairs of a topology that is found broken, and between two lines about it.
const REPAIR_INTERVAL: Duration = Duration::from_secs(1);

pub(super) struct Supervisor {
    amqp: AmqpSettings,
    settings: PublisherSettings,
    queue: Arc<Mutex<mpsc::Receiver<Job>>>,
    condition: watch::Sender<Condition>,
    closing: CancellationToken,
}

/// An open connection, ready to publish.
struct Link {
    connection: Connection,
    channels: Vec<ConfirmChannel>,
    mismatch: Option<String>,
}

/// How serving ended.
enum End {
    Drained,
    Broken(String),
}

impl Supervisor {
    pub(super) fn new(
        amqp: AmqpSettings,
        settings: PublisherSettings,
        queue: mpsc::Receiver<Job>,
        condition: watch::Sender<Condition>,
        closing: CancellationToken,
    ) -> Self {
        Self { amqp, settings, queue: Arc::new(Mutex::new(queue)), condition, closing }
    }

    /// Runs until `closing`, and then until everything that waited is answered.
    pub(super) async fn run(self) {
        let mut waits = backoff();
        while let Some(opened) = self.while_away(self.open()).await {
            let reason = match opened {
                Ok(link) => {
                    waits = backoff();
                    info!("connected to the broker");
                    match self.serve(link).await {
                        End::Drained => break,
                        End::Broken(reason) => reason,
                    }
                }
                Err(reason) => reason,
            };
            let wait = next_wait(&mut waits);
            warn!(
                reason,
                wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
                "the broker is away; publishing fails until it is back"
            );
            self.set(Condition::Away(reason));
            if self.while_away(tokio::time::sleep(wait)).await.is_none() {
                break;
            }
        }
        let reason = "this process is stopping".to_owned();
        self.set(Condition::Away(reason));
        let mut queue = self.queue.lock().await;
        queue.close();
        while let Some(job) = queue.recv().await {
            self.refuse(job);
        }
    }

    fn set(&self, condition: Condition) {
        self.condition.send_replace(condition);
    }

    /// Runs `doing`, and meanwhile answers at once whoever wants to publish. `None` on `closing`.
    async fn while_away<T>(&self, doing: impl Future<Output = T>) -> Option<T> {
        let refuse_all = async {
            let mut queue = self.queue.lock().await;
            while let Some(job) = queue.recv().await {
                self.refuse(job);
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            biased;
            () = self.closing.cancelled() => None,
            done = doing => Some(done),
            () = refuse_all => None,
        }
    }

    fn refuse(&self, job: Job) {
        let obstacle = self.condition.borrow().obstacle();
        let reason = obstacle.unwrap_or_else(|| "the connection is being rebuilt".to_owned());
        job.finish(Err(PublishError::Unavailable(reason)));
    }

    async fn open(&self) -> Result<Link, String> {
        let connection = connect(&self.amqp).await.map_err(|error| describe(&error))?;
        let prepared = tokio::time::timeout(self.amqp.connect_timeout, self.prepare(&connection)).await;
        match prepared.unwrap_or_else(|_| Err("the broker did not declare the topology in time".to_owned())) {
            Ok((channels, mismatch)) => Ok(Link { connection, channels, mismatch }),
            Err(reason) => {
                close(&connection).await;
                Err(reason)
            }
        }
    }

    async fn prepare(
        &self,
        connection: &Connection,
    ) -> Result<(Vec<ConfirmChannel>, Option<String>), String> {
        let mismatch = self.declare(connection).await?;
        let mut channels = Vec::new();
        for _ in 0..self.settings.channels.max(1) {
            let opened = ConfirmChannel::open(connection).await;
            channels.push(opened.map_err(|error| describe(&error))?);
        }
        Ok((channels, mismatch))
    }

    /// What differs. That is no reason not to publish: where a message finds no queue, it is told.
    async fn declare(&self, connection: &Connection) -> Result<Option<String>, String> {
        match topology::declare(connection, &self.amqp.consumers, &self.amqp.retry_tiers).await {
            Ok(()) => Ok(None),
            Err(TopologyError::Mismatch(text)) => {
                error!(problem = text, "the topology is not what it should be");
                Ok(Some(text))
            }
            Err(failed) => Err(describe(&failed)),
        }
    }

    async fn serve(&self, link: Link) -> End {
        let Link { connection, channels, mismatch } = link;
        let (exchange, routing_key) = match self.settings.audience {
            Audience::EveryConsumer => (MAIN_EXCHANGE, MAIN_ROUTING_KEY.to_owned()),
            // The default exchange, at which every queue is known by its name.
            Audience::OwnConsumer => ("", self.amqp.queues.main()),
        };
        let lanes = Arc::new(Lanes {
            queue: Arc::clone(&self.queue),
            settings: self.settings,
            exchange,
            routing_key,
            status: connection.status().clone(),
            broken: CancellationToken::new(),
            closing: self.closing.clone(),
            unroutable: AtomicU64::new(0),
        });
        let mut running = JoinSet::new();
        for channel in channels {
            running.spawn(lane::run(channel, Arc::clone(&lanes)));
        }
        let end = self.watch(&connection, mismatch, &lanes, &mut running).await;
        if let End::Broken(reason) = &end {
            if !connection.status().blocked() {
                self.set(Condition::Away(reason.clone()));
            }
            lanes.broken.cancel();
            // What is in flight ends by the broken connection or at its deadline. A blocked connection is
            // kept until it is unblocked: a new one would take in a few more publishes, and block as well.
            self.while_away(async {
                while running.join_next().await.is_some() {}
                while connection.status().connected() && connection.status().blocked() {
                    tokio::time::sleep(WATCH_INTERVAL).await;
                }
            })
            .await;
        }
        close(&connection).await;
        end
    }

    /// Until a lane breaks, the connection ends, or all lanes are drained.
    async fn watch(
        &self,
        connection: &Connection,
        mut mismatch: Option<String>,
        lanes: &Lanes,
        running: &mut JoinSet<LaneEnd>,
    ) -> End {
        let mut events = connection.events_listener();
        self.set(Condition::Serving { mismatch: mismatch.clone() });
        let mut tick = tokio::time::interval(WATCH_INTERVAL);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut repaired_at: Option<Instant> = None;
        loop {
            tokio::select! {
                ended = running.join_next() => match ended {
                    None => return End::Drained,
                    Some(Ok(LaneEnd::Drained)) => {}
                    Some(Ok(LaneEnd::Broken(reason))) => return End::Broken(reason),
                    Some(Err(panicked)) => return End::Broken(describe(&panicked)),
                },
                event = events.next() => match event {
                    Some(Event::ConnectionBlocked(reason)) => {
                        warn!(reason, "the broker blocks publishers");
                        self.set(Condition::Blocked(reason));
                    }
                    Some(Event::ConnectionUnblocked) => {
                        info!("the broker takes publishes again");
                        self.set(Condition::Serving { mismatch: mismatch.clone() });
                    }
                    Some(Event::Error(error)) => return End::Broken(describe(&error)),
                    Some(_) => {}
                    None => return End::Broken("the connection ended".to_owned()),
                },
                _ = tick.tick() => {
                    if !connection.status().connected() {
                        return End::Broken("the connection ended".to_owned());
                    }
                    self.compare_blocked(connection.status().blocked(), mismatch.as_deref());
                    let due = repaired_at.is_none_or(|at| at.elapsed() >= REPAIR_INTERVAL);
                    let lost = if due { lanes.unroutable.swap(0, Ordering::Relaxed) } else { 0 };
                    if lost > 0 {
                        warn!(count = lost, "publishes found no queue and failed; declaring the topology again");
                        repaired_at = Some(Instant::now());
                        match self.repair(connection).await {
                            Ok(declared) => mismatch = declared,
                            Err(reason) => return End::Broken(reason),
                        }
                        if !connection.status().blocked() {
                            self.set(Condition::Serving { mismatch: mismatch.clone() });
                        }
                    }
                }
            }
        }
    }

    /// In case that blocking began before anyone listened, or that a repair took its time.
    fn compare_blocked(&self, blocked: bool, mismatch: Option<&str>) {
        let known = matches!(*self.condition.borrow(), Condition::Blocked(_));
        if blocked && !known {
            self.set(Condition::Blocked("it does not say why".to_owned()));
        } else if known && !blocked {
            self.set(Condition::Serving { mismatch: mismatch.map(str::to_owned) });
        }
    }

    async fn repair(&self, connection: &Connection) -> Result<Option<String>, String> {
        let declared = tokio::time::timeout(self.amqp.connect_timeout, self.declare(connection)).await;
        declared.unwrap_or_else(|_| Err("the broker did not declare the topology in time".to_owned()))
    }
}
