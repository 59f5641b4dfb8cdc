//! An operator sends dead letters to the main queue again, as they are or with other bytes.

use std::sync::Arc;

use bytes::Bytes;
use domain::{Digest, EventKey, SourceName};
use tracing::info;

use crate::dead_letter::{
    DeadLetter, DeadLetterId, LetterContent, LetterState, LetterSubject, NewDeadLetter, StateTotals,
};
use crate::envelope::Envelope;
use crate::operator::OperatorOrder;
use crate::ports::dead_letters::DeadLetters;
use crate::ports::provider::{Sources, Untranslatable};
use crate::ports::replay_jobs::ReplayJobs;
use crate::ports::unit_of_work::StoreError;
use crate::replay::{FrozenJob, JobCommand, JobState, NewReplayJob, ReplayJobId, Selection};

/// What an operator makes of a letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The bytes to replay instead.
    pub payload: Bytes,
    /// Which event it is, for a message that could not be read. For any other it stays what it is: another key
    /// would go round the idempotency key.
    pub key: Option<EventKey>,
}

/// Why an edited letter is not replayed. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// There is no such letter.
    #[error("there is no dead letter {0}")]
    NoLetter(DeadLetterId),
    /// It is not open.
    #[error("the dead letter is {}, not open", .0.as_str())]
    NotOpen(LetterState),
    /// A message that could not be read, and nobody says which event it is.
    #[error("the message could not be read; say which event it is")]
    KeyMissing,
    /// The event would become another one.
    #[error("the dead letter is the event {0} and stays so")]
    OtherKey(EventKey),
    /// Nobody could translate it.
    #[error("the source {0} is not configured")]
    NoSource(SourceName),
    /// The bytes cannot be translated.
    #[error(transparent)]
    Untranslatable(#[from] Untranslatable),
    /// The store did not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Makes replay jobs and steers them. [`RunReplays`](super::RunReplays) carries them out.
#[derive(Clone)]
pub struct ReplayDeadLetters {
    letters: Arc<dyn DeadLetters>,
    jobs: Arc<dyn ReplayJobs>,
    sources: Sources,
}

impl ReplayDeadLetters {
    /// Replays `letters` by `jobs`; `sources` tell whether edited ones can be translated.
    pub const fn new(letters: Arc<dyn DeadLetters>, jobs: Arc<dyn ReplayJobs>, sources: Sources) -> Self {
        Self { letters, jobs, sources }
    }

    /// What `selection` selects, by state. Changes nothing.
    pub async fn preview(&self, selection: &Selection) -> Result<Vec<StateTotals>, StoreError> {
        self.jobs.preview(selection).await
    }

    /// A job for the open letters of `selection`, as they are now.
    pub async fn create(&self, selection: &Selection, job: &NewReplayJob) -> Result<FrozenJob, StoreError> {
        let frozen = self.jobs.create(selection, job).await?;
        report(&frozen, &job.order);
        Ok(frozen)
    }

    /// A job for a copy of the open letter `id` with other bytes. The copy and the letter go together from
    /// then on. The bytes must be translatable, and to the same event.
    pub async fn create_edited(
        &self,
        id: DeadLetterId,
        edit: Edit,
        job: &NewReplayJob,
    ) -> Result<FrozenJob, EditError> {
        let letter = self.letters.get(id).await?.ok_or(EditError::NoLetter(id))?;
        if letter.summary.state != LetterState::Open {
            return Err(EditError::NotOpen(letter.summary.state));
        }
        let copy = self.edited(letter, edit, &job.order)?;
        let frozen = self.jobs.create_edited(id, &copy, job).await?;
        report(&frozen, &job.order);
        Ok(frozen)
    }

    /// Pauses, resumes or cancels a job; `None` where there is no such job.
    pub async fn command(
        &self,
        job: ReplayJobId,
        command: JobCommand,
        order: &OperatorOrder,
    ) -> Result<Option<JobState>, StoreError> {
        let state = self.jobs.command(job, command, order).await?;
        let now = state.map_or("unknown", JobState::as_str);
        info!(job = job.0, state = now, actor = order.actor.as_str(), "{}", command.as_str());
        Ok(state)
    }

    fn edited(
        &self,
        letter: DeadLetter,
        edit: Edit,
        order: &OperatorOrder,
    ) -> Result<NewDeadLetter, EditError> {
        let DeadLetter { summary, content, .. } = letter;
        let key = match (summary.key, edit.key) {
            (Some(key), Some(other)) if key != other => return Err(EditError::OtherKey(key)),
            (Some(key), _) | (None, Some(key)) => key,
            (None, None) => return Err(EditError::KeyMissing),
        };
        let received_at = summary.received_at.unwrap_or(summary.cause.dead_lettered_at);
        let content = LetterContent { payload: edit.payload, ..content };
        let envelope = Envelope {
            key: key.clone(),
            received_at,
            queued_at: order.at,
            content_type: content.content_type.clone(),
            headers: content.headers.clone(),
            trace: content.trace.clone(),
            payload: content.payload.clone(),
        };
        let provider =
            self.sources.get(&key.source).ok_or_else(|| EditError::NoSource(key.source.clone()))?;
        let event = provider.translate(&envelope)?;
        if event.key != key {
            return Err(EditError::OtherKey(key));
        }
        let arrival = Digest::of([
            b"edited".as_slice(),
            &summary.id.0.to_be_bytes(),
            &order.at.as_micros().to_be_bytes(),
            &content.payload,
        ]);
        Ok(NewDeadLetter {
            arrival,
            consumer: summary.consumer,
            key: Some(key),
            received_at: Some(received_at),
            content,
            history: Vec::new(),
            subject: LetterSubject::of(&event),
            cause: summary.cause,
            group: summary.group,
        })
    }
}

fn report(frozen: &FrozenJob, order: &OperatorOrder) {
    let (members, actor) = (frozen.members, order.actor.as_str());
    if let Some(job) = frozen.job {
        info!(job = job.0, members, actor, "replay ordered");
    } else {
        info!(actor, "a replay was ordered, and there is nothing to replay");
    }
}

#[cfg(test)]
mod tests;
