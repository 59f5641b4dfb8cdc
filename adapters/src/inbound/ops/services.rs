//! What this process can show to operators, and do for them.

use std::sync::Arc;

use application::operator::{OperatorOrder, Why};
use application::ports::clock::Clock;
use application::ports::dead_letters::DeadLetters;
use application::ports::event_queue::QueueInspector;
use application::ports::event_reader::EventReader;
use application::ports::operator_actions::OperatorActions;
use application::ports::outbox::Outbox;
use application::ports::payment_reader::PaymentReader;
use application::ports::readiness::ReadinessCheck;
use application::ports::replay_jobs::ReplayJobs;
use application::ports::store_audit::StoreAudit;
use application::use_cases::ReviewQuarantine;
use application::use_cases::dead_letters::{DiscardDeadLetters, ReplayDeadLetters};
use domain::{ConsumerName, SourceName};

use super::access::Principal;
use super::masking::Masking;
use super::server::Metrics;

/// What is done with the store.
pub struct StoreServices {
    /// The dead letters.
    pub letters: Arc<dyn DeadLetters>,
    /// The replay jobs.
    pub jobs: Arc<dyn ReplayJobs>,
    /// What operators have done.
    pub actions: Arc<dyn OperatorActions>,
    /// Payments and balances.
    pub payments: Arc<dyn PaymentReader>,
    /// Events and the path that each took.
    pub events: Arc<dyn EventReader>,
    /// Orders and steers replays.
    pub replay: ReplayDeadLetters,
    /// Discards dead letters.
    pub discard: DiscardDeadLetters,
    /// The totals.
    pub audit: Arc<dyn StoreAudit>,
    /// How far the destinations have come.
    pub outbox: Arc<dyn Outbox>,
}

/// What this process has. A worker has the store; a receiver has the quarantine; a process that is both has both.
pub struct OpsServices {
    /// Whose letters, events and payments these are.
    pub consumer: ConsumerName,
    /// The sources that are switched on, sorted.
    pub sources: Vec<SourceName>,
    /// The store, in a worker.
    pub store: Option<StoreServices>,
    /// The rejected requests, in a receiver that keeps them.
    pub quarantine: Option<Arc<ReviewQuarantine>>,
    /// What waits, in a worker.
    pub queue: Option<Arc<dyn QueueInspector>>,
    /// The parts that the process depends on.
    pub checks: Vec<Arc<dyn ReadinessCheck>>,
    /// The metrics of this process.
    pub metrics: Metrics,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// What is not shown of a payload.
    pub masking: Masking,
}

/// Something that another process has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotHere {
    /// The store.
    #[error("this process is a receiver and has no store; ask the operators' listener of a worker")]
    Store,
    /// The rejected requests.
    #[error(
        "this process keeps no rejected requests; ask the operators' listener of the receiver that refused them \
         (with quarantine.url = \"none:\" none are kept)"
    )]
    Quarantine,
    /// The queue.
    #[error("this process does not watch the queue; ask the operators' listener of a worker")]
    Queue,
}

impl OpsServices {
    /// The store.
    pub fn store(&self) -> Result<&StoreServices, NotHere> {
        self.store.as_ref().ok_or(NotHere::Store)
    }

    /// The rejected requests.
    pub fn quarantine(&self) -> Result<&ReviewQuarantine, NotHere> {
        self.quarantine.as_deref().ok_or(NotHere::Quarantine)
    }

    /// What waits.
    pub fn queue(&self) -> Result<&dyn QueueInspector, NotHere> {
        self.queue.as_deref().ok_or(NotHere::Queue)
    }

    /// An order of `principal`, given now.
    pub fn order(&self, principal: &Principal, why: Why) -> OperatorOrder {
        OperatorOrder { actor: principal.actor.clone(), at: self.clock.now(), why }
    }
}
