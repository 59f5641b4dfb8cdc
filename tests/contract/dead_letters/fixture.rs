//! A store that behaviours are tried on, and what they have in common.

use std::sync::Arc;
use std::time::Duration;

use application::dead_letter::{
    DeadLetter, DeadLetterId, DeadLetterSummary, LetterFilter, LetterState, NewDeadLetter,
};
use application::ports::alert_log::AlertLog;
use application::ports::dead_letters::{DeadLetters, PAGE_LETTERS_MAX};
use application::ports::operator_actions::OperatorActions;
use application::ports::replay_jobs::{NextMembers, ReplayJobs, Take};
use application::replay::{MarkedMember, MemberOutcome, ReplayJobId, ReplayMember, Selection};
use application::testing::dead_letters::new_job;
use async_trait::async_trait;

/// A fresh store.
#[async_trait]
pub trait LettersFixture: Send + Sync + 'static {
    async fn create() -> Self;

    /// Sessions of their own, as another process would have them, for the letters of `consumer`.
    fn store_of(&self, consumer: &str) -> Store;

    /// Runs a statement past the adapter; whether the store itself refuses it.
    async fn refuses(&self, statement: &str) -> bool;

    /// The same for the letters of the consumer that tests use.
    fn store(&self) -> Store {
        self.store_of("payments")
    }
}

/// The ports of one process.
#[derive(Clone)]
pub struct Store {
    pub letters: Arc<dyn DeadLetters>,
    pub jobs: Arc<dyn ReplayJobs>,
    pub alerts: Arc<dyn AlertLog>,
    pub actions: Arc<dyn OperatorActions>,
}

impl Store {
    pub fn of(store: impl DeadLetters + ReplayJobs + AlertLog + OperatorActions + 'static) -> Self {
        let store = Arc::new(store);
        Self { letters: store.clone(), jobs: store.clone(), alerts: store.clone(), actions: store }
    }

    /// Stores letters one by one, so that their numbers are in order.
    pub async fn keep(&self, letters: &[NewDeadLetter]) -> Vec<DeadLetterId> {
        for letter in letters {
            assert_eq!(self.letters.store(vec![letter.clone()]).await.unwrap(), 1);
        }
        let mut ids: Vec<DeadLetterId> = self.all().await.iter().map(|letter| letter.id).collect();
        ids.sort_unstable();
        ids.split_off(ids.len() - letters.len())
    }

    /// All letters but copies, the newest first.
    pub async fn all(&self) -> Vec<DeadLetterSummary> {
        self.matching(&LetterFilter::default()).await
    }

    /// The letters of a filter, the newest first.
    pub async fn matching(&self, filter: &LetterFilter) -> Vec<DeadLetterSummary> {
        self.letters.page(filter, None, None, PAGE_LETTERS_MAX).await.unwrap().letters
    }

    /// One letter, which is there.
    pub async fn letter(&self, id: DeadLetterId) -> DeadLetter {
        self.letters.get(id).await.unwrap().unwrap()
    }

    pub async fn state(&self, id: DeadLetterId) -> LetterState {
        self.letter(id).await.summary.state
    }

    /// A job for everything that is open.
    pub async fn replay_everything(&self) -> ReplayJobId {
        self.jobs.create(&Selection::everything(), &new_job("ann")).await.unwrap().job.unwrap()
    }

    /// What `runner` gets of a job when it asks for so many.
    pub async fn take(&self, job: ReplayJobId, runner: &str, letters: u32) -> Vec<ReplayMember> {
        match self.jobs.next_members(job, &take(runner, letters)).await.unwrap() {
            NextMembers::Publish(members) => members,
            NextMembers::Wait(_) | NextMembers::NotRunning => Vec::new(),
        }
    }

    /// Says that these letters had this outcome.
    pub async fn mark(&self, job: ReplayJobId, runner: &str, ids: &[DeadLetterId], outcome: MemberOutcome) {
        let marked: Vec<MarkedMember> =
            ids.iter().map(|id| MarkedMember { id: *id, outcome: outcome.clone() }).collect();
        self.jobs.mark(job, runner, &marked).await.unwrap();
    }

    /// Replays everything that is open.
    pub async fn replayed(&self) {
        let job = self.replay_everything().await;
        let ids = ids(&self.take(job, "worker-1", 1_000).await);
        self.mark(job, "worker-1", &ids, MemberOutcome::Replayed).await;
    }
}

/// A long lease and no pause.
pub fn take(runner: &str, letters: u32) -> Take {
    Take {
        runner: runner.to_owned(),
        letters,
        bytes: 1 << 30,
        lease: Duration::from_mins(10),
        pause: Duration::ZERO,
    }
}

pub fn ids(members: &[ReplayMember]) -> Vec<DeadLetterId> {
    members.iter().map(|member| member.letter.summary.id).collect()
}

pub fn of_ids(ids: &[DeadLetterId]) -> Selection {
    Selection::of_ids(ids.to_vec()).unwrap()
}
