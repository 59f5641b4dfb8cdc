//! What becomes of the letters of a job.

use application::dead_letter::LetterState;
use application::replay::{JobCommand, JobState, MemberOutcome, Progress, ReplayJobId};
use application::testing::dead_letters::{new_letter, order};

use super::fixture::{LettersFixture, Store, ids};

async fn progress(store: &Store, job: ReplayJobId) -> (JobState, Progress) {
    let job = store.jobs.get(job).await.unwrap().unwrap();
    assert_eq!(job.ended_at.is_some(), matches!(job.state, JobState::Canceled | JobState::Finished));
    (job.state, job.progress)
}

fn failed() -> MemberOutcome {
    MemberOutcome::Failed { error: "the broker refused it\0".to_owned() }
}

pub async fn a_job_ends_with_its_last_letter(fixture: impl LettersFixture) {
    let store = fixture.store();
    let letters = store.keep(&[new_letter("evt_1", 1), new_letter("evt_2", 2)]).await;
    let job = store.replay_everything().await;
    let first = ids(&store.take(job, "worker-1", 1).await);
    store.mark(job, "worker-1", &first, MemberOutcome::Replayed).await;
    let halfway = Progress { waiting: 1, replayed: 1, ..Progress::default() };
    assert_eq!(progress(&store, job).await, (JobState::Running, halfway));
    assert_eq!(store.state(letters[1]).await, LetterState::Replaying);
    let second = ids(&store.take(job, "worker-1", 1).await);
    store.mark(job, "worker-1", &second, MemberOutcome::Replayed).await;
    assert_eq!(
        progress(&store, job).await,
        (JobState::Finished, Progress { replayed: 2, ..Progress::default() })
    );
    for letter in letters {
        let letter = store.letter(letter).await.summary;
        assert_eq!((letter.state, letter.settled_at.is_some()), (LetterState::Replayed, true));
    }
}

pub async fn a_letter_that_cannot_be_published_is_open_again(fixture: impl LettersFixture) {
    let store = fixture.store();
    let letters = store.keep(&[new_letter("evt_1", 1)]).await;
    let job = store.replay_everything().await;
    store.take(job, "worker-1", 1).await;
    store.mark(job, "worker-1", &letters, failed()).await;
    assert_eq!(
        progress(&store, job).await,
        (JobState::Finished, Progress { failed: 1, ..Progress::default() })
    );
    assert_eq!(store.state(letters[0]).await, LetterState::Open);
    // And can be replayed again.
    store.replayed().await;
    assert_eq!(store.state(letters[0]).await, LetterState::Replayed);
}

pub async fn a_canceled_job_gives_its_letters_back(fixture: impl LettersFixture) {
    let store = fixture.store();
    let letters = store.keep(&[new_letter("evt_1", 1), new_letter("evt_2", 2), new_letter("evt_3", 3)]).await;
    let job = store.replay_everything().await;
    let first = ids(&store.take(job, "worker-1", 1).await);
    store.mark(job, "worker-1", &first, MemberOutcome::Replayed).await;
    store.take(job, "worker-1", 1).await;
    store.jobs.command(job, JobCommand::Cancel, &order("bob")).await.unwrap();
    let left = Progress { replayed: 1, released: 2, ..Progress::default() };
    assert_eq!(progress(&store, job).await, (JobState::Canceled, left));
    let mut states = Vec::new();
    for letter in letters {
        states.push(store.state(letter).await);
    }
    assert_eq!(states, [LetterState::Replayed, LetterState::Open, LetterState::Open]);
    let again = store.replay_everything().await;
    assert_eq!(progress(&store, again).await.1.waiting, 2);
}

pub async fn what_was_published_is_replayed_even_if_the_job_was_canceled(fixture: impl LettersFixture) {
    let store = fixture.store();
    let letters = store.keep(&[new_letter("evt_1", 1), new_letter("evt_2", 2)]).await;
    let job = store.replay_everything().await;
    let first = ids(&store.take(job, "worker-1", 1).await);
    store.jobs.command(job, JobCommand::Cancel, &order("bob")).await.unwrap();
    store.mark(job, "worker-1", &first, MemberOutcome::Replayed).await;
    assert_eq!(store.state(letters[0]).await, LetterState::Replayed);
    assert_eq!(store.state(letters[1]).await, LetterState::Open);
    let left = Progress { replayed: 1, released: 1, ..Progress::default() };
    assert_eq!(progress(&store, job).await, (JobState::Canceled, left));
}

pub async fn a_letter_of_another_job_meanwhile_stays_there(fixture: impl LettersFixture) {
    let store = fixture.store();
    let letters = store.keep(&[new_letter("evt_1", 1)]).await;
    let first = store.replay_everything().await;
    store.take(first, "worker-1", 1).await;
    store.jobs.command(first, JobCommand::Cancel, &order("bob")).await.unwrap();
    let second = store.replay_everything().await;
    store.mark(first, "worker-1", &letters, MemberOutcome::Replayed).await;
    assert_eq!(store.state(letters[0]).await, LetterState::Replaying);
    assert_eq!(ids(&store.take(second, "worker-2", 1).await), letters);
}

pub async fn a_failure_counts_only_from_the_one_who_has_the_letter(fixture: impl LettersFixture) {
    let store = fixture.store();
    let letters = store.keep(&[new_letter("evt_1", 1)]).await;
    let job = store.replay_everything().await;
    store.take(job, "worker-1", 1).await;
    let again = MemberOutcome::TryAgain { error: "no".to_owned() };
    for outcome in [failed(), again, MemberOutcome::NotTried] {
        store.mark(job, "worker-2", &letters, outcome).await;
        assert_eq!(store.state(letters[0]).await, LetterState::Replaying);
        assert_eq!(store.take(job, "worker-3", 1).await, [], "the lease is gone");
    }
    // That it was published is true whoever says so.
    store.mark(job, "worker-2", &letters, MemberOutcome::Replayed).await;
    assert_eq!(store.state(letters[0]).await, LetterState::Replayed);
}

pub async fn marking_twice_changes_nothing(fixture: impl LettersFixture) {
    let store = fixture.store();
    let letters = store.keep(&[new_letter("evt_1", 1)]).await;
    let job = store.replay_everything().await;
    store.take(job, "worker-1", 1).await;
    store.mark(job, "worker-1", &letters, MemberOutcome::Replayed).await;
    let before = (store.letter(letters[0]).await, store.jobs.get(job).await.unwrap());
    for outcome in [MemberOutcome::Replayed, failed(), MemberOutcome::NotTried] {
        store.mark(job, "worker-1", &letters, outcome).await;
    }
    assert_eq!((store.letter(letters[0]).await, store.jobs.get(job).await.unwrap()), before);
}

pub async fn what_is_ordered_is_written_down_and_what_changes_nothing_is_not(fixture: impl LettersFixture) {
    let store = fixture.store();
    store.keep(&[new_letter("evt_1", 1)]).await;
    let job = store.replay_everything().await;
    for command in [JobCommand::Resume, JobCommand::Pause, JobCommand::Pause, JobCommand::Cancel] {
        store.jobs.command(job, command, &order("bob")).await.unwrap();
    }
    let actions = store.actions.page(None, 10).await.unwrap();
    let told: Vec<(&str, &str)> = actions
        .iter()
        .map(|recorded| (recorded.action.what.as_str(), recorded.action.order.actor.as_str()))
        .collect();
    assert_eq!(told, [("cancel replay", "bob"), ("pause replay", "bob"), ("replay", "ann")]);
    assert_eq!(actions[0].action.target, format!("job {job}"));
}
