use std::sync::Mutex;

use bytes::Bytes;

use super::*;
use crate::ports::dead_letter_observer::MockDeadLetterObserver;
use crate::ports::event_publisher::MockEventPublisher;
use crate::ports::replay_jobs::MockReplayJobs;
use crate::replay::{Progress, ReplaySchedule};
use crate::testing::FixedClock;
use crate::testing::dead_letters::{letter, order};

const JOB: ReplayJobId = ReplayJobId(3);
type Log = Arc<Mutex<Vec<String>>>;

fn job(progress: Progress) -> ReplayJob {
    ReplayJob {
        id: JOB,
        state: JobState::Running,
        selection: "everything".to_owned(),
        order: order("ann"),
        schedule: ReplaySchedule::careful(),
        ended_at: None,
        progress,
    }
}

fn member(id: i64, failures: u32) -> ReplayMember {
    ReplayMember { letter: letter(id, &format!("evt_{id}")), failures }
}

fn settings() -> RunReplaysSettings {
    RunReplaysSettings {
        runner: "worker-1".to_owned(),
        lease: Duration::from_mins(1),
        poll: Duration::from_secs(2),
        backoff_max: Duration::from_secs(5),
    }
}

/// Jobs that give `rounds` one by one, then cancel `stop`; what is taken and marked is kept.
fn jobs_of(
    progress: Progress,
    rounds: Vec<Vec<ReplayMember>>,
    stop: &CancellationToken,
    log: &Log,
) -> MockReplayJobs {
    let (rounds, stop) = (Mutex::new(rounds), stop.clone());
    let mut jobs = MockReplayJobs::new();
    jobs.expect_page().returning(move |_, _, _| Ok(vec![job(progress)]));
    let taken = log.clone();
    jobs.expect_next_members().returning(move |_, take| {
        let mut rounds = rounds.lock().unwrap();
        if rounds.is_empty() {
            stop.cancel();
            return Ok(NextMembers::NotRunning);
        }
        taken.lock().unwrap().push(format!("take {}", take.letters));
        Ok(NextMembers::Publish(rounds.remove(0)))
    });
    let marks = log.clone();
    jobs.expect_mark().returning(move |_, runner, marked| {
        let outcomes: Vec<String> =
            marked.iter().map(|member| format!("{} {:?}", member.id, member.outcome)).collect();
        marks.lock().unwrap().push(format!("{runner} marks {}", outcomes.join(", ")));
        Ok(())
    });
    jobs
}

fn publisher(log: &Log, answer: fn(&Envelope) -> Result<(), PublishError>) -> MockEventPublisher {
    let log = log.clone();
    let mut publisher = MockEventPublisher::new();
    publisher.expect_publish().returning(move |envelopes| {
        let ids: Vec<&str> = envelopes.iter().map(|envelope| envelope.key.event_id.as_str()).collect();
        log.lock().unwrap().push(format!("publish {}", ids.join(" ")));
        envelopes.iter().map(answer).collect()
    });
    publisher
}

fn runner(jobs: MockReplayJobs, publisher: MockEventPublisher) -> RunReplays {
    let mut observer = MockDeadLetterObserver::new();
    observer.expect_replayed().return_const(());
    observer.expect_not_replayed().return_const(());
    let clock = Arc::new(FixedClock::at_micros(7));
    RunReplays::new(Arc::new(jobs), Arc::new(publisher), clock, Arc::new(observer), settings())
}

async fn ran(
    rounds: Vec<Vec<ReplayMember>>,
    answer: fn(&Envelope) -> Result<(), PublishError>,
) -> Vec<String> {
    ran_from(Progress::default(), rounds, answer).await
}

async fn ran_from(
    progress: Progress,
    rounds: Vec<Vec<ReplayMember>>,
    answer: fn(&Envelope) -> Result<(), PublishError>,
) -> Vec<String> {
    let (log, stop) = (Log::default(), CancellationToken::new());
    let jobs = jobs_of(progress, rounds, &stop, &log);
    runner(jobs, publisher(&log, answer)).run(&stop).await;
    let log = log.lock().unwrap();
    log.clone()
}

#[tokio::test(start_paused = true)]
async fn a_letter_is_marked_only_after_the_confirm() {
    let log = ran(vec![vec![member(1, 0)]], |_| Ok(())).await;
    assert_eq!(log, ["take 1", "publish evt_1", "worker-1 marks 1 Replayed"]);
}

#[tokio::test(start_paused = true)]
async fn what_was_not_confirmed_is_not_replayed() {
    let log = ran(vec![vec![member(1, 0), member(2, 0)]], |envelope| match envelope.key.event_id.as_str() {
        "evt_1" => Ok(()),
        _ => Err(PublishError::Refused),
    });
    let marks = log.await.pop().unwrap();
    assert_eq!(marks, r#"worker-1 marks 1 Replayed, 2 TryAgain { error: "the broker refused it" }"#);
}

#[tokio::test(start_paused = true)]
async fn a_broker_that_is_away_is_not_the_letters_fault() {
    let log = ran(vec![vec![member(1, MEMBER_FAILURES_MAX)]], |_| {
        Err(PublishError::Unavailable("away".to_owned()))
    });
    assert_eq!(log.await.pop().unwrap(), "worker-1 marks 1 NotTried");
}

#[tokio::test(start_paused = true)]
async fn a_letter_that_never_can_be_published_is_given_up() {
    let log = ran(vec![vec![member(1, MEMBER_FAILURES_MAX - 1)]], |_| Err(PublishError::Refused)).await;
    assert_eq!(log[2], r#"worker-1 marks 1 Failed { error: "the broker refused it" }"#);
}

#[tokio::test(start_paused = true)]
async fn after_trouble_letters_go_one_by_one_until_one_goes_through() {
    let rounds = vec![vec![member(1, 0)], vec![member(2, 0)], vec![member(3, 0)]];
    let log = ran_from(Progress { replayed: 200, ..Progress::default() }, rounds, |envelope| {
        if envelope.key.event_id.as_str() == "evt_1" { Err(PublishError::Refused) } else { Ok(()) }
    });
    let taken: Vec<String> = log.await.into_iter().filter(|line| line.starts_with("take")).collect();
    assert_eq!(taken, ["take 100", "take 1", "take 100"]);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_away_is_asked_again() {
    let (log, stop) = (Log::default(), CancellationToken::new());
    let mut jobs = MockReplayJobs::new();
    jobs.expect_page().times(1).return_once(|_, _, _| Err(StoreError::Unavailable("away".into())));
    let cancelled = stop.clone();
    jobs.expect_page().times(1).returning(move |_, _, _| {
        cancelled.cancel();
        Ok(Vec::new())
    });
    runner(jobs, publisher(&log, |_| Ok(()))).run(&stop).await;
}

#[tokio::test(start_paused = true)]
async fn nothing_more_is_taken_once_it_is_to_stop() {
    let (log, stop) = (Log::default(), CancellationToken::new());
    let mut jobs = MockReplayJobs::new();
    let cancelled = stop.clone();
    jobs.expect_page().times(1).returning(move |_, _, _| {
        cancelled.cancel();
        Ok(vec![job(Progress::default())])
    });
    jobs.expect_next_members().never();
    runner(jobs, publisher(&log, |_| Ok(()))).run(&stop).await;
}

#[test]
fn a_replayed_event_keeps_its_bytes_and_the_moment_of_its_arrival_and_has_its_time_anew() {
    let mut letter = letter(1, "evt_1");
    letter.content.payload = Bytes::from_static(b"\0\xff");
    letter.content.headers = vec![("x-event".to_owned(), "1".to_owned())];
    let received_at = letter.summary.received_at.unwrap();
    let now = received_at.plus(Duration::from_hours(1_000));
    let envelope = letter.to_envelope(now).unwrap();
    assert_eq!((envelope.received_at, envelope.payload.as_ref()), (received_at, b"\0\xff".as_slice()));
    assert_eq!((envelope.headers, envelope.queued_at), (letter.content.headers, now));
}
