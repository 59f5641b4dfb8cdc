use domain::{Effect, NoEffect};

use super::*;
use crate::providers::harness::{changed, told, translated, untranslatable};

const PAYMENT_ID: &str = "fixPayment0000000000000000001";

fn facts(body: &str) -> Vec<String> {
    told(&square(&["key"]), body).1
}

fn has_no_effect(body: &str) -> bool {
    translated(&square(&["key"]), body).effect == Effect::Nothing(NoEffect::Kind)
}

/// The body with one text for another, which must be there.
fn with(body: &str, from: &str, to: &str) -> String {
    assert!(body.contains(from), "{from}");
    body.replace(from, to)
}

#[test]
fn a_completed_payment_is_captured_with_its_tip_and_its_fee() {
    let square = square(&["key"]);
    let (payment, facts) = told(&square, PAYMENT);
    assert_eq!(payment, PAYMENT_ID);
    assert_eq!(facts, ["captured:single 2300 USD", "charged:INITIAL|2026-03-04T12:15:30.000Z 97 USD"]);
    assert_eq!(changed(&square, PAYMENT).merchant.unwrap().as_str(), "ML8M1AQ1GQG2K");
    let event = translated(&square, PAYMENT);
    assert_eq!(event.kind.as_str(), "payment.updated");
    assert_eq!(event.occurred_at.unwrap().as_micros(), 1_772_619_330_250_000);
}

#[test]
fn the_same_fee_told_twice_counts_once_and_a_returned_one_not_at_all() {
    let fee = |kind: &str, at: &str, amount: i64| {
        format!(
            r#"{{"type":"{kind}","effective_at":"{at}","amount_money":{{"amount":{amount},"currency":"USD"}}}}"#
        )
    };
    let fees = [fee("INITIAL", "t", 97), fee("INITIAL", "t", 97), fee("ADJUSTMENT", "u", -10)].join(",");
    let body = with(PAYMENT, "\"processing_fee\": [", &format!("\"processing_fee\": [{fees}], \"was\": ["));
    assert_eq!(facts(&body), ["captured:single 2300 USD", "charged:INITIAL|t 97 USD"]);
}

#[test]
fn the_status_of_a_payment_decides() {
    for (status, fact) in [
        ("PENDING", "progress:processing:0"),
        ("APPROVED", "authorised 2000 USD"),
        ("CANCELED", "canceled"),
        ("FAILED", "failed:fixPayment0000000000000000001"),
    ] {
        assert_eq!(facts(&with(PAYMENT, "COMPLETED", status)), [fact], "{status}");
    }
    assert!(has_no_effect(&with(PAYMENT, "COMPLETED", "DREAMT")));
}

#[test]
fn a_tip_added_before_the_capture_is_no_other_authorisation() {
    let approved = with(PAYMENT, "COMPLETED", "APPROVED");
    let tipped = with(&with(&approved, "\"amount\": 300", "\"amount\": 900"), "2300", "2900");
    assert_eq!(facts(&approved), facts(&tipped));
}

#[test]
fn a_refund_counts_until_it_fails() {
    let refund = format!("refunded:{PAYMENT_ID}_fixRefund01 500 USD");
    for status in ["PENDING", "APPROVED", "COMPLETED"] {
        let body = with(REFUND, "COMPLETED", status);
        assert_eq!(told(&square(&["key"]), &body), (PAYMENT_ID.to_owned(), vec![refund.clone()]));
    }
    for status in ["REJECTED", "FAILED"] {
        let failed = format!("refund_failed:{PAYMENT_ID}_fixRefund01 500 USD");
        assert_eq!(facts(&with(REFUND, "COMPLETED", status)), [refund.clone(), failed]);
    }
}

#[test]
fn a_refund_without_a_payment_has_no_effect() {
    assert!(has_no_effect(&with(
        REFUND,
        "\"payment_id\": \"fixPay",
        "\"unlinked\": true, \"was\": \"fixPay"
    )));
}

#[test]
fn both_kinds_of_a_changed_dispute_tell_the_same_fact() {
    let won = with(&with(DISPUTE, "EVIDENCE_REQUIRED", "WON"), "dispute.created", "dispute.state.updated");
    let older = with(&won, "dispute.state.updated", "dispute.state.changed");
    let older = with(
        &older,
        "\"id\": \"fixDispute0001\",\n        \"state",
        "\"dispute_id\": \"fixDispute0001\", \"state",
    );
    assert_eq!(told(&square(&["key"]), &won), told(&square(&["key"]), &older));
    assert_eq!(facts(&won), ["dispute_won:fixDispute0001 2300 USD"]);
}

#[test]
fn a_dispute_takes_money_from_its_first_day_and_an_inquiry_does_not() {
    let fact = |state| facts(&with(DISPUTE, "EVIDENCE_REQUIRED", state));
    assert_eq!(facts(DISPUTE), ["dispute_opened:fixDispute0001 2300 USD"]);
    assert_eq!(fact("PROCESSING"), facts(DISPUTE));
    for lost in ["LOST", "ACCEPTED"] {
        assert_eq!(fact(lost), ["dispute_lost:fixDispute0001 2300 USD"]);
    }
    for inquiry in ["INQUIRY_EVIDENCE_REQUIRED", "INQUIRY_PROCESSING", "INQUIRY_CLOSED"] {
        assert!(has_no_effect(&with(DISPUTE, "EVIDENCE_REQUIRED", inquiry)));
    }
}

#[test]
fn a_payout_names_its_currency_otherwise() {
    let (payout, facts) = told(&square(&["key"]), PAYOUT);
    assert_eq!((payout.as_str(), facts), ("po_fixture-0001", vec!["payout_paid 1820 EUR".to_owned()]));
    for (status, kind, fact) in [("SENT", "sent", "payout_started"), ("FAILED", "failed", "payout_failed")] {
        let body = with(&with(PAYOUT, "PAID", status), "payout.paid", &format!("payout.{kind}"));
        assert_eq!(told(&square(&["key"]), &body).1, [format!("{fact} 1820 EUR")]);
    }
}

#[test]
fn an_unknown_type_has_no_effect_whatever_its_data_is() {
    for body in [r#"{"event_id":"e","type":"invoice.paid","data":7}"#, r#"{"event_id":"e"}"#, "{}"] {
        assert!(has_no_effect(body), "{body}");
    }
}

#[test]
fn what_is_missing_is_told_with_its_place() {
    for (from, to, place) in [
        ("\"amount\": 2300", "\"amount\": 23.5", "/data/object/payment/total_money/amount is not"),
        ("\"status\": \"COMPLETED\",", "", "/data/object/payment/status is not"),
        (
            "\"id\": \"fixPayment0000000000000000001\",\n        \"st",
            "\"st",
            "/data/object/payment/id is not",
        ),
        (
            "\"effective_at\": \"2026-03-04T12:15:30.000Z\",",
            "",
            "/data/object/payment/processing_fee/0/effective_at",
        ),
    ] {
        let told = untranslatable(&square(&["key"]), &with(PAYMENT, from, to));
        assert!(told.starts_with(place), "{told}");
    }
}

#[test]
fn an_unused_member_may_hold_anything() {
    assert_eq!(facts(&with(PAYMENT, "fixtureVersionToken", r"\ud800\u0000")), facts(PAYMENT));
}
