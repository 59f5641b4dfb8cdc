//! What next-gen events mean.

use domain::Fact;

use super::*;
use crate::providers::harness::{changed, told, translated, untranslatable};

fn links() -> NextGen {
    next_gen(&[SECRET], Counted::PaymentLinks)
}

fn payments() -> NextGen {
    next_gen(&[SECRET], Counted::Payments)
}

/// The body with one text for another, which must be there.
fn with(body: &str, from: &str, to: &str) -> String {
    assert!(body.contains(from), "{from}");
    body.replace(from, to)
}

fn is_a_hint(pack: &NextGen, body: &str) -> bool {
    translated(pack, body).effect == Effect::Nothing(NoEffect::Unconfirmed)
}

#[test]
fn a_paid_link_is_captured_at_its_snapshots_amount() {
    let (payment, facts) = told(&links(), LINK_PAID);
    assert_eq!((payment.as_str(), facts), ("pl_fixture0001", vec!["captured:single 4999 EUR".to_owned()]));
    let event = translated(&links(), LINK_PAID);
    assert_eq!((event.kind.as_str(), event.live), ("payment-link.paid", Some(true)));
    assert_eq!(event.occurred_at.unwrap().as_micros(), 1_772_626_530_000_000);
}

#[test]
fn an_event_of_the_test_mode_says_so() {
    assert_eq!(translated(&links(), &with(LINK_PAID, "\"live\"", "\"test\"")).live, Some(false));
    assert_eq!(translated(&links(), &with(LINK_PAID, "\"mode\"", "\"was\"")).live, None);
    let at_the_top = with(&with(LINK_PAID, "\"mode\"", "\"was\""), "\"entityId\"", "\"mode\":\"test\",\"e\"");
    assert_eq!(translated(&links(), &at_the_top).live, Some(false));
}

#[test]
fn a_reusable_link_is_paid_by_each_event() {
    let body = with(LINK_PAID, "\"reusable\": false", "\"reusable\": true");
    assert_eq!(told(&links(), &body).1, ["captured:whe_fixture0001 4999 EUR"]);
    assert!(matches!(changed(&links(), &body).facts[..], [Fact::Captured { last: false, .. }]));
}

#[test]
fn an_event_without_a_snapshot_is_a_hint() {
    let simple = r#"{"resource":"event","id":"event_1","type":"payment-link.paid","entityId":"pl_1"}"#;
    assert!(is_a_hint(&links(), simple));
    assert!(is_a_hint(&payments(), &with(PAYMENT_PAID, "\"_embedded\"", "\"was\"")));
}

#[test]
fn an_amount_that_the_payer_chose_is_a_hint() {
    let body = with(LINK_PAID, r#"{ "value": "49.99", "currency": "EUR" }"#, "null");
    assert!(is_a_hint(&links(), &body));
}

#[test]
fn one_payment_never_counts_under_both_its_names() {
    assert!(is_a_hint(&payments(), LINK_PAID));
    assert!(is_a_hint(&links(), PAYMENT_PAID));
    assert!(is_a_hint(&links(), REFUND));
}

#[test]
fn events_of_payments_become_facts() {
    for (kind, fact) in [
        ("payment.pending", "progress:processing:0"),
        ("payment.authorized", "authorised 1000 EUR"),
        ("payment.paid", "captured:single 1000 EUR"),
        ("payment.failed", "failed:tr_fixture0002"),
        ("payment.canceled", "canceled"),
        ("payment.expired", "canceled"),
    ] {
        let (payment, facts) = told(&payments(), &with(PAYMENT_PAID, "payment.paid", kind));
        assert_eq!((payment.as_str(), facts), ("tr_fixture0002", vec![fact.to_owned()]), "{kind}");
    }
}

#[test]
fn what_was_authorised_first_is_counted_by_its_captures() {
    for (from, to) in [
        ("\"captureMode\": \"automatic\"", "\"captureMode\": \"manual\""),
        ("\"captureMode\": \"automatic\"", "\"captureDelay\": \"8 hours\""),
        (
            "\"captureMode\": \"automatic\"",
            "\"amountCaptured\": {\"value\": \"10.00\", \"currency\": \"EUR\"}",
        ),
    ] {
        assert!(is_a_hint(&payments(), &with(PAYMENT_PAID, from, to)), "{to}");
    }
    let capture = with(&with(REFUND, "refund.refunded", "capture.succeeded"), "re_fixture", "cpt_fixture");
    let (payment, facts) = told(&payments(), &capture);
    assert_eq!(payment, "tr_fixture0002");
    assert_eq!(facts, ["captured:cpt_fixture0003 250 EUR"]);
}

#[test]
fn events_of_refunds_and_chargebacks_are_of_their_payment() {
    const REFUNDED: &str = "refunded:re_fixture0003 250 EUR";
    const OPENED: &str = "dispute_opened:re_fixture0003 250 EUR";
    for (kind, expected) in [
        ("refund.queued", &[REFUNDED][..]),
        ("refund.pending", &[REFUNDED]),
        ("refund.processing", &[REFUNDED]),
        ("refund.refunded", &[REFUNDED]),
        ("refund.failed", &[REFUNDED, "refund_failed:re_fixture0003 250 EUR"]),
        ("refund.canceled", &[REFUNDED, "refund_failed:re_fixture0003 250 EUR"]),
        ("chargeback.received", &[OPENED]),
        ("chargeback.reversed", &[OPENED, "dispute_won:re_fixture0003 250 EUR"]),
    ] {
        let (payment, facts) = told(&payments(), &with(REFUND, "refund.refunded", kind));
        assert_eq!(payment, "tr_fixture0002");
        assert_eq!(facts, expected, "{kind}");
    }
}

#[test]
fn events_of_payouts_count_in_either_case() {
    for (kind, fact) in [
        ("payout.initiated", "payout_started 250 EUR"),
        ("payout.processing-at-bank", "payout_started 250 EUR"),
        ("payout.completed", "payout_paid 250 EUR"),
        ("payout.failed", "payout_failed 250 EUR"),
        ("payout.canceled", "payout_canceled 250 EUR"),
    ] {
        let body = with(&with(REFUND, "refund.refunded", kind), "re_fixture", "payout_fixture");
        for pack in [links(), payments()] {
            let told = told(&pack, &body);
            assert_eq!((told.0.as_str(), told.1), ("payout_fixture0003", vec![fact.to_owned()]), "{kind}");
        }
    }
}

#[test]
fn an_unknown_kind_has_no_effect() {
    for kind in ["hook.ping", "sales-invoice.paid", "balance-transaction.created", "capture.failed", "dream"]
    {
        let event = translated(&payments(), &with(PAYMENT_PAID, "payment.paid", kind));
        assert_eq!((event.effect, event.kind.as_str()), (Effect::Nothing(NoEffect::Kind), kind));
    }
    assert_eq!(translated(&links(), BODY).kind.as_str(), "unknown");
}

#[test]
fn what_is_wrong_is_named_by_its_place() {
    for (pack, body, from, to, place) in [
        (links(), LINK_PAID, "\"paid\"", "\"open\"", "/_embedded/entity/status contradicts"),
        (links(), LINK_PAID, "\"amount\"", "\"was\"", "/_embedded/entity/amount is not"),
        (links(), LINK_PAID, "\"49.99\"", "\"49.999\"", "/_embedded/entity/amount/value has more"),
        (links(), LINK_PAID, "EUR", "EURO", "/_embedded/entity/amount/currency currency"),
        (payments(), PAYMENT_PAID, "\"id\": \"tr_", "\"was\": \"tr_", "/_embedded/entity/id is not"),
        (payments(), REFUND, "\"paymentId\"", "\"was\"", "/_embedded/entity/paymentId is not"),
    ] {
        let text = untranslatable(&pack, &with(body, from, to));
        assert!(text.starts_with(place), "{place}: {text}");
    }
}
