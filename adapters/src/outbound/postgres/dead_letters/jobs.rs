//! Replay jobs.

use application::dead_letter::{DeadLetterId, NewDeadLetter, StateTotals};
use application::operator::OperatorOrder;
use application::ports::replay_jobs::{NextMembers, ReplayJobs, Take};
use application::ports::unit_of_work::StoreError;
use application::replay::{
    FrozenJob, JobCommand, JobState, MarkedMember, NewReplayJob, ReplayJob, ReplayJobId, Selection,
};
use async_trait::async_trait;

use super::PostgresDeadLetters;
use crate::outbound::dead_letter_sql::scope::Scope;
use crate::outbound::dead_letter_sql::{freezing, jobs, marking, members, totals};

#[async_trait]
impl ReplayJobs for PostgresDeadLetters {
    async fn preview(&self, selection: &Selection) -> Result<Vec<StateTotals>, StoreError> {
        let mut session = self.begin().await?;
        let scope = Scope::of_selection(self.consumer.clone(), selection);
        let counts = totals::by_state(&mut session, &scope).await?;
        session.commit().await?;
        Ok(counts)
    }

    async fn create(&self, selection: &Selection, job: &NewReplayJob) -> Result<FrozenJob, StoreError> {
        let mut session = self.begin().await?;
        let frozen = freezing::create(&mut session, &self.consumer, selection, job).await?;
        session.commit().await?;
        Ok(frozen)
    }

    async fn create_edited(
        &self,
        original: DeadLetterId,
        copy: &NewDeadLetter,
        job: &NewReplayJob,
    ) -> Result<FrozenJob, StoreError> {
        let mut session = self.begin().await?;
        let frozen = freezing::create_edited(&mut session, &self.consumer, original, copy, job).await?;
        session.commit().await?;
        Ok(frozen)
    }

    async fn next_members(&self, job: ReplayJobId, take: &Take) -> Result<NextMembers, StoreError> {
        let mut session = self.begin().await?;
        let next = members::next(&mut session, &self.consumer, job, take).await?;
        session.commit().await?;
        Ok(next)
    }

    async fn mark(&self, job: ReplayJobId, runner: &str, marked: &[MarkedMember]) -> Result<(), StoreError> {
        let mut session = self.begin().await?;
        marking::mark(&mut session, &self.consumer, job, runner, marked).await?;
        session.commit().await
    }

    async fn command(
        &self,
        job: ReplayJobId,
        command: JobCommand,
        order: &OperatorOrder,
    ) -> Result<Option<JobState>, StoreError> {
        let mut session = self.begin().await?;
        let state = jobs::command(&mut session, &self.consumer, job, command, order).await?;
        session.commit().await?;
        Ok(state)
    }

    async fn get(&self, job: ReplayJobId) -> Result<Option<ReplayJob>, StoreError> {
        let mut session = self.begin().await?;
        let job = jobs::get(&mut session, &self.consumer, job).await?;
        session.commit().await?;
        Ok(job)
    }

    async fn page(
        &self,
        state: Option<JobState>,
        before: Option<ReplayJobId>,
        limit: u32,
    ) -> Result<Vec<ReplayJob>, StoreError> {
        let mut session = self.begin().await?;
        let page = jobs::page(&mut session, &self.consumer, state, before, limit).await?;
        session.commit().await?;
        Ok(page)
    }
}
