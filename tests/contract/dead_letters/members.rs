//! Who gets which letters of a job.

use std::time::Duration;

use application::ports::replay_jobs::{NextMembers, Take};
use application::replay::{JobCommand, JobState, MemberOutcome, ReplayJobId};
use application::testing::dead_letters::{new_letter, order};
use bytes::Bytes;

use super::fixture::{LettersFixture, Store, ids, take};

async fn job_of(store: &Store, letters: i64) -> ReplayJobId {
    let letters: Vec<_> = (1..=letters).map(|number| new_letter(&format!("evt_{number}"), number)).collect();
    store.keep(&letters).await;
    store.replay_everything().await
}

fn events(members: &[application::replay::ReplayMember]) -> Vec<&str> {
    members
        .iter()
        .filter_map(|member| member.letter.summary.key.as_ref())
        .map(|key| key.event_id.as_str())
        .collect()
}

pub async fn letters_are_handed_out_from_the_oldest_on_and_once(fixture: impl LettersFixture) {
    let (store, other) = (fixture.store(), fixture.store());
    let job = job_of(&store, 3).await;
    assert_eq!(events(&store.take(job, "worker-1", 2).await), ["evt_1", "evt_2"]);
    assert_eq!(events(&other.take(job, "worker-2", 2).await), ["evt_3"]);
    let none = other.jobs.next_members(job, &take("worker-2", 2)).await.unwrap();
    assert!(matches!(none, NextMembers::Wait(wait) if !wait.is_zero()), "{none:?}");
}

pub async fn letters_are_handed_out_up_to_a_number_of_bytes_but_always_one(fixture: impl LettersFixture) {
    let store = fixture.store();
    let letters: Vec<_> = [500, 30, 30, 30, 30]
        .into_iter()
        .zip(1..)
        .map(|(bytes, number)| {
            let mut letter = new_letter(&format!("evt_{number}"), number);
            letter.content.payload = Bytes::from(vec![b'x'; bytes]);
            letter
        })
        .collect();
    store.keep(&letters).await;
    let job = store.replay_everything().await;
    let small = Take { bytes: 70, ..take("worker-1", 100) };
    let mut taken = Vec::new();
    while let NextMembers::Publish(members) = store.jobs.next_members(job, &small).await.unwrap() {
        taken.push(members.len());
    }
    // Up to the one that is begun below the limit.
    assert_eq!(taken, [1, 3, 1]);
}

pub async fn a_lease_that_is_over_goes_to_whoever_asks(fixture: impl LettersFixture) {
    let (store, other) = (fixture.store(), fixture.store());
    let job = job_of(&store, 1).await;
    let short = Take { lease: Duration::ZERO, ..take("worker-1", 1) };
    let first = store.jobs.next_members(job, &short).await.unwrap();
    assert!(matches!(first, NextMembers::Publish(_)), "{first:?}");
    assert_eq!(events(&other.take(job, "worker-2", 1).await), ["evt_1"]);
    // The new lease holds.
    assert_eq!(events(&store.take(job, "worker-1", 1).await), [""; 0]);
}

pub async fn a_pause_is_kept_whoever_asks(fixture: impl LettersFixture) {
    let (store, other) = (fixture.store(), fixture.store());
    let job = job_of(&store, 2).await;
    let with_pause = Take { pause: Duration::from_mins(5), ..take("worker-1", 1) };
    store.jobs.next_members(job, &with_pause).await.unwrap();
    let next = other.jobs.next_members(job, &take("worker-2", 1)).await.unwrap();
    let NextMembers::Wait(wait) = next else { panic!("{next:?}") };
    assert!(wait > Duration::from_mins(4) && wait <= Duration::from_mins(5), "{wait:?}");
}

pub async fn a_job_that_does_not_run_hands_out_nothing(fixture: impl LettersFixture) {
    let store = fixture.store();
    let job = job_of(&store, 1).await;
    let next = async || store.jobs.next_members(job, &take("worker-1", 1)).await.unwrap();
    let command = async |command| store.jobs.command(job, command, &order("ann")).await.unwrap();
    assert_eq!(command(JobCommand::Pause).await, Some(JobState::Paused));
    assert_eq!(next().await, NextMembers::NotRunning);
    assert_eq!(command(JobCommand::Resume).await, Some(JobState::Running));
    assert!(matches!(next().await, NextMembers::Publish(_)));
    assert_eq!(command(JobCommand::Cancel).await, Some(JobState::Canceled));
    assert_eq!(next().await, NextMembers::NotRunning);
    assert_eq!(command(JobCommand::Resume).await, Some(JobState::Canceled));
    let unknown = store.jobs.next_members(ReplayJobId(9_999), &take("worker-1", 1)).await.unwrap();
    assert_eq!(unknown, NextMembers::NotRunning);
}

pub async fn what_failed_least_is_handed_out_first(fixture: impl LettersFixture) {
    let store = fixture.store();
    let job = job_of(&store, 3).await;
    let first = store.take(job, "worker-1", 1).await;
    let again = MemberOutcome::TryAgain { error: "no confirm\0".to_owned() };
    store.mark(job, "worker-1", &ids(&first), again).await;
    let second = store.take(job, "worker-1", 1).await;
    store.mark(job, "worker-1", &ids(&second), MemberOutcome::NotTried).await;
    let all = store.take(job, "worker-1", 10).await;
    assert_eq!(events(&all), ["evt_1", "evt_2", "evt_3"]);
    assert_eq!(all.iter().map(|member| member.failures).collect::<Vec<_>>(), [1, 0, 0]);
    store.mark(job, "worker-1", &ids(&all), MemberOutcome::NotTried).await;
    assert_eq!(events(&store.take(job, "worker-1", 2).await), ["evt_2", "evt_3"]);
}

pub async fn the_jobs_of_other_consumers_are_out_of_reach(fixture: impl LettersFixture) {
    let (store, other) = (fixture.store(), fixture.store_of("billing"));
    let job = job_of(&store, 1).await;
    assert_eq!(other.take(job, "worker-1", 1).await, []);
    assert_eq!(other.jobs.get(job).await.unwrap(), None);
    assert_eq!(other.jobs.page(None, None, 10).await.unwrap(), []);
    assert_eq!(other.jobs.command(job, JobCommand::Cancel, &order("bob")).await.unwrap(), None);
    assert_eq!(store.jobs.get(job).await.unwrap().unwrap().state, JobState::Running);
}
