//! A replay: dead letters that go back to the main queue, in an order and at a pace that was decided before.
//!
//! - [`selection`]: which letters
//! - [`schedule`]: how fast

use std::fmt;

use domain::Timestamp;

use crate::dead_letter::{DeadLetter, DeadLetterId, MoneyTotal};
use crate::operator::OperatorOrder;

pub mod schedule;
pub mod selection;

pub use schedule::{ReplaySchedule, ScheduleError, Step};
pub use selection::{Selection, SelectionError};

/// The most letters of one job, so that freezing it takes seconds. What is left over takes another one.
pub const JOB_MEMBERS_MAX: u32 = 50_000;

/// The number of a replay job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReplayJobId(pub i64);

impl fmt::Display for ReplayJobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JobState {
    /// Its letters are being published.
    Running,
    /// An operator has halted it; it can go on.
    Paused,
    /// An operator has ended it; the letters that were not published are open again.
    Canceled,
    /// Each of its letters was published, or could not be.
    Finished,
}

impl JobState {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Running, Self::Paused, Self::Canceled, Self::Finished];

    /// The name under which it is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Canceled => "canceled",
            Self::Finished => "finished",
        }
    }

    /// The state of that stored name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// What an operator can do to a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JobCommand {
    /// Halt it.
    Pause,
    /// Let it go on.
    Resume,
    /// End it.
    Cancel,
}

impl JobCommand {
    /// What it is called in the record of what operators do.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pause => "pause replay",
            Self::Resume => "resume replay",
            Self::Cancel => "cancel replay",
        }
    }

    /// The state of a job in `state` after this; `None` where it changes nothing.
    pub const fn applied_to(self, state: JobState) -> Option<JobState> {
        match (self, state) {
            (Self::Pause, JobState::Running) => Some(JobState::Paused),
            (Self::Resume, JobState::Paused) => Some(JobState::Running),
            (Self::Cancel, JobState::Running | JobState::Paused) => Some(JobState::Canceled),
            _ => None,
        }
    }
}

/// What a new job is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewReplayJob {
    /// Who orders it, and why.
    pub order: OperatorOrder,
    /// How fast.
    pub schedule: ReplaySchedule,
    /// Letters whose events were replayed this often are left out: what keeps coming back is not mended.
    /// `None` takes them, too.
    pub replays_max: Option<u32>,
}

/// What was frozen into a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrozenJob {
    /// The job; `None` when there was no letter to take, and so there is none.
    pub job: Option<ReplayJobId>,
    /// How many letters it has.
    pub members: u64,
    /// What they are about, by currency.
    pub money: Vec<MoneyTotal>,
    /// What was selected and not taken.
    pub skipped: Skipped,
}

/// How many letters were selected and not taken, and why.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Skipped {
    /// There is no such letter; only where letters are named by number.
    pub unknown: u64,
    /// Replayed or discarded already; only where letters are named by number.
    pub settled: u64,
    /// In another job that is not done.
    pub taken: u64,
    /// It could not be read, so nobody knows which event it is.
    pub unreadable: u64,
    /// Replayed too often, see [`NewReplayJob::replays_max`].
    pub too_often: u64,
    /// Beyond [`JOB_MEMBERS_MAX`], or stored in the very same moment.
    pub left: u64,
}

/// A job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayJob {
    /// Its number.
    pub id: ReplayJobId,
    /// How it stands.
    pub state: JobState,
    /// Which letters were selected, in words.
    pub selection: String,
    /// Who ordered it, when, and why.
    pub order: OperatorOrder,
    /// How fast.
    pub schedule: ReplaySchedule,
    /// When the last of its letters was settled, or it was canceled.
    pub ended_at: Option<Timestamp>,
    /// How far it has come.
    pub progress: Progress,
}

/// How far a job has come, in letters.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// To be published.
    pub waiting: u64,
    /// Published, with a confirm of the broker.
    pub replayed: u64,
    /// Could not be published; open again.
    pub failed: u64,
    /// Not published since the job was canceled; open again.
    pub released: u64,
}

impl Progress {
    /// All letters of the job.
    pub const fn members(&self) -> u64 {
        self.waiting + self.replayed + self.failed + self.released
    }
}

/// A letter in the hands of somebody who publishes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayMember {
    /// The letter.
    pub letter: DeadLetter,
    /// How often it could not be published.
    pub failures: u32,
}

/// What became of trying to publish a letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemberOutcome {
    /// It is in the main queue; the broker has confirmed it.
    Replayed,
    /// The broker is away, which says nothing about the letter.
    NotTried,
    /// It could not be published, and is to be tried again.
    TryAgain {
        /// Why, bounded.
        error: String,
    },
    /// It could not be published, and is open again.
    Failed {
        /// Why, bounded.
        error: String,
    },
}

/// A letter of a job, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkedMember {
    /// The letter.
    pub id: DeadLetterId,
    /// What became of it.
    pub outcome: MemberOutcome,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_ended_stays_so() {
        for command in [JobCommand::Pause, JobCommand::Resume, JobCommand::Cancel] {
            for ended in [JobState::Canceled, JobState::Finished] {
                assert_eq!(command.applied_to(ended), None);
            }
        }
    }

    #[test]
    fn a_paused_job_can_go_on_or_end() {
        assert_eq!(JobCommand::Pause.applied_to(JobState::Running), Some(JobState::Paused));
        assert_eq!(JobCommand::Resume.applied_to(JobState::Paused), Some(JobState::Running));
        assert_eq!(JobCommand::Cancel.applied_to(JobState::Paused), Some(JobState::Canceled));
        assert_eq!(JobCommand::Pause.applied_to(JobState::Paused), None);
    }
}
