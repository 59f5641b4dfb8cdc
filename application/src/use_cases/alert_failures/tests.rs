use std::sync::Mutex;

use domain::Timestamp;

use super::*;
use crate::dead_letter::{DeadLetterId, FailureGroup, GroupTotals, LetterReason};
use crate::ports::alert_channel::MockAlertChannel;
use crate::ports::alert_log::MockAlertLog;
use crate::ports::alert_observer::MockAlertObserver;
use crate::ports::dead_letters::MockDeadLetters;
use crate::testing::dead_letters::consumer;

const WINDOW: Duration = Duration::from_hours(1);

fn settings() -> AlertSettings {
    AlertSettings {
        consumer: consumer(),
        claim: AlertClaim { owner: "worker-1".to_owned(), lease: Duration::from_secs(30), window: WINDOW },
        poll: Duration::from_secs(5),
        attempts_max: 4,
        retry_delay: Duration::from_secs(10),
        retry_delay_max: Duration::from_secs(30),
        link_base: String::new(),
    }
}

fn claimed(number: u8, failures: u32) -> ClaimedAlert {
    ClaimedAlert {
        group: FailureGroup::from_bytes(&[number; 16]).unwrap(),
        began: Timestamp::from_micros(7),
        failures,
        new_letters: 1,
        newest: DeadLetterId(1),
    }
}

fn totals(group: FailureGroup) -> GroupTotals {
    GroupTotals {
        group,
        source: None,
        reason: LetterReason::Unreadable,
        message: "it is no envelope".to_owned(),
        newest: DeadLetterId(1),
        letters: 1,
        first_seen: Timestamp::from_micros(1),
        last_seen: Timestamp::from_micros(1),
        by_state: Vec::new(),
    }
}

/// What happened, in its order.
#[derive(Clone, Default)]
struct Story(Arc<Mutex<Vec<String>>>);

impl Story {
    fn add(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    fn told(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// A use case whose claims are these, and whose channel answers so. It is stopped when the claims are used up.
fn alerts(
    claims: Vec<Result<Option<ClaimedAlert>, StoreError>>,
    answers: Vec<Result<(), NotSent>>,
    stop: &CancellationToken,
) -> (AlertFailures, Story) {
    let story = Story::default();
    let (mut log, mut letters) = (MockAlertLog::new(), MockDeadLetters::new());
    let (mut channel, mut observer) = (MockAlertChannel::new(), MockAlertObserver::new());
    let (claims, done) = (Mutex::new(claims.into_iter()), stop.clone());
    log.expect_claim().returning(move |claim| {
        assert_eq!(*claim, settings().claim);
        claims.lock().unwrap().next().unwrap_or_else(|| {
            done.cancel();
            Ok(None)
        })
    });
    let heard = story.clone();
    log.expect_sent().returning(move |alert| {
        heard.add(format!("sent {}", alert.group.as_bytes()[0]));
        Ok(())
    });
    let heard = story.clone();
    log.expect_failed().returning(move |alert, owner, then| {
        assert_eq!(owner, "worker-1");
        heard.add(format!("failed {} {then:?}", alert.group.as_bytes()[0]));
        Ok(())
    });
    letters.expect_groups().returning(|filter, limit| {
        assert_eq!(limit, 1);
        Ok(vec![totals(filter.group.unwrap())])
    });
    let (answers, heard) = (Mutex::new(answers.into_iter()), story.clone());
    channel.expect_send().returning(move |alert| {
        heard.add(format!("send {}", &alert.id[..2]));
        answers.lock().unwrap().next().expect("no further alert is sent")
    });
    let heard = story.clone();
    observer.expect_alert().returning(move |outcome| heard.add(outcome.label()));
    let (log, letters) = (Arc::new(log), Arc::new(letters));
    (AlertFailures::new(log, letters, Arc::new(channel), Arc::new(observer), settings()), story)
}

fn refused() -> Result<(), NotSent> {
    Err(NotSent("HTTP 500".to_owned()))
}

#[tokio::test(start_paused = true)]
async fn what_is_to_be_told_is_told_one_after_the_other_and_then_written_down() {
    let stop = CancellationToken::new();
    let claims = vec![Ok(Some(claimed(1, 0))), Ok(Some(claimed(2, 0))), Ok(None)];
    let (alerts, story) = alerts(claims, vec![Ok(()), Ok(())], &stop);
    let started = tokio::time::Instant::now();
    alerts.run(&stop).await;
    assert_eq!(story.told(), ["send 01", "sent", "sent 1", "send 02", "sent", "sent 2"]);
    // One look after the first round.
    assert_eq!(started.elapsed(), settings().poll);
}

#[tokio::test(start_paused = true)]
async fn an_alert_that_cannot_be_sent_is_tried_again_later_and_ends_the_round() {
    let stop = CancellationToken::new();
    let claims = vec![Ok(Some(claimed(1, 0))), Ok(Some(claimed(1, 1)))];
    let (alerts, story) = alerts(claims, vec![refused(), Ok(())], &stop);
    alerts.run(&stop).await;
    assert_eq!(story.told(), ["send 01", "failed", "failed 1 TryAgain(10s)", "send 01", "sent", "sent 1"]);
}

#[tokio::test(start_paused = true)]
async fn an_alert_is_given_up_after_its_last_attempt() {
    let stop = CancellationToken::new();
    let (alerts, story) = alerts(vec![Ok(Some(claimed(1, 3)))], vec![refused()], &stop);
    alerts.run(&stop).await;
    assert_eq!(story.told(), ["send 01", "given_up", "failed 1 GiveUp"]);
}

#[test]
fn waits_between_attempts_double_up_to_the_longest() {
    let settings = AlertSettings { attempts_max: 100, ..settings() };
    let waits: Vec<AfterFailure> =
        [1, 2, 3, 99].into_iter().map(|failures| settings.after(failures)).collect();
    let wait = |seconds| AfterFailure::TryAgain(Duration::from_secs(seconds));
    assert_eq!(waits, [wait(10), wait(20), wait(30), wait(30)]);
    assert_eq!(settings.after(100), AfterFailure::GiveUp);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_away_is_asked_again_later() {
    let stop = CancellationToken::new();
    let claims = vec![Err(StoreError::Unavailable("gone".into())), Ok(Some(claimed(1, 0)))];
    let (alerts, story) = alerts(claims, vec![Ok(())], &stop);
    alerts.run(&stop).await;
    assert_eq!(story.told(), ["send 01", "sent", "sent 1"]);
}

#[tokio::test(start_paused = true)]
async fn a_stop_leaves_an_alert_in_hand_to_whoever_asks_next() {
    let stop = CancellationToken::new();
    let mut log = MockAlertLog::new();
    log.expect_claim().returning(|_| Ok(Some(claimed(1, 0))));
    let mut letters = MockDeadLetters::new();
    letters.expect_groups().returning(|filter, _| Ok(vec![totals(filter.group.unwrap())]));
    let hanging = Arc::new(Hanging);
    let alerts = AlertFailures::new(
        Arc::new(log),
        Arc::new(letters),
        hanging,
        Arc::new(MockAlertObserver::new()),
        settings(),
    );
    let soon = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        stop.cancel();
    };
    tokio::join!(alerts.run(&stop), soon);
}

/// A channel that never answers.
struct Hanging;

#[async_trait::async_trait]
impl AlertChannel for Hanging {
    async fn send(&self, _alert: &crate::ports::alert_channel::RenderedAlert) -> Result<(), NotSent> {
        std::future::pending().await
    }
}
