//! What each type becomes.

use super::*;

const CHARGE: &str = r#""id":"ch_1","payment_intent":"pi_1","currency":"usd""#;

fn charge(kind: &str, members: &str) -> Option<(String, Vec<String>)> {
    told(kind, &format!("{{{CHARGE},{members}}}"))
}

fn refund(kind: &str, status: &str) -> Option<(String, Vec<String>)> {
    let members = r#""id":"re_1","amount":700,"currency":"usd","charge":"ch_1","payment_intent":"pi_1""#;
    told(kind, &format!(r#"{{{members},"status":"{status}"}}"#))
}

fn dispute(kind: &str, status: &str) -> Option<(String, Vec<String>)> {
    let members = r#""id":"dp_1","amount":2000,"currency":"usd","charge":"ch_1","payment_intent":"pi_1""#;
    told(kind, &format!(r#"{{{members},"status":"{status}"}}"#))
}

fn payout(kind: &str, amount: &str, status: &str) -> Option<(String, Vec<String>)> {
    told(kind, &format!(r#"{{"id":"po_1","amount":{amount},"currency":"usd","status":"{status}"}}"#))
}

#[test]
fn an_intent_on_its_way_is_progress() {
    for (kind, fact) in [
        ("payment_intent.created", "progress:created:0"),
        ("payment_intent.requires_action", "progress:requires_action:0"),
        ("payment_intent.processing", "progress:processing:0"),
        ("payment_intent.canceled", "canceled"),
    ] {
        assert_eq!(told(kind, r#"{"id":"pi_1"}"#), that("pi_1", &[fact]), "{kind}");
    }
}

#[test]
fn one_payment_that_several_types_tell_of_is_one_fact() {
    let captured = that("pi_1", &["captured:single 2000 USD"]);
    assert_eq!(told_by(SUCCEEDED), captured);
    assert_eq!(
        charge("charge.succeeded", r#""amount":2000,"amount_captured":2000,"captured":true"#),
        captured
    );
    assert_eq!(
        charge("charge.captured", r#""amount":2000,"amount_captured":2000,"captured":true"#),
        captured
    );
    let session = r#"{"id":"cs_1","amount_total":2000,"currency":"usd","payment_intent":"pi_1","payment_status":"paid"}"#;
    for kind in ["checkout.session.completed", "checkout.session.async_payment_succeeded"] {
        assert_eq!(told(kind, session), captured, "{kind}");
        assert_eq!(told(kind, &session.replace("\"paid\"", "\"unpaid\"")), None);
        assert_eq!(told(kind, &session.replace("\"pi_1\"", "null")), None, "a subscription has no intent");
    }
}

#[test]
fn a_charge_before_there_were_intents_is_a_payment_of_its_own() {
    let object = r#"{"id":"ch_1","amount":2000,"captured":true,"currency":"usd"}"#;
    assert_eq!(told("charge.succeeded", object), that("ch_1", &["captured:single 2000 USD"]));
    assert_eq!(
        told("charge.succeeded", &object.replace("\"id\"", "\"payment_intent\":null,\"id\"")),
        told("charge.succeeded", object)
    );
}

#[test]
fn what_is_reserved_is_authorised_by_charge_and_intent_alike() {
    let authorised = that("pi_1", &["authorised 2000 USD"]);
    assert_eq!(
        charge("charge.succeeded", r#""amount":2000,"amount_captured":0,"captured":false"#),
        authorised
    );
    let intent = r#"{"id":"pi_1","amount_capturable":2000,"currency":"usd"}"#;
    let updated = "payment_intent.amount_capturable_updated";
    assert_eq!(told(updated, intent), authorised);
    let with_before = |before: &str| {
        event(updated, intent).replace("\"data\":{", &format!("\"data\":{{\"previous_attributes\":{before},"))
    };
    assert_eq!(told_by(&with_before(r#"{"amount_capturable":0}"#)), authorised);
    assert_eq!(told_by(&with_before("{}")), authorised);
    assert_eq!(told_by(&with_before(r#"{"amount_capturable":1500}"#)), None, "an amount that grows later");
    assert_eq!(told(updated, &intent.replace("2000", "0")), None, "nothing is left to capture");
}

#[test]
fn a_partial_capture_is_what_was_taken() {
    let captured = that("pi_1", &["captured:single 1500 USD"]);
    assert_eq!(
        charge(
            "charge.captured",
            r#""amount":2000,"amount_captured":1500,"amount_refunded":500,"captured":true"#
        ),
        captured
    );
    assert_eq!(charge("charge.captured", r#""amount":2000,"amount_refunded":500,"captured":true"#), captured);
}

#[test]
fn an_attempt_is_told_alike_by_charge_and_intent() {
    let failed = that("pi_1", &["failed:ch_1"]);
    assert_eq!(charge("charge.failed", r#""amount":2000"#), failed);
    for object in [
        r#"{"id":"pi_1","latest_charge":"ch_0","last_payment_error":{"charge":"ch_1","code":"card_declined"}}"#,
        r#"{"id":"pi_1","latest_charge":"ch_1","last_payment_error":null}"#,
        r#"{"id":"pi_1","charges":{"object":"list","data":[{"id":"ch_1"},{"id":"ch_0"}]}}"#,
    ] {
        assert_eq!(told("payment_intent.payment_failed", object), failed, "{object}");
    }
}

#[test]
fn an_attempt_that_made_no_charge_is_told_by_its_event() {
    for object in [
        r#"{"id":"pi_1","latest_charge":"ch_0","last_payment_error":{"code":"payment_intent_authentication_failure"}}"#,
        r#"{"id":"pi_1","charges":{"data":[]}}"#,
        r#"{"id":"pi_1"}"#,
    ] {
        assert_eq!(
            told("payment_intent.payment_failed", object),
            that("pi_1", &["failed:evt_1"]),
            "{object}"
        );
    }
}

#[test]
fn a_charge_on_its_way_or_over_is_told_of_its_payment() {
    assert_eq!(charge("charge.pending", r#""amount":2000"#), that("pi_1", &["progress:processing:0"]));
    assert_eq!(charge("charge.expired", r#""amount":2000"#), that("pi_1", &["canceled"]));
}

#[test]
fn a_charges_refunds_are_a_running_total() {
    let members = r#""amount":2000,"amount_captured":2000,"amount_refunded":700,"captured":true"#;
    assert_eq!(charge("charge.refunded", members), that("pi_1", &["refunded_in_all:700 700 USD"]));
    let old = r#"{"id":"ch_1","amount":61798,"amount_refunded":10000,"captured":true,"currency":"ils"}"#;
    assert_eq!(told("charge.refunded", old), that("ch_1", &["refunded_in_all:10000 10000 ILS"]));
}

#[test]
fn what_was_never_captured_is_not_refunded() {
    let partly = |refunded: u32| {
        let members =
            format!(r#""amount":2000,"amount_captured":1500,"amount_refunded":{refunded},"captured":true"#);
        charge("charge.refunded", &members)
    };
    assert_eq!(partly(500), None, "the rest of a partial capture");
    assert_eq!(partly(1200), that("pi_1", &["refunded_in_all:700 700 USD"]));
    let over = r#""amount":2000,"amount_captured":2200,"amount_refunded":700,"captured":true"#;
    assert_eq!(charge("charge.refunded", over), that("pi_1", &["refunded_in_all:700 700 USD"]));
    let released =
        r#""amount":2000,"amount_captured":0,"amount_refunded":2000,"captured":false,"refunded":true"#;
    assert_eq!(charge("charge.refunded", released), None, "the intent's own event says that it is canceled");
    let without_intent = format!(r#"{{"id":"ch_1","currency":"usd",{released}}}"#);
    assert_eq!(told("charge.refunded", &without_intent), that("ch_1", &["canceled"]));
}

#[test]
fn a_refund_counts_as_soon_as_it_is_under_way() {
    for kind in ["refund.created", "refund.updated", "charge.refund.updated"] {
        for status in ["pending", "succeeded"] {
            assert_eq!(refund(kind, status), that("pi_1", &["refunded:re_1 700 USD"]), "{kind} {status}");
        }
        assert_eq!(refund(kind, "requires_action"), None);
        assert_eq!(refund(kind, "some_future_status"), None);
    }
    let of_a_charge = r#"{"id":"re_1","amount":100,"currency":"usd","charge":"ch_1","payment_intent":null,"status":"succeeded"}"#;
    assert_eq!(told("charge.refund.updated", of_a_charge), that("ch_1", &["refunded:re_1 100 USD"]));
}

#[test]
fn a_refund_that_failed_is_taken_back_whether_or_not_it_was_told() {
    let back = that("pi_1", &["refunded:re_1 700 USD", "refund_failed:re_1 700 USD"]);
    assert_eq!(refund("refund.failed", "failed"), back);
    for status in ["failed", "canceled"] {
        assert_eq!(refund("refund.updated", status), back, "{status}");
    }
}

#[test]
fn a_dispute_is_opened_when_it_takes_money() {
    let opened = that("pi_1", &["dispute_opened:dp_1 2000 USD"]);
    assert_eq!(dispute("charge.dispute.created", "needs_response"), opened);
    assert_eq!(dispute("charge.dispute.created", "lost"), opened);
    assert_eq!(dispute("charge.dispute.funds_withdrawn", "needs_response"), opened);
    for inquiry in ["warning_needs_response", "warning_under_review", "prevented"] {
        assert_eq!(dispute("charge.dispute.created", inquiry), None, "{inquiry}");
    }
    assert_eq!(dispute("charge.dispute.updated", "under_review"), None);
    assert_eq!(dispute("charge.dispute.funds_reinstated", "won"), None);
}

#[test]
fn a_dispute_is_closed_as_its_status_says() {
    let closed = "charge.dispute.closed";
    assert_eq!(
        dispute(closed, "won"),
        that("pi_1", &["dispute_opened:dp_1 2000 USD", "dispute_won:dp_1 2000 USD"])
    );
    assert_eq!(
        dispute(closed, "lost"),
        that("pi_1", &["dispute_opened:dp_1 2000 USD", "dispute_lost:dp_1 2000 USD"])
    );
    assert_eq!(dispute(closed, "warning_closed"), None);
    let old = r#"{"charge":"ch_1","amount":1000,"currency":"usd","status":"won","object":"dispute"}"#;
    assert_eq!(
        told(closed, old),
        that("ch_1", &["dispute_opened:ch_1 1000 USD", "dispute_won:ch_1 1000 USD"])
    );
}

#[test]
fn a_payout_is_what_its_type_or_its_status_says() {
    for (kind, status, fact) in [
        ("payout.created", "paid", Some("payout_started 1100 USD")),
        ("payout.paid", "paid", Some("payout_paid 1100 USD")),
        ("payout.failed", "failed", Some("payout_failed 1100 USD")),
        ("payout.canceled", "canceled", Some("payout_canceled 1100 USD")),
        ("payout.updated", "pending", Some("payout_started 1100 USD")),
        ("payout.updated", "in_transit", Some("payout_started 1100 USD")),
        ("payout.updated", "paid", Some("payout_paid 1100 USD")),
        ("payout.updated", "failed", Some("payout_failed 1100 USD")),
        ("payout.updated", "canceled", Some("payout_canceled 1100 USD")),
        ("payout.updated", "some_future_status", None),
        ("payout.reconciliation_completed", "paid", None),
    ] {
        assert_eq!(
            payout(kind, "1100", status),
            fact.and_then(|fact| that("po_1", &[fact])),
            "{kind} {status}"
        );
    }
    assert_eq!(payout("payout.created", "-1100", "pending"), None, "a debit of the merchant's bank");
}
