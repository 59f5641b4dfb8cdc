//! What a job consists of.

use std::collections::BTreeSet;
use std::sync::Arc;

use application::dead_letter::{DeadLetterId, LetterFilter, LetterReason, LetterState};
use application::replay::{
    JobCommand, JobState, MemberOutcome, NewReplayJob, ReplayJob, ReplaySchedule, Selection, Skipped,
};
use application::testing::dead_letters::{new_job, new_letter, order, unreadable_letter};
use tokio::sync::Barrier;

use super::fixture::{LettersFixture, ids, of_ids};

fn refused_letters() -> Selection {
    let reason = Some(LetterReason::Refused);
    Selection::matching(LetterFilter { reason, ..LetterFilter::default() }).unwrap()
}

pub async fn what_comes_later_belongs_to_no_job(fixture: impl LettersFixture) {
    let store = fixture.store();
    let before = store.keep(&[new_letter("evt_1", 1), new_letter("evt_2", 2)]).await;
    let job = store.jobs.create(&refused_letters(), &new_job("ann")).await.unwrap().job.unwrap();
    let later = store.keep(&[new_letter("evt_3", 3)]).await;
    assert_eq!(ids(&store.take(job, "worker-1", 10).await), before);
    assert_eq!(store.state(later[0]).await, LetterState::Open);
}

pub async fn a_job_tells_its_letters_and_their_money(fixture: impl LettersFixture) {
    let store = fixture.store();
    store.keep(&[new_letter("evt_1", 1), new_letter("evt_2", 2)]).await;
    let frozen = store.jobs.create(&refused_letters(), &new_job("ann")).await.unwrap();
    let money: Vec<i128> = frozen.money.iter().map(|total| total.minor_units).collect();
    assert_eq!((frozen.members, money, frozen.skipped), (2, vec![200], Skipped::default()));
    let job = store.jobs.get(frozen.job.unwrap()).await.unwrap().unwrap();
    assert_eq!(
        (job.state, job.selection.as_str(), job.ended_at),
        (JobState::Running, "reason = refused", None)
    );
    assert_eq!((job.order, job.schedule), (order("ann"), ReplaySchedule::careful()));
    assert_eq!((job.progress.waiting, job.progress.members()), (2, 2));
    let actions = store.actions.page(None, 10).await.unwrap();
    assert_eq!(actions[0].action.target, format!("job {} of 2: reason = refused", job.id));
}

pub async fn where_there_is_nothing_to_replay_there_is_no_job(fixture: impl LettersFixture) {
    let store = fixture.store();
    let frozen = store.jobs.create(&Selection::everything(), &new_job("ann")).await.unwrap();
    assert_eq!((frozen.job, frozen.members), (None, 0));
    assert_eq!(store.jobs.page(None, None, 10).await.unwrap(), []);
    assert_eq!(store.actions.page(None, 10).await.unwrap(), []);
}

pub async fn what_is_not_taken_is_told_by_reason(fixture: impl LettersFixture) {
    let store = fixture.store();
    let settled = store.keep(&[new_letter("evt_1", 1)]).await;
    store.replayed().await;
    let taken = store.keep(&[new_letter("evt_2", 2)]).await;
    store.replay_everything().await;
    let unreadable = store.keep(&[unreadable_letter("x", 3)]).await;
    let open = store.keep(&[new_letter("evt_4", 4)]).await;
    let named = of_ids(&[settled, taken, unreadable, open.clone(), vec![DeadLetterId(9_999)]].concat());
    let frozen = store.jobs.create(&named, &new_job("ann")).await.unwrap();
    let expected = Skipped { unknown: 1, settled: 1, taken: 1, unreadable: 1, too_often: 0, left: 0 };
    assert_eq!((frozen.members, frozen.skipped), (1, expected));
    assert_eq!(ids(&store.take(frozen.job.unwrap(), "worker-1", 10).await), open);
    // What a filter leaves over and is settled was not asked for.
    let frozen = store.jobs.create(&Selection::everything(), &new_job("ann")).await.unwrap();
    let expected = Skipped { taken: 2, unreadable: 1, ..Skipped::default() };
    assert_eq!((frozen.job, frozen.skipped), (None, expected));
}

pub async fn what_keeps_coming_back_is_left_out(fixture: impl LettersFixture) {
    let store = fixture.store();
    for micros in 1..=2 {
        store.keep(&[new_letter("evt_1", micros)]).await;
        store.replayed().await;
    }
    store.keep(&[new_letter("evt_1", 3), new_letter("evt_2", 3)]).await;
    let cautious = NewReplayJob { replays_max: Some(2), ..new_job("ann") };
    let frozen = store.jobs.create(&Selection::everything(), &cautious).await.unwrap();
    assert_eq!((frozen.members, frozen.skipped), (1, Skipped { too_often: 1, ..Skipped::default() }));
    let forced = store.jobs.create(&Selection::everything(), &new_job("ann")).await.unwrap();
    assert_eq!(forced.members, 1);
}

pub async fn a_preview_changes_nothing(fixture: impl LettersFixture) {
    let store = fixture.store();
    let ids = store.keep(&[new_letter("evt_1", 1), new_letter("evt_2", 2)]).await;
    store.letters.discard(&ids[..1], &order("ann")).await.unwrap();
    let before = store.all().await;
    let preview = store.jobs.preview(&of_ids(&ids)).await.unwrap();
    let told: Vec<(&str, u64)> =
        preview.iter().map(|totals| (totals.state.as_str(), totals.letters)).collect();
    assert_eq!(told, [("open", 1), ("replaying", 0), ("replayed", 0), ("discarded", 1)]);
    assert_eq!(store.all().await, before);
    assert_eq!(store.jobs.page(None, None, 10).await.unwrap(), []);
}

pub async fn two_jobs_that_race_never_share_a_letter(fixture: impl LettersFixture) {
    let store = fixture.store();
    for round in 0..5 {
        let letters: Vec<_> = (0..40).map(|number| new_letter(&format!("evt_{round}_{number}"), 1)).collect();
        let there = store.keep(&letters).await;
        let start = Arc::new(Barrier::new(3));
        let selections = [Selection::everything(), of_ids(&there), refused_letters()];
        let races = selections.map(|selection| {
            let (store, start) = (fixture.store(), start.clone());
            tokio::spawn(async move {
                start.wait().await;
                let frozen = store.jobs.create(&selection, &new_job("ann")).await.unwrap();
                let members = match frozen.job {
                    Some(job) => ids(&store.take(job, "worker-1", 1_000).await),
                    None => Vec::new(),
                };
                assert_eq!(members.len() as u64, frozen.members);
                members
            })
        });
        let mut taken = Vec::new();
        for race in races {
            taken.extend(race.await.unwrap());
        }
        let distinct: BTreeSet<DeadLetterId> = taken.iter().copied().collect();
        assert_eq!((taken.len(), distinct.len()), (40, 40));
        for job in store.jobs.page(Some(JobState::Running), None, 10).await.unwrap() {
            store.mark(job.id, "worker-1", &taken, MemberOutcome::Replayed).await;
        }
    }
}

pub async fn a_job_and_a_discard_that_race_never_share_a_letter(fixture: impl LettersFixture) {
    let store = fixture.store();
    for round in 0..10 {
        let letters: Vec<_> = (0..20).map(|number| new_letter(&format!("evt_{round}_{number}"), 1)).collect();
        let there = store.keep(&letters).await;
        let (one, other) = (fixture.store(), fixture.store());
        let selection = of_ids(&there);
        let (by_ann, by_bob) = (new_job("ann"), order("bob"));
        let (job, discarded) =
            tokio::join!(one.jobs.create(&selection, &by_ann), other.letters.discard(&there, &by_bob));
        assert_eq!(job.unwrap().members + discarded.unwrap().ids.len() as u64, 20);
    }
}

pub async fn the_store_refuses_a_letter_in_two_jobs(fixture: impl LettersFixture) {
    let store = fixture.store();
    let ids = store.keep(&[new_letter("evt_1", 1), new_letter("evt_2", 2)]).await;
    store.jobs.create(&of_ids(&ids[..1]), &new_job("ann")).await.unwrap();
    let other = store.jobs.create(&of_ids(&ids[1..]), &new_job("ann")).await.unwrap().job.unwrap();
    let double = format!("INSERT INTO replay_members (job_id, dead_letter_id) VALUES ({other}, {})", ids[0]);
    assert!(fixture.refuses(&double).await);
}

pub async fn jobs_are_listed_by_state_and_page(fixture: impl LettersFixture) {
    let store = fixture.store();
    let mut jobs = Vec::new();
    for number in 1..=3 {
        store.keep(&[new_letter(&format!("evt_{number}"), number)]).await;
        jobs.push(store.replay_everything().await);
    }
    store.jobs.command(jobs[1], JobCommand::Pause, &order("ann")).await.unwrap();
    let numbers = |page: Vec<ReplayJob>| page.iter().map(|job| job.id).collect::<Vec<_>>();
    let all = store.jobs.page(None, None, 2).await.unwrap();
    assert_eq!(numbers(all), [jobs[2], jobs[1]]);
    assert_eq!(numbers(store.jobs.page(None, Some(jobs[1]), 2).await.unwrap()), [jobs[0]]);
    let running = store.jobs.page(Some(JobState::Running), None, 10).await.unwrap();
    assert_eq!(numbers(running), [jobs[2], jobs[0]]);
}
