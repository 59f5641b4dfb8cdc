use super::*;
use crate::event::EventKey;
use crate::fact::SINGLE;
use crate::id::{EventId, EventKind, FactId, MerchantId, SourceName};
use crate::ledger::LedgerAccount;
use crate::payment::PaymentState;

mod books;
mod order;

use books::Books;

fn usd(minor_units: i64) -> Money {
    Money::new(minor_units, Currency::parse("USD").unwrap())
}

fn id(text: &str) -> FactId {
    FactId::parse(text).unwrap()
}

fn captured(minor_units: i64) -> Fact {
    Fact::Captured { capture: id(SINGLE), amount: usd(minor_units), last: true }
}

fn partly_captured(capture: &str, minor_units: i64) -> Fact {
    Fact::Captured { capture: id(capture), amount: usd(minor_units), last: false }
}

fn refunded(refund: &str, minor_units: i64) -> Fact {
    Fact::Refunded { refund: id(refund), amount: usd(minor_units) }
}

fn progressed(progress: Progress) -> Fact {
    Fact::Progressed { progress }
}

/// An event at `second` with these facts about the payment `pi_1`.
fn event(event_id: &str, second: i64, facts: &[Fact]) -> PaymentEvent {
    PaymentEvent {
        key: EventKey {
            source: SourceName::parse("payment").unwrap(),
            event_id: EventId::parse(event_id).unwrap(),
        },
        kind: EventKind::parse("some.kind").unwrap(),
        effect: Effect::Change(PaymentChange {
            payment: PaymentId::parse("pi_1").unwrap(),
            merchant: None,
            facts: facts.to_vec(),
        }),
        occurred_at: Some(Timestamp::from_micros(second * 1_000_000)),
        received_at: Timestamp::from_micros(0),
    }
}

fn of_merchant(merchant: &str, mut event: PaymentEvent) -> PaymentEvent {
    if let Effect::Change(change) = &mut event.effect {
        change.merchant = Some(MerchantId::parse(merchant).unwrap());
    }
    event
}

#[test]
fn a_capture_creates_the_payment_and_moves_the_money() {
    let mut books = Books::default();
    books.applied(&event("evt_1", 1, &[captured(4_999)]));
    let payment = books.payment();
    assert_eq!(payment.state(), PaymentState::Succeeded);
    assert_eq!(payment.amount(), Some(usd(4_999)));
    assert_eq!((payment.last_event.as_str(), payment.revision), ("evt_1", 1));
    assert_eq!(books.balance(LedgerAccount::ProviderClearing), 4_999);
    assert_eq!(books.balance(LedgerAccount::Merchant), -4_999);
    assert_eq!(books.announced(), ["payment.succeeded payment/pi_1/captured:single"]);
}

#[test]
fn a_second_event_for_the_same_fact_has_no_effect() {
    let mut books = Books::default();
    books.applied(&event("evt_1", 1, &[captured(4_999)]));
    assert_eq!(books.recorded(&event("evt_2", 2, &[captured(4_999)])), RecordReason::FactAlreadyKnown);
}

#[test]
fn the_same_fact_with_another_amount_is_impossible() {
    let mut books = Books::default();
    books.applied(&event("evt_1", 1, &[captured(4_999)]));
    assert!(matches!(books.refused(&event("evt_2", 2, &[captured(5_000)])), Refusal::AmountMismatch { .. }));
}

#[test]
fn a_late_older_report_is_superseded() {
    let mut books = Books::default();
    books.applied(&event("evt_2", 2, &[progressed(Progress::Processing)]));
    assert_eq!(
        books.recorded(&event("evt_1", 1, &[progressed(Progress::RequiresAction)])),
        RecordReason::Superseded
    );
    assert_eq!(books.payment().state(), PaymentState::Processing);
}

#[test]
fn of_one_second_the_further_report_counts() {
    for reports in [[Progress::Created, Progress::Processing], [Progress::Processing, Progress::Created]] {
        let mut books = Books::default();
        for (index, progress) in reports.into_iter().enumerate() {
            books.take(&event(&format!("evt_{index}"), 7, &[progressed(progress)])).unwrap();
        }
        assert_eq!(books.payment().state(), PaymentState::Processing);
    }
}

#[test]
fn no_report_takes_a_captured_payment_back() {
    let mut books = Books::default();
    books.applied(&event("evt_1", 5, &[captured(100)]));
    for second in [1, 5, 9] {
        let late = event(&format!("evt_{second}"), second, &[progressed(Progress::Processing)]);
        assert_eq!(books.recorded(&late), RecordReason::Superseded);
    }
    books.applied(&event("evt_f", 9, &[Fact::Failed { attempt: id("ch_0") }]));
    books.applied(&event("evt_c", 9, &[Fact::Canceled]));
    assert_eq!(books.payment().state(), PaymentState::Succeeded);
}

#[test]
fn refunds_add_up_each_once() {
    let mut books = Books::default();
    books.applied(&event("evt_1", 1, &[captured(100)]));
    books.applied(&event("evt_2", 2, &[refunded("re_1", 30)]));
    assert_eq!(books.recorded(&event("evt_3", 2, &[refunded("re_1", 30)])), RecordReason::FactAlreadyKnown);
    assert_eq!(books.payment().state(), PaymentState::PartlyRefunded);
    books.applied(&event("evt_4", 3, &[refunded("re_2", 70)]));
    assert_eq!(books.payment().state(), PaymentState::Refunded);
    assert_eq!(books.balance(LedgerAccount::ProviderClearing), 0);
    assert_eq!(books.balance(LedgerAccount::Refunds), 100);
}

#[test]
fn a_running_total_and_single_refunds_are_not_counted_twice() {
    let mut books = Books::default();
    books.applied(&event("evt_1", 1, &[captured(100)]));
    books.applied(&event("evt_2", 2, &[Fact::RefundedInAll { total: usd(30) }]));
    books.applied(&event("evt_3", 2, &[refunded("re_1", 30)]));
    assert_eq!(books.balance(LedgerAccount::Refunds), 30);
}

#[test]
fn a_failed_refund_brings_the_money_back() {
    let mut books = Books::default();
    books.applied(&event("evt_1", 1, &[captured(100)]));
    books.applied(&event("evt_2", 2, &[refunded("re_1", 100)]));
    books.applied(&event("evt_3", 3, &[Fact::RefundFailed { refund: id("re_1"), amount: usd(100) }]));
    assert_eq!(books.payment().state(), PaymentState::Succeeded);
    assert_eq!(books.balance(LedgerAccount::Refunds), 0);
}

#[test]
fn a_refund_over_all_that_can_be_captured_is_impossible() {
    let mut books = Books::default();
    books.applied(&event("evt_1", 1, &[captured(100)]));
    let before = books.payment().clone();
    assert!(matches!(
        books.refused(&event("evt_2", 2, &[refunded("re_1", 101)])),
        Refusal::RefundOverCaptured { .. }
    ));
    assert_eq!(books.payment(), &before);
}

#[test]
fn a_refund_waits_for_the_captures_that_may_still_come() {
    let mut books = Books::default();
    assert!(matches!(books.waits(&event("evt_1", 2, &[refunded("re_1", 80)])), NotReady::Capture { .. }));
    books.applied(&event("evt_2", 1, &[partly_captured("c1", 50)]));
    assert!(matches!(books.waits(&event("evt_1", 2, &[refunded("re_1", 80)])), NotReady::Capture { .. }));
    books.applied(&event("evt_3", 1, &[partly_captured("c2", 50)]));
    books.applied(&event("evt_1", 2, &[refunded("re_1", 80)]));
}

#[test]
fn a_failed_refund_and_a_closed_dispute_wait_for_their_beginning() {
    let mut books = Books::default();
    books.applied(&event("evt_1", 1, &[captured(100)]));
    let failed = Fact::RefundFailed { refund: id("re_1"), amount: usd(10) };
    assert!(matches!(books.waits(&event("evt_2", 2, &[failed])), NotReady::Refund { .. }));
    let lost = Fact::DisputeLost { dispute: id("dp_1"), amount: usd(10) };
    assert!(matches!(books.waits(&event("evt_3", 2, &[lost])), NotReady::Dispute { .. }));
}

#[test]
fn a_dispute_waits_for_the_capture() {
    let opened = Fact::DisputeOpened { dispute: id("dp_1"), amount: usd(10) };
    let waits = Books::default().waits(&event("evt_1", 2, &[opened]));
    assert!(matches!(waits, NotReady::DisputedCapture { .. }));
}

#[test]
fn a_dispute_takes_the_money_and_winning_it_brings_it_back() {
    let (opened, won, lost) = (
        Fact::DisputeOpened { dispute: id("dp_1"), amount: usd(100) },
        Fact::DisputeWon { dispute: id("dp_1"), amount: usd(100) },
        Fact::DisputeLost { dispute: id("dp_1"), amount: usd(100) },
    );
    for (end, state, held) in [(won, PaymentState::DisputeWon, 100), (lost, PaymentState::DisputeLost, 0)] {
        let mut books = Books::default();
        books.applied(&event("evt_1", 1, &[captured(100)]));
        books.applied(&event("evt_2", 2, std::slice::from_ref(&opened)));
        assert_eq!(books.payment().state(), PaymentState::DisputeOpened);
        assert_eq!(books.balance(LedgerAccount::ProviderClearing), 0);
        books.applied(&event("evt_3", 3, &[end]));
        assert_eq!(books.payment().state(), state);
        assert_eq!(books.balance(LedgerAccount::ProviderClearing), held);
    }
}

#[test]
fn a_fee_is_kept_by_the_provider() {
    let mut books = Books::default();
    books.applied(&event("evt_1", 1, &[captured(100), Fact::Charged { fee: id(SINGLE), amount: usd(3) }]));
    assert_eq!(books.balance(LedgerAccount::ProviderClearing), 97);
    assert_eq!(books.balance(LedgerAccount::Fees), 3);
}

#[test]
fn an_authorised_payment_is_captured_in_parts() {
    let mut books = Books::default();
    books.applied(&event("evt_1", 1, &[Fact::Authorised { amount: usd(100) }]));
    assert_eq!(books.payment().state(), PaymentState::Authorised);
    assert_eq!(books.balance(LedgerAccount::ProviderClearing), 0);
    books.applied(&event("evt_2", 2, &[partly_captured("c1", 40)]));
    assert_eq!(books.payment().state(), PaymentState::PartlyCaptured);
    books.applied(&event("evt_3", 3, &[partly_captured("c2", 60)]));
    assert_eq!(books.payment().state(), PaymentState::Succeeded);
}

#[test]
fn a_payout_that_was_paid_can_still_fail() {
    let mut books = Books::default();
    books.applied(&event("evt_1", 1, &[Fact::PayoutStarted { amount: usd(70) }]));
    books.applied(&event("evt_2", 2, &[Fact::PayoutPaid { amount: usd(70) }]));
    assert_eq!(books.balance(LedgerAccount::Bank), 70);
    books.applied(&event("evt_3", 3, &[Fact::PayoutFailed { amount: usd(70) }]));
    assert_eq!(books.payment().state(), PaymentState::PayoutFailed);
    assert_eq!(books.balance(LedgerAccount::Bank), 0);
}

#[test]
fn a_payout_of_two_amounts_is_impossible() {
    let mut books = Books::default();
    books.applied(&event("evt_1", 1, &[Fact::PayoutStarted { amount: usd(70) }]));
    let other = event("evt_2", 2, &[Fact::PayoutPaid { amount: usd(71) }]);
    assert!(matches!(books.refused(&other), Refusal::AmountMismatch { .. }));
}

#[test]
fn a_payment_is_not_a_payout() {
    let mut books = Books::default();
    books.applied(&event("evt_1", 1, &[captured(100)]));
    let payout = event("evt_2", 2, &[Fact::PayoutPaid { amount: usd(100) }]);
    assert!(matches!(books.refused(&payout), Refusal::PaymentAndPayout { .. }));
}

#[test]
fn a_negative_amount_is_impossible_and_zero_is_not() {
    assert!(matches!(
        Books::default().refused(&event("evt_1", 1, &[captured(-1)])),
        Refusal::NegativeAmount { .. }
    ));
    let mut books = Books::default();
    books.applied(&event("evt_1", 1, &[captured(0)]));
    assert_eq!(books.payment().state(), PaymentState::Succeeded);
}

#[test]
fn another_currency_is_impossible() {
    let mut books = Books::default();
    books.applied(&event("evt_1", 1, &[captured(100)]));
    let euro = Money::new(1, Currency::parse("EUR").unwrap());
    let refund = event("evt_2", 2, &[Fact::Refunded { refund: id("re_1"), amount: euro }]);
    assert!(matches!(books.refused(&refund), Refusal::OtherCurrency { .. }));
}

#[test]
fn another_merchant_is_impossible() {
    let mut books = Books::default();
    books.applied(&of_merchant("acct_1", event("evt_1", 1, &[captured(100)])));
    let other = of_merchant("acct_2", event("evt_2", 2, &[refunded("re_1", 1)]));
    assert!(matches!(books.refused(&other), Refusal::OtherMerchant { .. }));
}

#[test]
fn a_sum_that_does_not_fit_is_impossible() {
    let mut books = Books::default();
    books.applied(&event("evt_1", 1, &[partly_captured("c1", i64::MAX)]));
    let more = event("evt_2", 2, &[partly_captured("c2", 1)]);
    assert!(matches!(books.refused(&more), Refusal::Overflow { .. }));
}

#[test]
fn an_event_without_effect_is_recorded_with_its_reason() {
    for (why, reason) in [
        (NoEffect::Kind, RecordReason::NoEffect),
        (NoEffect::Unconfirmed, RecordReason::Unconfirmed),
        (NoEffect::OtherMode, RecordReason::OtherMode),
    ] {
        let event = PaymentEvent { effect: Effect::Nothing(why), ..event("evt_1", 1, &[]) };
        assert_eq!(Books::default().recorded(&event), reason);
    }
}
