//! How fast a job is replayed: first a few letters, to see what comes of them, then more.

use std::fmt;
use std::time::Duration;

/// The most steps of a ramp.
pub const RAMP_STEPS_MAX: usize = 16;

/// The most letters of one step.
pub const STEP_LETTERS_MAX: u32 = 1_000;

/// The most letters in a second.
pub const RATE_PER_SECOND_MAX: u32 = 10_000;

/// How long to wait after each step of the ramp but the last: time for a letter that fails again to be seen.
pub const RAMP_WAIT: Duration = Duration::from_secs(5);

/// Why a replay cannot be scheduled so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// No step, or too many.
    #[error("the ramp has {0} steps; it has 1 to {RAMP_STEPS_MAX}")]
    Steps(usize),
    /// A step of no letter, or of too many.
    #[error("a step of the ramp has {0} letters; it has 1 to {STEP_LETTERS_MAX}")]
    StepLetters(u32),
    /// A rate at which nothing happens, or too much.
    #[error("the rate is {0} letters a second; it is 1 to {RATE_PER_SECOND_MAX}")]
    Rate(u32),
    /// Not numbers with commas in between.
    #[error("the ramp is not a list of numbers")]
    NotARamp,
}

/// The steps of a replay and its rate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplaySchedule {
    ramp: Vec<u32>,
    rate_per_second: u32,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// How many letters to take.
    pub letters: u32,
    /// How long to wait before the step that follows.
    pub pause: Duration,
}

impl ReplaySchedule {
    /// One letter, then 5, then 20, then 100 at a time, 50 in a second.
    pub fn careful() -> Self {
        Self { ramp: vec![1, 5, 20, 100], rate_per_second: 50 }
    }

    /// Steps of so many letters; the last one is repeated.
    pub fn new(ramp: Vec<u32>, rate_per_second: u32) -> Result<Self, ScheduleError> {
        if ramp.is_empty() || ramp.len() > RAMP_STEPS_MAX {
            return Err(ScheduleError::Steps(ramp.len()));
        }
        if let Some(step) = ramp.iter().find(|step| !(1..=STEP_LETTERS_MAX).contains(*step)) {
            return Err(ScheduleError::StepLetters(*step));
        }
        if !(1..=RATE_PER_SECOND_MAX).contains(&rate_per_second) {
            return Err(ScheduleError::Rate(rate_per_second));
        }
        Ok(Self { ramp, rate_per_second })
    }

    /// From the ramp as it is shown.
    pub fn parse(ramp: &str, rate_per_second: u32) -> Result<Self, ScheduleError> {
        let steps: Result<Vec<u32>, _> = ramp.split(',').map(|step| step.trim().parse()).collect();
        Self::new(steps.map_err(|_| ScheduleError::NotARamp)?, rate_per_second)
    }

    /// How many letters in a second.
    pub const fn rate_per_second(&self) -> u32 {
        self.rate_per_second
    }

    /// What to do when `done` letters have been settled. A step that was begun is finished first.
    pub fn next(&self, done: u64) -> Step {
        let mut end = 0;
        for (place, step) in self.ramp.iter().enumerate() {
            end += u64::from(*step);
            if done < end {
                let letters = u32::try_from(end - done).unwrap_or(*step);
                let is_last = place + 1 == self.ramp.len();
                let wait = if is_last { Duration::ZERO } else { RAMP_WAIT };
                return Step { letters, pause: self.pace(letters).max(wait) };
            }
        }
        let letters = self.ramp.last().copied().unwrap_or(1);
        Step { letters, pause: self.pace(letters) }
    }

    /// How long `letters` take at the rate.
    fn pace(&self, letters: u32) -> Duration {
        Duration::from_secs(letters.into()) / self.rate_per_second.max(1)
    }
}

/// The ramp, such as `1,5,20,100`.
impl fmt::Display for ReplaySchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps: Vec<String> = self.ramp.iter().map(ToString::to_string).collect();
        f.write_str(&steps.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(schedule: &ReplaySchedule, count: usize) -> Vec<u32> {
        let mut done = 0;
        (0..count)
            .map(|_| {
                let step = schedule.next(done);
                done += u64::from(step.letters);
                step.letters
            })
            .collect()
    }

    #[test]
    fn the_ramp_grows_and_its_last_step_is_repeated() {
        assert_eq!(steps(&ReplaySchedule::careful(), 6), [1, 5, 20, 100, 100, 100]);
    }

    #[test]
    fn a_step_that_was_begun_is_finished_first() {
        let schedule = ReplaySchedule::careful();
        assert_eq!(schedule.next(3).letters, 3);
        assert_eq!(schedule.next(25).letters, 1);
    }

    #[test]
    fn there_is_time_to_look_after_each_step_of_the_ramp_but_the_last() {
        let schedule = ReplaySchedule::careful();
        assert_eq!(schedule.next(0).pause, RAMP_WAIT);
        assert_eq!(schedule.next(6).pause, RAMP_WAIT);
        assert_eq!(schedule.next(26).pause, Duration::from_secs(2));
        assert_eq!(schedule.next(126).pause, Duration::from_secs(2));
    }

    #[test]
    fn a_step_takes_as_long_as_the_rate_says() {
        let schedule = ReplaySchedule::new(vec![30], 20).unwrap();
        assert_eq!(schedule.next(0), Step { letters: 30, pause: Duration::from_millis(1_500) });
        let slow = ReplaySchedule::new(vec![100, 1], 1).unwrap();
        assert_eq!(slow.next(0).pause, Duration::from_secs(100));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        assert_eq!(ReplaySchedule::new(vec![], 1), Err(ScheduleError::Steps(0)));
        assert_eq!(ReplaySchedule::new(vec![1; 17], 1), Err(ScheduleError::Steps(17)));
        assert_eq!(ReplaySchedule::new(vec![1, 0], 1), Err(ScheduleError::StepLetters(0)));
        assert_eq!(ReplaySchedule::new(vec![1_001], 1), Err(ScheduleError::StepLetters(1_001)));
        assert_eq!(ReplaySchedule::new(vec![1], 0), Err(ScheduleError::Rate(0)));
    }

    #[test]
    fn a_ramp_that_was_shown_can_be_read_again() {
        let schedule = ReplaySchedule::careful();
        assert_eq!(ReplaySchedule::parse(&schedule.to_string(), 50), Ok(schedule));
        assert_eq!(ReplaySchedule::parse("1,x", 50), Err(ScheduleError::NotARamp));
    }
}
