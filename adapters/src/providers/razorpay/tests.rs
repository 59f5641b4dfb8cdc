use application::ports::provider::Trust;

use super::*;
use crate::providers::harness::{
    changed, headers, ids, never_panics, refuses_every_flip, settings, told, translated, untranslatable,
    verdict,
};

const SECRET: &str = "webhook-secret";

/// The body of Razorpay's own tests, whose last line break is signed too.
const SIGNED: &str = include_str!("fixtures/signed.json");

fn source(secrets: &[&str]) -> Razorpay {
    pack(&settings(secrets, &[])).unwrap()
}

fn event(name: &str, payload: &str) -> String {
    format!(
        r#"{{"entity":"event","account_id":"acc_A1","event":"{name}","contains":[],"payload":{{{payload}}},"created_at":1700000000}}"#
    )
}

fn payment(name: &str, further: &str) -> String {
    event(
        name,
        &format!(
            r#""payment":{{"entity":{{"id":"pay_P1","entity":"payment","amount":49900,"currency":"INR","notes":[]{further}}}}}"#
        ),
    )
}

fn refund(name: &str, status: &str) -> String {
    let refund = format!(
        r#""refund":{{"entity":{{"id":"rfnd_R1","amount":10000,"currency":"INR","payment_id":"pay_P1","status":"{status}"}}}}"#
    );
    event(name, &refund)
}

fn dispute(name: &str, further: &str) -> String {
    let dispute = format!(
        r#""dispute":{{"entity":{{"id":"disp_D1","payment_id":"pay_P1","amount":39000,"currency":"INR"{further}}}}}"#
    );
    event(name, &dispute)
}

fn tells(body: &str, payment: &str, facts: &[&str]) {
    let (id, found) = told(&source(&[SECRET]), body);
    assert_eq!(
        (id.as_str(), found),
        (payment, facts.iter().map(|fact| (*fact).to_owned()).collect()),
        "{body}"
    );
}

#[test]
fn known_answers_hold() {
    for (secret, body, signature, verdict_expected) in [
        (
            "123456",
            r#"{"a":1,"b":2,"c":{"d":3}}"#,
            "2fe04e22977002e6c7cb553adab8b460cb9e2a4970d5953cb27a8472752e3bbc",
            Ok(Some(0)),
        ),
        ("123456", r#"{"a":1,"b":2,"c":{"d":3}}"#, "sdfafds", Err("malformed_signature")),
        (
            "key_secret",
            SIGNED,
            "d60e67fd884556c045e9be7dad57903e33efc7172c17c6e3ef77db42d2b366e9",
            Ok(Some(0)),
        ),
        (
            "chosen_webhook_secret",
            SIGNED,
            "dda9ca344c56ccbd90167b1be0fd99dfa92fe2b827020f27e2a46024e31c7c99",
            Ok(Some(0)),
        ),
        (
            "key_secret",
            SIGNED.trim_end(),
            "d60e67fd884556c045e9be7dad57903e33efc7172c17c6e3ef77db42d2b366e9",
            Err("wrong_signature"),
        ),
        (
            "chosen_webhook_secret",
            SIGNED,
            "_dummy_signature_dummy_signature_dummy_signature_dummy_signature",
            Err("malformed_signature"),
        ),
    ] {
        let signed = headers(&[(SIGNATURE_HEADER, signature.as_bytes())]);
        assert_eq!(verdict(&source(&[secret]), &signed, body.as_bytes()), verdict_expected, "{signature}");
    }
    assert_eq!(verdict(&source(&[SECRET]), &[], b"{}"), Err("missing_signature"));
}

#[test]
fn the_old_secret_still_counts_while_both_are_set() {
    let (_, signature) = source(&["old"]).signature.sign(b"{}");
    let signed = headers(&[(SIGNATURE_HEADER, signature.as_bytes())]);
    assert_eq!(verdict(&source(&["new", "old"]), &signed, b"{}"), Ok(Some(1)));
    assert_eq!(verdict(&source(&["new"]), &signed, b"{}"), Err("wrong_signature"));
}

#[test]
fn a_body_that_was_encoded_again_is_refused() {
    let (_, signature) = source(&[SECRET]).signature.sign(br#"{"a": 1}"#);
    let signed = headers(&[(SIGNATURE_HEADER, signature.as_bytes())]);
    assert_eq!(verdict(&source(&[SECRET]), &signed, br#"{"a":1}"#), Err("wrong_signature"));
}

#[test]
fn whatever_is_changed_is_refused() {
    refuses_every_flip(&source(&[SECRET]), &payment("payment.captured", ""), true);
}

#[test]
fn nothing_that_may_come_panics() {
    let bodies = [
        payment("payment.captured", r#","fee":2"#),
        refund("refund.failed", "failed"),
        dispute("payment.dispute.closed", ""),
    ];
    never_panics(
        &source(&[SECRET]),
        &[SIGNATURE_HEADER, EVENT_ID_HEADER],
        &bodies.each_ref().map(String::as_str),
    );
}

#[test]
fn the_event_id_is_the_headers() {
    let provider = build(&settings(&[SECRET], &[])).unwrap();
    let id = |value: &[u8]| ids(&*provider, "{}", &[(EVENT_ID_HEADER, value)]);
    assert_eq!(id(b"L1e8evt"), Ok(vec!["L1e8evt".to_owned()]));
    assert_eq!(id(b"\xff"), Err(vec![(String::new(), "missing")]));
    assert_eq!(id(b""), Err(vec![(String::new(), "invalid")]));
    assert_eq!(id("x".repeat(300).as_bytes()), Err(vec![(String::new(), "invalid")]));
}

#[test]
fn an_authentic_request_without_an_event_id_is_malformed() {
    let razorpay = source(&[SECRET]);
    let signed =
        headers(&[razorpay.signature.sign(b"{}")].each_ref().map(|(k, v)| (k.as_str(), v.as_bytes())));
    let request = WebhookRequest { body: b"{}", headers: &signed, query: "" };
    assert_eq!(razorpay.verify(&request, crate::providers::harness::NOW), Ok(Some(0)));
    assert_eq!(razorpay.identify(&request).unwrap_err()[0].code, "missing");
}

#[test]
fn what_is_signed_here_verifies_here_and_one_body_is_one_event() {
    let provider = build(&settings(&[SECRET], &[])).unwrap();
    let first = ids(&*provider, "{}", &[]).unwrap();
    assert_eq!(ids(&*provider, "{}", &[]).unwrap(), first);
    assert_ne!(ids(&*provider, "{} ", &[]).unwrap(), first);
}

#[test]
fn a_payment_is_authorised_captured_or_failed() {
    tells(&payment("payment.authorized", ""), "pay_P1", &["authorised 49900 INR"]);
    tells(&payment("payment.captured", r#","fee":null"#), "pay_P1", &["captured:single 49900 INR"]);
    tells(&payment("payment.failed", ""), "pay_P1", &["failed:pay_P1"]);
}

#[test]
fn the_two_kinds_of_one_capture_tell_the_same_facts() {
    let order = r#""payment":{"entity":{"id":"pay_P1","amount":49900,"currency":"INR","fee":1177}},"order":{"entity":{"id":"order_O1","amount":49900,"amount_paid":49900}}"#;
    let facts = ["captured:single 49900 INR", "charged:single 1177 INR"];
    tells(&payment("payment.captured", r#","fee":1177"#), "pay_P1", &facts);
    tells(&event("order.paid", order), "pay_P1", &facts);
}

#[test]
fn a_fee_of_another_currency_or_of_nothing_is_left_out() {
    for further in [
        r#","fee":0"#,
        r#","fee":1177,"base_amount":415000"#,
        r#","fee":1177,"base_amount":49900,"base_currency":"USD""#,
    ] {
        tells(&payment("payment.captured", further), "pay_P1", &["captured:single 49900 INR"]);
    }
}

#[test]
fn a_refund_is_one_whether_it_is_created_or_processed() {
    for (name, status) in
        [("refund.created", "pending"), ("refund.created", "processed"), ("refund.processed", "processed")]
    {
        tells(&refund(name, status), "pay_P1", &["refunded:rfnd_R1 10000 INR"]);
    }
}

#[test]
fn a_failed_refund_was_a_refund() {
    let facts = ["refunded:rfnd_R1 10000 INR", "refund_failed:rfnd_R1 10000 INR"];
    tells(&refund("refund.failed", "failed"), "pay_P1", &facts);
}

#[test]
fn a_dispute_is_opened_won_lost_or_closed() {
    for (name, further, fact) in [
        ("payment.dispute.created", "", "dispute_opened:disp_D1 39000 INR"),
        ("payment.dispute.won", "", "dispute_won:disp_D1 39000 INR"),
        ("payment.dispute.lost", "", "dispute_lost:disp_D1 39000 INR"),
        (
            "payment.dispute.closed",
            r#","status":"closed","amount_deducted":0"#,
            "dispute_won:disp_D1 39000 INR",
        ),
        ("payment.dispute.closed", r#","status":"lost""#, "dispute_lost:disp_D1 39000 INR"),
        (
            "payment.dispute.closed",
            r#","status":"closed","amount_deducted":39000"#,
            "dispute_lost:disp_D1 39000 INR",
        ),
    ] {
        tells(&dispute(name, further), "pay_P1", &[fact]);
    }
}

#[test]
fn a_settlement_is_a_payout_in_rupees_unless_it_says_otherwise() {
    let settlement = |further: &str| {
        let entity =
            format!(r#""settlement":{{"entity":{{"id":"setl_S1","amount":973,"fees":27{further}}}}}"#);
        event("settlement.processed", &entity)
    };
    tells(&settlement(""), "setl_S1", &["payout_paid 973 INR"]);
    tells(&settlement(r#","currency":"MYR""#), "setl_S1", &["payout_paid 973 MYR"]);
}

#[test]
fn the_account_and_the_time_are_the_events() {
    let razorpay = source(&[SECRET]);
    let body = payment("payment.captured", "");
    assert_eq!(changed(&razorpay, &body).merchant.unwrap().as_str(), "acc_A1");
    let translation = translated(&razorpay, &body);
    assert_eq!(translation.occurred_at.unwrap().as_secs(), 1_700_000_000);
    assert_eq!((translation.kind.as_str(), translation.live), ("payment.captured", None));
    // The account is missing in samples, and a time may be of any kind.
    assert_eq!(changed(&razorpay, &body.replace("account_id", "other")).merchant, None);
    assert_eq!(translated(&razorpay, &body.replace("1700000000", "\"soon\"")).occurred_at, None);
}

#[test]
fn other_kinds_change_nothing() {
    use domain::{Effect, NoEffect};

    for name in ["invoice.paid", "payment.dispute.under_review", "refund.speed_changed", "payout.processed"] {
        let translation = translated(&source(&[SECRET]), &event(name, ""));
        assert_eq!((translation.kind.as_str(), translation.effect), (name, Effect::Nothing(NoEffect::Kind)));
    }
    assert_eq!(translated(&source(&[SECRET]), "{}").kind.as_str(), "unknown");
}

#[test]
fn what_cannot_be_read_is_told_with_its_place() {
    let razorpay = source(&[SECRET]);
    for (body, place) in [
        (event("payment.captured", ""), "/payload/payment is not an object"),
        (payment("payment.captured", r#","amount":499.5"#), "/payload/payment/entity/amount is not a whole"),
        (payment("payment.captured", r#","currency":"XTS9""#), "/payload/payment/entity/currency "),
        (refund("refund.processed", "").replace("payment_id", "other"), "/payload/refund/entity/payment_id "),
    ] {
        let text = untranslatable(&razorpay, &body);
        assert!(text.starts_with(place), "{text}");
        assert!(!text.contains("XTS9") && !text.contains("499"), "{text}");
    }
}

#[test]
fn a_source_without_a_usable_secret_is_refused() {
    for secrets in [&[][..], &[""], &["good", " "]] {
        assert!(build(&settings(secrets, &[])).is_err(), "{secrets:?}");
    }
    assert!(build(&settings(&[SECRET], &[("other", true.into())])).is_err());
    assert_eq!(source(&[SECRET]).default_trust(), Trust::Signature);
}
