use super::*;
use crate::ports::outbox::Start;
use crate::testing::outbox_entry;
use crate::use_cases::relay_outbox::KindFilter;

fn route() -> Route {
    Route {
        name: "shop".to_owned(),
        kinds: KindFilter::default(),
        start: Start::Oldest,
        attempts_max: 3,
        max_age: Duration::from_hours(72),
        retry_delay: Duration::from_secs(5),
    }
}

fn refused() -> DeliveryOutcome {
    DeliveryOutcome::Refused { error: "HTTP 400".to_owned() }
}

fn unavailable(retry_after: Option<u64>) -> DeliveryOutcome {
    DeliveryOutcome::Unavailable {
        error: "timed out".to_owned(),
        retry_after: retry_after.map(Duration::from_secs),
    }
}

fn told(outcomes: Vec<DeliveryOutcome>) -> Vec<(OutboxEntry, Option<DeliveryOutcome>)> {
    (1..)
        .zip(outcomes)
        .map(|(seq, outcome)| (outbox_entry(seq, &format!("pi_{seq}")), Some(outcome)))
        .collect()
}

fn verdicts(told: Vec<(OutboxEntry, Option<DeliveryOutcome>)>, route: &Route) -> Vec<Verdict> {
    match judge(told, route) {
        Judgement::Settle { settled, .. } => settled.into_iter().map(|settled| settled.verdict).collect(),
        away @ Judgement::Away { .. } => panic!("{away:?}"),
    }
}

fn waited(attempts: u32, tried_for: Duration) -> OutboxEntry {
    OutboxEntry { standing: Standing::Waiting { attempts, tried_for }, ..outbox_entry(1, "pi_1") }
}

#[test]
fn a_destination_that_takes_nothing_costs_no_message_an_attempt() {
    let judged = judge(told(vec![unavailable(None), unavailable(Some(7)), unavailable(Some(3))]), &route());
    let error = "timed out".to_owned();
    assert_eq!(judged, Judgement::Away { error, retry_after: Some(Duration::from_secs(7)) });
}

#[test]
fn a_message_that_times_out_while_others_are_delivered_is_tried_again_alone() {
    let verdicts = verdicts(told(vec![DeliveryOutcome::Delivered, unavailable(None)]), &route());
    assert_eq!(verdicts[0], Verdict::Done);
    assert!(matches!(verdicts[1], Verdict::TryAgain { attempts: 1, .. }), "{verdicts:?}");
}

#[test]
fn a_message_that_times_out_while_others_are_refused_counts_too() {
    let verdicts = verdicts(told(vec![refused(), unavailable(None)]), &route());
    assert!(verdicts.iter().all(|verdict| matches!(verdict, Verdict::TryAgain { attempts: 1, .. })));
}

#[test]
fn to_be_asked_to_come_later_is_no_failed_attempt() {
    let verdicts = verdicts(told(vec![DeliveryOutcome::Delivered, unavailable(Some(60))]), &route());
    let later =
        Verdict::TryAgain { after: Duration::from_mins(1), attempts: 0, error: "timed out".to_owned() };
    assert_eq!(verdicts[1], later);
}

#[test]
fn a_destination_that_refuses_everything_is_told_apart() {
    let refused_all = |outcomes| match judge(told(outcomes), &route()) {
        Judgement::Settle { refused_all, .. } => refused_all,
        Judgement::Away { .. } => false,
    };
    assert!(refused_all(vec![refused(), refused()]));
    assert!(!refused_all(vec![refused(), DeliveryOutcome::Delivered]));
}

#[test]
fn a_message_is_given_up_after_its_last_attempt() {
    let nearly = |attempts| verdicts(vec![(waited(attempts, Duration::ZERO), Some(refused()))], &route());
    assert!(matches!(nearly(1)[0], Verdict::TryAgain { attempts: 2, .. }));
    assert_eq!(nearly(2), [Verdict::Failed { attempts: 3, error: "HTTP 400".to_owned() }]);
}

#[test]
fn a_message_is_given_up_when_it_has_been_tried_for_too_long_even_uncounted() {
    let told = |tried_for| {
        let other = (outbox_entry(2, "pi_2"), Some(DeliveryOutcome::Delivered));
        verdicts(vec![(waited(0, tried_for), Some(unavailable(Some(1)))), other], &route())
    };
    assert!(matches!(told(Duration::from_hours(71))[0], Verdict::TryAgain { .. }));
    assert!(matches!(told(Duration::from_hours(72))[0], Verdict::Failed { attempts: 0, .. }));
}

#[test]
fn what_stands_behind_another_waits_and_what_is_not_wanted_is_done() {
    let route = Route { kinds: KindFilter::parse(&["payment.*".to_owned()]).unwrap(), ..route() };
    let behind = OutboxEntry { standing: Standing::Behind, ..outbox_entry(1, "pi_1") };
    let unwanted = OutboxEntry { kind: "payout.paid".to_owned(), ..behind.clone() };
    assert_eq!(verdicts(vec![(behind, None), (unwanted, None)], &route), [Verdict::Behind, Verdict::Done]);
}

#[test]
fn what_was_not_tried_waits_behind_what_was() {
    let verdicts = verdicts(told(vec![refused(), DeliveryOutcome::NotTried]), &route());
    assert_eq!(verdicts[1], Verdict::Behind);
}

#[test]
fn waits_double_up_to_a_limit() {
    let first = Duration::from_secs(5);
    for (attempts, least) in [(1, 5), (2, 10), (5, 80), (12, 3600), (1000, 3600)] {
        let (wait, least) = (backoff(first, attempts), Duration::from_secs(least));
        // The jitter adds up to as much again.
        assert!(least <= wait && wait <= least * 2, "{attempts}: {wait:?}");
    }
}
