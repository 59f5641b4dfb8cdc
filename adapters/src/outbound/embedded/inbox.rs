//! What waits for the writer.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use application::envelope::Envelope;
use tokio::sync::oneshot;

use super::settling::Step;

/// What the writer answers: stored, or why not.
pub(super) type Written = Result<(), String>;

/// Envelopes that are to be queued, all or none.
pub(super) struct Publish {
    pub(super) envelopes: Vec<Envelope>,
    pub(super) answer: oneshot::Sender<Written>,
}

/// Rows that are to be settled, all or none.
pub(super) struct Settle {
    pub(super) steps: Vec<Step>,
    /// Dead letters that are taken off.
    pub(super) letters: Vec<i64>,
    pub(super) answer: oneshot::Sender<Written>,
}

/// What the writer does in one go.
#[derive(Default)]
pub(super) struct Work {
    pub(super) publishes: Vec<Publish>,
    pub(super) settles: Vec<Settle>,
    /// Who wants to know whether anything can be written.
    pub(super) probes: Vec<oneshot::Sender<Written>>,
}

/// Nothing more is taken: the broker is closing.
#[derive(Debug)]
pub(super) struct Closed;

/// Publishes are bounded; settlements are bounded by what is in hand.
pub(super) struct Inbox {
    waiting: Mutex<Waiting>,
    filled: Condvar,
    envelopes_max: usize,
}

#[derive(Default)]
struct Waiting {
    publishes: VecDeque<Publish>,
    envelopes: usize,
    settles: Vec<Settle>,
    probes: Vec<oneshot::Sender<Written>>,
    closed: bool,
}

impl Inbox {
    pub(super) fn new(envelopes_max: usize) -> Self {
        Self {
            waiting: Mutex::new(Waiting::default()),
            filled: Condvar::new(),
            envelopes_max: envelopes_max.max(1),
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes as many of the envelopes, from the first, as there is room for. Gives the answer to come, and for
    /// how many envelopes it stands.
    pub(super) fn publish(
        &self,
        mut envelopes: Vec<Envelope>,
    ) -> Result<(usize, oneshot::Receiver<Written>), Closed> {
        let (answer, answered) = oneshot::channel();
        let mut waiting = self.waiting();
        if waiting.closed {
            return Err(Closed);
        }
        envelopes.truncate(self.envelopes_max - waiting.envelopes.min(self.envelopes_max));
        let taken = envelopes.len();
        if taken > 0 {
            waiting.envelopes += taken;
            waiting.publishes.push_back(Publish { envelopes, answer });
            self.filled.notify_one();
        }
        Ok((taken, answered))
    }

    pub(super) fn settle(
        &self,
        steps: Vec<Step>,
        letters: Vec<i64>,
    ) -> Result<oneshot::Receiver<Written>, Closed> {
        let (answer, answered) = oneshot::channel();
        let mut waiting = self.waiting();
        if waiting.closed {
            return Err(Closed);
        }
        waiting.settles.push(Settle { steps, letters, answer });
        self.filled.notify_one();
        Ok(answered)
    }

    pub(super) fn probe(&self) -> Result<oneshot::Receiver<Written>, Closed> {
        let (answer, answered) = oneshot::channel();
        let mut waiting = self.waiting();
        if waiting.closed {
            return Err(Closed);
        }
        waiting.probes.push(answer);
        self.filled.notify_one();
        Ok(answered)
    }

    /// Nothing more is taken; what waits is still done.
    pub(super) fn close(&self) {
        self.waiting().closed = true;
        self.filled.notify_one();
    }

    /// Nothing more is taken, and what waits is answered by nobody.
    pub(super) fn abandon(&self) {
        let abandoned = Waiting { closed: true, ..Waiting::default() };
        *self.waiting() = abandoned;
    }

    /// Waits for work, and takes all of it, but no more calls than it takes to reach `group_max` envelopes.
    /// `None` once it is closed and empty.
    pub(super) fn take(&self, group_max: usize) -> Option<Work> {
        let mut waiting = self.waiting();
        loop {
            let mut work = Work {
                settles: std::mem::take(&mut waiting.settles),
                probes: std::mem::take(&mut waiting.probes),
                publishes: Vec::new(),
            };
            let mut envelopes = 0;
            while envelopes < group_max.max(1)
                && let Some(publish) = waiting.publishes.pop_front()
            {
                envelopes += publish.envelopes.len();
                work.publishes.push(publish);
            }
            waiting.envelopes -= envelopes;
            if !(work.publishes.is_empty() && work.settles.is_empty() && work.probes.is_empty()) {
                return Some(work);
            }
            if waiting.closed {
                return None;
            }
            waiting = self.filled.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
