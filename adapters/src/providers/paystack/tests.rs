use domain::{Effect, NoEffect};

use super::*;
use crate::providers::harness::{
    headers, ids, never_panics, refuses_every_flip, settings, told, translated, untranslatable, verdict,
};

const SECRET: &str = "sk_test_secret";

const CHARGE: &str = r#"{"event":"charge.success","data":{"id":302900,"domain":"live","status":"success","reference":"order-17","amount":10000,"paid_at":"2023-11-14T22:13:20.000Z","created_at":"2023-11-14T22:10:00.000Z","currency":"NGN","metadata":0,"fees":150,"plan":{}}}"#;
const REFUND: &str = r#"{"event":"refund.processed","data":{"status":"processed","transaction_reference":"order-17","refund_reference":"RF-1","amount":"4000","currency":"NGN","domain":"live"}}"#;
const DISPUTE: &str = r#"{"event":"charge.dispute.create","data":{"id":358950,"refund_amount":5800,"currency":"NGN","status":"awaiting-merchant-feedback","resolution":null,"domain":"live","transaction":{"id":302900,"reference":"order-17","amount":10000,"currency":"NGN"}}}"#;
const TRANSFER: &str = r#"{"event":"transfer.success","data":{"id":69123462,"amount":30000,"currency":"NGN","domain":"live","reference":"order-17","status":"success","transfer_code":"TRF_1","updated_at":"2023-11-14T22:13:20.000Z"}}"#;

fn source(secrets: &[&str]) -> Paystack {
    pack(&settings(secrets, &[])).unwrap()
}

fn tells(body: &str, payment: &str, facts: &[&str]) {
    let (id, found) = told(&source(&[SECRET]), body);
    assert_eq!(
        (id.as_str(), found),
        (payment, facts.iter().map(|fact| (*fact).to_owned()).collect()),
        "{body}"
    );
}

fn changes_nothing(body: &str) {
    assert_eq!(translated(&source(&[SECRET]), body).effect, Effect::Nothing(NoEffect::Kind), "{body}");
}

#[test]
fn a_known_answer_holds_and_the_same_json_with_other_spaces_does_not() {
    const SIGNATURE: &str = "5e23de829314cc1b51bfdd1d011b43a3d90b469680f51dfbb41f7753c09b4eaa0a6b18d6e0b856d4ab00c7f30f479d7dae155fa315f055f6ef80604b78bb6e85";
    const BODY: &str = r#"{"event":"charge.success","data":{"id":302961,"domain":"live","status":"success","reference":"qTPrJoy9Bx","amount":10000,"currency":"NGN"}}"#;
    let paystack = source(&["sk_test_constructed"]);
    let signed = headers(&[(SIGNATURE_HEADER, SIGNATURE.as_bytes())]);
    assert_eq!(verdict(&paystack, &signed, BODY.as_bytes()), Ok(Some(0)));
    let spaced = BODY.replace(",\"", ", \"");
    assert_eq!(verdict(&paystack, &signed, spaced.as_bytes()), Err("wrong_signature"));
    assert_eq!(verdict(&paystack, &[], BODY.as_bytes()), Err("missing_signature"));
}

#[test]
fn a_signature_of_another_length_is_wrong() {
    for length in [2, 64, 126, 130] {
        let value = "a".repeat(length);
        let signed = headers(&[(SIGNATURE_HEADER, value.as_bytes())]);
        assert_eq!(verdict(&source(&[SECRET]), &signed, b"{}"), Err("wrong_signature"));
    }
}

#[test]
fn either_secret_counts_while_both_are_set() {
    let (_, signature) = source(&["old"]).signature.sign(b"{}");
    let signed = headers(&[(SIGNATURE_HEADER, signature.as_bytes())]);
    assert_eq!(verdict(&source(&["new", "old"]), &signed, b"{}"), Ok(Some(1)));
}

#[test]
fn whatever_is_changed_is_refused() {
    refuses_every_flip(&source(&[SECRET]), CHARGE, true);
}

#[test]
fn nothing_that_may_come_panics() {
    never_panics(&source(&[SECRET]), &[SIGNATURE_HEADER], &[CHARGE, REFUND, DISPUTE, TRANSFER]);
}

#[test]
fn the_event_id_is_the_kind_and_what_identifies_the_data() {
    let provider = build(&settings(&[SECRET], &[])).unwrap();
    for (body, id) in [
        (CHARGE, "charge.success|302900"),
        (DISPUTE, "charge.dispute.create|358950"),
        (TRANSFER, "transfer.success|69123462"),
        (REFUND, "refund.processed|order-17|RF-1"),
        (r#"{"event":"charge.success","data":{"reference":"a|b"}}"#, r"charge.success|a\|b"),
        (
            r#"{"event":"refund.pending","data":{"transaction_reference":"order-17","refund_reference":null,"amount":"4000"}}"#,
            "refund.pending|order-17|4000",
        ),
        (
            r#"{"event":"subscription.create","data":{"subscription_code":"SUB_1"}}"#,
            "subscription.create|SUB_1",
        ),
        (
            r#"{"event":"dedicatedaccount.assign.success","data":{"customer":{"customer_code":"CUS_1"}}}"#,
            "dedicatedaccount.assign.success|CUS_1",
        ),
        (
            r#"{"event":"subscription.expiring_cards","data":[{"customer":{"customer_code":"CUS_1"}}]}"#,
            "subscription.expiring_cards|CUS_1",
        ),
    ] {
        assert_eq!(ids(&*provider, body, &[]), Ok(vec![id.to_owned()]), "{body}");
    }
}

#[test]
fn an_authentic_body_without_anything_to_tell_it_by_is_malformed() {
    let provider = build(&settings(&[SECRET], &[])).unwrap();
    for (body, pointer, code) in [
        ("[]", "", "wrong_type"),
        ("{", "", "not_json"),
        (r#"{"data":{"id":1}}"#, "/event", "missing"),
        (r#"{"event":"charge.success"}"#, "/data", "missing"),
        (r#"{"event":"charge.success","data":[]}"#, "/data", "missing"),
        (r#"{"event":"charge.success","data":{"id":null}}"#, "/data/id", "missing"),
        (r#"{"event":"charge.success","data":{"id":"a\u0000"}}"#, "", "invalid"),
    ] {
        assert_eq!(ids(&*provider, body, &[]), Err(vec![(pointer.to_owned(), code)]), "{body}");
    }
}

#[test]
fn a_charge_is_captured_and_its_fees_are_charged() {
    tells(CHARGE, "order-17", &["captured:single 10000 NGN", "charged:single 150 NGN"]);
    for fees in ["null", "0"] {
        tells(
            &CHARGE.replace(r#""fees":150"#, &format!(r#""fees":{fees}"#)),
            "order-17",
            &["captured:single 10000 NGN"],
        );
    }
    tells(&CHARGE.replace("charge.success", "charge.failed"), "order-17", &["failed:order-17"]);
}

#[test]
fn members_that_are_not_used_may_be_of_any_type() {
    for odd in [r#""""#, r#""text""#, "{}", "null", r#""\ud800\u0000""#] {
        let body = CHARGE.replace(r#""metadata":0"#, &format!(r#""metadata":{odd}"#));
        tells(&body, "order-17", &["captured:single 10000 NGN", "charged:single 150 NGN"]);
    }
}

#[test]
fn a_refund_counts_once_it_has_a_reference() {
    tells(REFUND, "order-17", &["refunded:RF-1 4000 NGN"]);
    tells(&REFUND.replace("refund.processed", "refund.pending"), "order-17", &["refunded:RF-1 4000 NGN"]);
    let facts = ["refunded:RF-1 4000 NGN", "refund_failed:RF-1 4000 NGN"];
    tells(&REFUND.replace("refund.processed", "refund.failed"), "order-17", &facts);
    let unnamed = REFUND.replace(r#""RF-1""#, "null");
    for name in ["refund.pending", "refund.processing", "refund.failed"] {
        changes_nothing(&unnamed.replace("refund.processed", name));
    }
    let text = untranslatable(&source(&[SECRET]), &unnamed);
    assert!(text.starts_with("/data/refund_reference "), "{text}");
}

#[test]
fn a_dispute_is_opened_and_then_won_or_lost() {
    let resolved = |resolution: &str| {
        let resolution = format!(r#""resolution":"{resolution}""#);
        DISPUTE
            .replace("charge.dispute.create", "charge.dispute.resolve")
            .replace(r#""resolution":null"#, &resolution)
    };
    tells(DISPUTE, "order-17", &["dispute_opened:358950 5800 NGN"]);
    tells(&resolved("declined"), "order-17", &["dispute_won:358950 5800 NGN"]);
    tells(&resolved("merchant-accepted"), "order-17", &["dispute_lost:358950 5800 NGN"]);
    tells(&resolved("auto-accepted"), "order-17", &["dispute_lost:358950 5800 NGN"]);
    let text = untranslatable(&source(&[SECRET]), &resolved("maybe"));
    assert!(text.starts_with("/data/resolution ") && !text.contains("maybe"), "{text}");
}

#[test]
fn a_dispute_without_an_amount_is_of_the_whole_transaction() {
    let whole = DISPUTE
        .replace(r#""refund_amount":5800,"currency":"NGN""#, r#""refund_amount":null,"currency":null"#);
    tells(&whole, "order-17", &["dispute_opened:358950 10000 NGN"]);
}

#[test]
fn a_transfer_is_a_payout_of_its_own_code() {
    tells(TRANSFER, "TRF_1", &["payout_paid 30000 NGN"]);
    tells(&TRANSFER.replace("transfer.success", "transfer.failed"), "TRF_1", &["payout_failed 30000 NGN"]);
    tells(&TRANSFER.replace("transfer.success", "transfer.reversed"), "TRF_1", &["payout_failed 30000 NGN"]);
}

#[test]
fn the_mode_and_the_time_are_the_datas() {
    let paystack = source(&[SECRET]);
    let charge = translated(&paystack, CHARGE);
    assert_eq!((charge.kind.as_str(), charge.live), ("charge.success", Some(true)));
    assert_eq!(charge.occurred_at.unwrap().as_secs(), 1_700_000_000);
    assert_eq!(translated(&paystack, &CHARGE.replace(r#""live""#, r#""test""#)).live, Some(false));
    assert_eq!(translated(&paystack, &CHARGE.replace(r#""live""#, "7")).live, None);
}

#[test]
fn other_kinds_change_nothing() {
    for name in ["invoice.create", "charge.dispute.remind", "customeridentification.success", ""] {
        changes_nothing(&format!(r#"{{"event":"{name}","data":[]}}"#));
    }
}

#[test]
fn what_cannot_be_read_is_told_with_its_place() {
    for (body, place) in [
        (r#"{"event":"charge.success"}"#.to_owned(), "/data is not an object"),
        (CHARGE.replace("10000", "100.5"), "/data/amount is not a whole number"),
        (CHARGE.replace(r#""NGN""#, "null"), "/data/currency "),
        (CHARGE.replace(r#""status":"success""#, r#""status":"failed""#), "/data/status contradicts"),
        (DISPUTE.replace(r#""reference":"order-17","#, ""), "/data/transaction/reference "),
    ] {
        let text = untranslatable(&source(&[SECRET]), &body);
        assert!(text.starts_with(place), "{text}");
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
