use std::sync::Mutex;

use domain::{Decision, EstablishedFact, Payment, RecordReason, Refusal, decide};
use mockall::Sequence;

use super::*;
use crate::ports::provider::{MockProvider, Untranslatable};
use crate::ports::seen_events::MockSeenEvents;
use crate::ports::unit_of_work::{Claim, MockTransaction, MockUnitOfWork, Transaction};
use crate::testing::{envelope, refunded, sources_of, succeeded, without_effect};

/// Envelopes whose payload is `payment:amount`, `refund:payment:amount`, `none`, or anything else for untranslatable.
fn provider() -> MockProvider {
    let mut provider = MockProvider::new();
    provider.expect_translate().returning(|envelope| {
        let id = envelope.key.event_id.as_str();
        let text = std::str::from_utf8(&envelope.payload).unwrap();
        if let Some((payment, amount)) = text.strip_prefix("refund:").and_then(|rest| rest.split_once(':')) {
            return Ok(refunded(id, payment, amount.parse().unwrap()));
        }
        match text.split_once(':') {
            Some((payment, amount)) => Ok(succeeded(id, payment, amount.parse().unwrap())),
            None if text == "none" => Ok(without_effect(id)),
            None => Err(Untranslatable("not json".to_owned())),
        }
    });
    provider
}

fn forgetful() -> MockSeenEvents {
    let mut seen = MockSeenEvents::new();
    seen.expect_look().returning(|keys| vec![Seen::Unknown; keys.len()]);
    seen.expect_mark_committed().return_const(());
    seen
}

fn claims_fresh(transaction: &mut MockTransaction) {
    transaction.expect_claim().returning(|events| Ok(vec![Claim::Fresh; events.len()]));
    transaction.expect_lock_payments().returning(|_| Ok(Vec::new()));
    transaction.expect_save_payments().returning(|_| Ok(()));
    transaction.expect_record().returning(|_| Ok(()));
    takes_the_rest(transaction);
}

/// What an applied event brings along.
fn takes_the_rest(transaction: &mut MockTransaction) {
    transaction.expect_establish_facts().returning(|_| Ok(()));
    transaction.expect_enqueue_messages().returning(|_| Ok(()));
    transaction.expect_post_entries().returning(|_| Ok(()));
}

fn committing() -> MockTransaction {
    let mut transaction = MockTransaction::new();
    claims_fresh(&mut transaction);
    transaction.expect_commit().times(1).returning(|| Ok(()));
    transaction
}

fn failing_claim(error: fn() -> StoreError) -> MockTransaction {
    let mut transaction = MockTransaction::new();
    transaction.expect_claim().returning(move |_| Err(error()));
    transaction.expect_commit().never();
    transaction
}

fn permanent() -> StoreError {
    StoreError::Permanent("a business rule".into())
}

fn transient() -> StoreError {
    StoreError::Transient("lock time-out".into())
}

fn unavailable() -> StoreError {
    StoreError::Unavailable("connection refused".into())
}

/// A store that begins these transactions, in this order, and no more.
fn store(transactions: Vec<MockTransaction>) -> MockUnitOfWork {
    let mut store = MockUnitOfWork::new();
    let count = transactions.len();
    let transactions = Mutex::new(transactions.into_iter());
    store.expect_begin().times(count).returning(move || {
        let next = transactions.lock().unwrap().next().unwrap();
        Ok(Box::new(next) as Box<dyn Transaction>)
    });
    store
}

fn process(store: MockUnitOfWork, seen: MockSeenEvents) -> ProcessEvents {
    ProcessEvents::new(sources_of(provider()), Arc::new(store), Arc::new(seen))
}

fn batch(events: &[(&'static str, &'static str)]) -> Vec<Envelope> {
    events.iter().map(|(id, payload)| envelope(id, payload.as_bytes())).collect()
}

#[tokio::test]
async fn a_batch_is_one_transaction_with_its_calls_in_order() {
    let mut order = Sequence::new();
    let mut transaction = MockTransaction::new();
    transaction
        .expect_claim()
        .times(1)
        .in_sequence(&mut order)
        .returning(|events| Ok(vec![Claim::Fresh; events.len()]));
    transaction.expect_lock_payments().times(1).in_sequence(&mut order).returning(|_| Ok(Vec::new()));
    transaction.expect_save_payments().times(1).in_sequence(&mut order).returning(|payments| {
        assert_eq!(payments.len(), 2);
        Ok(())
    });
    transaction.expect_establish_facts().times(1).in_sequence(&mut order).returning(|facts| {
        assert_eq!(facts.len(), 2);
        Ok(())
    });
    transaction.expect_enqueue_messages().times(1).in_sequence(&mut order).returning(|messages| {
        assert_eq!(messages.len(), 2);
        Ok(())
    });
    transaction.expect_record().times(1).in_sequence(&mut order).returning(|_| Ok(()));
    transaction.expect_post_entries().times(1).in_sequence(&mut order).returning(|entries| {
        assert_eq!(entries.iter().map(|entry| entry.amount.minor_units()).sum::<i64>(), 0);
        Ok(())
    });
    transaction.expect_commit().times(1).in_sequence(&mut order).returning(|| Ok(()));
    let mut seen = MockSeenEvents::new();
    seen.expect_look().returning(|keys| vec![Seen::Unknown; keys.len()]);
    seen.expect_mark_committed().times(1).in_sequence(&mut order).return_const(());

    let dispositions = process(store(vec![transaction]), seen)
        .run(&batch(&[("evt_1", "pi_1:1"), ("evt_2", "pi_2:2"), ("evt_3", "none")]))
        .await;

    assert_eq!(
        dispositions,
        [Disposition::Applied, Disposition::Applied, Disposition::Recorded(RecordReason::NoEffect)]
    );
}

#[tokio::test]
async fn payments_are_locked_and_saved_in_key_order() {
    let mut transaction = MockTransaction::new();
    transaction.expect_claim().returning(|events| Ok(vec![Claim::Fresh; events.len()]));
    transaction.expect_lock_payments().times(1).returning(|keys| {
        assert!(keys.is_sorted());
        Ok(Vec::new())
    });
    transaction.expect_save_payments().times(1).returning(|payments| {
        assert!(payments.is_sorted_by(|a, b| a.key < b.key));
        Ok(())
    });
    takes_the_rest(&mut transaction);
    transaction.expect_commit().returning(|| Ok(()));
    process(store(vec![transaction]), forgetful())
        .run(&batch(&[("a", "pi_9:1"), ("b", "pi_1:1"), ("c", "pi_5:1")]))
        .await;
}

#[tokio::test]
async fn a_committed_mark_of_the_same_meaning_answers_without_the_store() {
    let meaning = succeeded("evt_1", "pi_1", 5).fingerprint();
    let mut seen = MockSeenEvents::new();
    seen.expect_look().returning(move |_| vec![Seen::Committed(meaning)]);
    seen.expect_mark_committed().never();
    let dispositions = process(store(Vec::new()), seen).run(&batch(&[("evt_1", "pi_1:5")])).await;
    assert_eq!(dispositions, [Disposition::Duplicate(DuplicateLayer::Cache)]);
}

#[tokio::test]
async fn the_cache_never_decides_alone() {
    // A mark of another meaning and an answer that is too short ask the store, as does what is unknown.
    let other = succeeded("evt_1", "pi_1", 999).fingerprint();
    for answer in [vec![Seen::Unknown], vec![Seen::Committed(other)], Vec::new()] {
        let mut seen = MockSeenEvents::new();
        seen.expect_look().return_once(move |_| answer);
        seen.expect_mark_committed().return_const(());
        let dispositions = process(store(vec![committing()]), seen).run(&batch(&[("evt_1", "pi_1:5")])).await;
        assert_eq!(dispositions, [Disposition::Applied]);
    }
}

#[tokio::test]
async fn nothing_is_committed_after_an_error_and_nothing_is_remembered() {
    let mut transaction = MockTransaction::new();
    transaction.expect_claim().returning(|events| Ok(vec![Claim::Fresh; events.len()]));
    transaction.expect_lock_payments().returning(|_| Ok(Vec::new()));
    transaction.expect_save_payments().returning(|_| Err(unavailable()));
    transaction.expect_commit().never();
    let mut seen = MockSeenEvents::new();
    seen.expect_look().returning(|_| vec![Seen::Unknown]);
    seen.expect_mark_committed().never();
    let dispositions = process(store(vec![transaction]), seen).run(&batch(&[("evt_1", "pi_1:5")])).await;
    assert!(matches!(dispositions[..], [Disposition::Retry(RetryClass::DependencyDown, _)]));
}

#[tokio::test]
async fn a_commit_whose_answer_is_lost_is_not_taken_for_done() {
    let mut transaction = MockTransaction::new();
    claims_fresh(&mut transaction);
    transaction.expect_commit().returning(|| Err(unavailable()));
    let mut seen = MockSeenEvents::new();
    seen.expect_look().returning(|_| vec![Seen::Unknown]);
    seen.expect_mark_committed().never();
    let dispositions = process(store(vec![transaction]), seen).run(&batch(&[("evt_1", "pi_1:5")])).await;
    assert!(matches!(dispositions[..], [Disposition::Retry(RetryClass::DependencyDown, _)]));
}

#[tokio::test]
async fn a_permanent_failure_runs_the_batch_one_by_one_and_only_the_culprit_pays() {
    let transactions = vec![failing_claim(permanent), committing(), failing_claim(permanent), committing()];
    let dispositions = process(store(transactions), forgetful())
        .run(&batch(&[("ok_1", "pi_1:1"), ("bad", "pi_2:2"), ("ok_2", "pi_3:3")]))
        .await;
    assert!(
        matches!(
            dispositions[..],
            [
                Disposition::Applied,
                Disposition::DeadLetter(DeadLetterReason::StoreRefused(_)),
                Disposition::Applied
            ]
        ),
        "{dispositions:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_transient_failure_is_run_again_at_once() {
    let transactions = vec![failing_claim(transient), committing()];
    let dispositions =
        process(store(transactions), forgetful()).run(&batch(&[("a", "pi_1:1"), ("b", "pi_2:2")])).await;
    assert_eq!(dispositions, [Disposition::Applied, Disposition::Applied]);
}

#[tokio::test(start_paused = true)]
async fn a_lasting_transient_failure_costs_only_the_culprit_an_attempt() {
    let mut transactions: Vec<_> = (0..=QUICK_RERUNS_MAX).map(|_| failing_claim(transient)).collect();
    transactions.push(committing());
    transactions.extend((0..=QUICK_RERUNS_MAX).map(|_| failing_claim(transient)));
    let dispositions =
        process(store(transactions), forgetful()).run(&batch(&[("ok", "pi_1:1"), ("bad", "pi_2:2")])).await;
    assert_eq!(dispositions[0], Disposition::Applied);
    assert!(matches!(dispositions[1], Disposition::Retry(RetryClass::Transient, _)), "{dispositions:?}");
}

#[tokio::test]
async fn a_store_that_is_away_is_nobodys_attempt() {
    let mut store = MockUnitOfWork::new();
    store.expect_begin().times(1).returning(|| Err(unavailable()));
    let dispositions = process(store, forgetful()).run(&batch(&[("a", "pi_1:1"), ("b", "pi_2:2")])).await;
    for disposition in dispositions {
        assert!(matches!(disposition, Disposition::Retry(RetryClass::DependencyDown, _)));
    }
}

#[tokio::test]
async fn copies_in_one_batch_are_duplicates_of_the_first() {
    let dispositions = process(store(vec![committing()]), forgetful())
        .run(&batch(&[("evt_1", "pi_1:1"), ("evt_1", "pi_1:1"), ("evt_1", "pi_1:1")]))
        .await;
    let copy = Disposition::Duplicate(DuplicateLayer::Batch);
    assert_eq!(dispositions, [Disposition::Applied, copy.clone(), copy]);
}

#[tokio::test]
async fn a_copy_is_no_duplicate_of_something_that_is_not_committed() {
    let mut store = MockUnitOfWork::new();
    store.expect_begin().returning(|| Err(unavailable()));
    let dispositions =
        process(store, forgetful()).run(&batch(&[("evt_1", "pi_1:1"), ("evt_1", "pi_1:1")])).await;
    for disposition in dispositions {
        assert!(matches!(disposition, Disposition::Retry(RetryClass::DependencyDown, _)));
    }
}

#[tokio::test]
async fn one_id_with_two_meanings_in_one_batch_is_applied_once_and_the_other_is_a_conflict() {
    let stored = succeeded("evt_1", "pi_1", 1).fingerprint();
    let mut conflicting = MockTransaction::new();
    conflicting.expect_claim().returning(move |_| Ok(vec![Claim::Conflict { stored }]));
    conflicting.expect_save_payments().never();
    conflicting.expect_commit().returning(|| Ok(()));
    let dispositions = process(store(vec![committing(), conflicting]), forgetful())
        .run(&batch(&[("evt_1", "pi_1:1"), ("evt_1", "pi_1:9")]))
        .await;
    assert_eq!(dispositions[0], Disposition::Applied);
    assert!(matches!(
        dispositions[1],
        Disposition::DeadLetter(DeadLetterReason::Conflict { stored: Some(known), .. }) if known == stored
    ));
}

#[tokio::test]
async fn an_impossible_event_is_dead_lettered_and_the_rest_of_the_batch_is_applied() {
    // The first unit finds the refusal and is dropped; the second carries the rest; the third judges the
    // culprit alone, against what is committed by then.
    let mut refusing = MockTransaction::new();
    claims_fresh(&mut refusing);
    refusing.expect_commit().never();
    let mut alone = MockTransaction::new();
    claims_fresh(&mut alone);
    alone.expect_commit().never();
    let dispositions = process(store(vec![refusing, committing(), alone]), forgetful())
        .run(&batch(&[("ok", "pi_1:1"), ("bad", "pi_2:-5")]))
        .await;
    assert_eq!(dispositions[0], Disposition::Applied);
    assert!(matches!(
        dispositions[1],
        Disposition::DeadLetter(DeadLetterReason::Refused(Refusal::NegativeAmount { .. }))
    ));
}

#[tokio::test]
async fn two_events_for_one_new_payment_in_one_batch_have_one_effect() {
    let mut transaction = MockTransaction::new();
    transaction.expect_claim().returning(|events| Ok(vec![Claim::Fresh; events.len()]));
    transaction.expect_lock_payments().returning(|_| Ok(Vec::new()));
    transaction.expect_save_payments().times(1).returning(|payments| {
        assert_eq!(payments.len(), 1);
        Ok(())
    });
    takes_the_rest(&mut transaction);
    transaction.expect_record().times(1).returning(|_| Ok(()));
    transaction.expect_commit().returning(|| Ok(()));
    let dispositions = process(store(vec![transaction]), forgetful())
        .run(&batch(&[("evt_1", "pi_1:1"), ("evt_2", "pi_1:1")]))
        .await;
    assert_eq!(dispositions, [Disposition::Applied, Disposition::Recorded(RecordReason::FactAlreadyKnown)]);
}

#[tokio::test]
async fn a_fact_that_the_store_knows_has_no_second_effect() {
    let mut transaction = MockTransaction::new();
    transaction.expect_claim().returning(|events| Ok(vec![Claim::Fresh; events.len()]));
    transaction.expect_lock_payments().returning(|_| Ok(vec![paid("evt_1", "pi_1", 5)]));
    transaction.expect_known_facts().times(1).returning(|facts| {
        let fact = EstablishedFact { key: facts[0].1.clone(), amount: paid("evt_1", "pi_1", 5).amount() };
        Ok(vec![(facts[0].0.clone(), fact)])
    });
    transaction.expect_record().times(1).returning(|_| Ok(()));
    transaction.expect_commit().returning(|| Ok(()));
    let dispositions =
        process(store(vec![transaction]), forgetful()).run(&batch(&[("evt_2", "pi_1:5")])).await;
    assert_eq!(dispositions, [Disposition::Recorded(RecordReason::FactAlreadyKnown)]);
}

#[tokio::test]
async fn an_event_that_waits_for_another_is_applied_after_it_in_the_same_batch() {
    let dispositions = process(store(vec![committing()]), forgetful())
        .run(&batch(&[("evt_2", "refund:pi_1:5"), ("evt_1", "pi_1:5")]))
        .await;
    assert_eq!(dispositions, [Disposition::Applied, Disposition::Applied]);
}

#[tokio::test]
async fn every_revision_of_a_payment_is_saved_so_that_a_lost_race_is_seen() {
    let mut order = Sequence::new();
    let mut transaction = MockTransaction::new();
    for revision in 1..=2 {
        transaction.expect_save_payments().times(1).in_sequence(&mut order).returning(move |payments| {
            assert_eq!(payments.iter().map(|payment| payment.revision).collect::<Vec<_>>(), [revision]);
            Ok(())
        });
    }
    claims_fresh(&mut transaction);
    transaction.expect_commit().returning(|| Ok(()));
    let dispositions = process(store(vec![transaction]), forgetful())
        .run(&batch(&[("evt_1", "pi_1:5"), ("evt_2", "refund:pi_1:5")]))
        .await;
    assert_eq!(dispositions, [Disposition::Applied, Disposition::Applied]);
}

#[tokio::test]
async fn an_event_that_waits_for_another_is_not_ready_and_the_rest_of_the_batch_is_applied() {
    let mut waiting = MockTransaction::new();
    claims_fresh(&mut waiting);
    waiting.expect_commit().never();
    let mut alone = MockTransaction::new();
    claims_fresh(&mut alone);
    alone.expect_commit().never();
    let dispositions = process(store(vec![waiting, committing(), alone]), forgetful())
        .run(&batch(&[("evt_1", "refund:pi_1:5"), ("evt_2", "pi_2:5")]))
        .await;
    assert!(
        matches!(dispositions[..], [Disposition::Retry(RetryClass::NotReady, _), Disposition::Applied]),
        "{dispositions:?}"
    );
}

/// The payment that [`succeeded`] makes.
fn paid(event_id: &str, payment: &str, minor_units: i64) -> Payment {
    match decide(None, |_| None, &succeeded(event_id, payment, minor_units)) {
        Ok(Decision::Apply(change)) => change.payment,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_cannot_be_translated_is_a_dead_letter_and_touches_no_store() {
    let dispositions = process(store(Vec::new()), forgetful()).run(&batch(&[("evt_1", "garbage")])).await;
    assert!(matches!(dispositions[..], [Disposition::DeadLetter(DeadLetterReason::Untranslatable(_))]));
}

#[tokio::test]
async fn an_event_of_a_source_that_is_configured_no_more_is_a_dead_letter() {
    let process =
        ProcessEvents::new(Sources::default(), Arc::new(MockUnitOfWork::new()), Arc::new(forgetful()));
    let dispositions = process.run(&batch(&[("evt_1", "pi_1:1")])).await;
    assert!(matches!(
        &dispositions[..],
        [Disposition::DeadLetter(DeadLetterReason::Untranslatable(reason))] if reason.contains("not configured")
    ));
}
