//! Replay jobs.

use application::dead_letter::{DeadLetterId, NewDeadLetter, StateTotals};
use application::operator::OperatorOrder;
use application::ports::replay_jobs::{NextMembers, ReplayJobs, Take};
use application::ports::unit_of_work::StoreError;
use application::replay::{
    FrozenJob, JobCommand, JobState, MarkedMember, NewReplayJob, ReplayJob, ReplayJobId, Selection,
};
use async_trait::async_trait;

use super::{SqliteDeadLetters, done};
use crate::outbound::dead_letter_sql::scope::Scope;
use crate::outbound::dead_letter_sql::{freezing, jobs, marking, members, totals};

#[async_trait]
impl ReplayJobs for SqliteDeadLetters {
    async fn preview(&self, selection: &Selection) -> Result<Vec<StateTotals>, StoreError> {
        let scope = Scope::of_selection(self.consumer.clone(), selection);
        self.read(move |connection| done(totals::by_state(connection, &scope))).await
    }

    async fn create(&self, selection: &Selection, job: &NewReplayJob) -> Result<FrozenJob, StoreError> {
        let (consumer, selection, job) = (self.consumer.clone(), selection.clone(), job.clone());
        self.write(move |connection| done(freezing::create(connection, &consumer, &selection, &job))).await
    }

    async fn create_edited(
        &self,
        original: DeadLetterId,
        copy: &NewDeadLetter,
        job: &NewReplayJob,
    ) -> Result<FrozenJob, StoreError> {
        let (consumer, copy, job) = (self.consumer.clone(), copy.clone(), job.clone());
        self.write(move |connection| {
            done(freezing::create_edited(connection, &consumer, original, &copy, &job))
        })
        .await
    }

    async fn next_members(&self, job: ReplayJobId, take: &Take) -> Result<NextMembers, StoreError> {
        let (consumer, take) = (self.consumer.clone(), take.clone());
        self.write(move |connection| done(members::next(connection, &consumer, job, &take))).await
    }

    async fn mark(&self, job: ReplayJobId, runner: &str, marked: &[MarkedMember]) -> Result<(), StoreError> {
        let (consumer, runner, marked) = (self.consumer.clone(), runner.to_owned(), marked.to_vec());
        self.write(move |connection| done(marking::mark(connection, &consumer, job, &runner, &marked))).await
    }

    async fn command(
        &self,
        job: ReplayJobId,
        command: JobCommand,
        order: &OperatorOrder,
    ) -> Result<Option<JobState>, StoreError> {
        let (consumer, order) = (self.consumer.clone(), order.clone());
        self.write(move |connection| done(jobs::command(connection, &consumer, job, command, &order))).await
    }

    async fn get(&self, job: ReplayJobId) -> Result<Option<ReplayJob>, StoreError> {
        let consumer = self.consumer.clone();
        self.read(move |connection| done(jobs::get(connection, &consumer, job))).await
    }

    async fn page(
        &self,
        state: Option<JobState>,
        before: Option<ReplayJobId>,
        limit: u32,
    ) -> Result<Vec<ReplayJob>, StoreError> {
        let consumer = self.consumer.clone();
        self.read(move |connection| done(jobs::page(connection, &consumer, state, before, limit))).await
    }
}
