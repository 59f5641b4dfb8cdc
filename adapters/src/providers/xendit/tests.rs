use domain::{Effect, NoEffect};

use super::*;
use crate::providers::harness::{
    changed, headers, ids, never_panics, settings, told, translated, untranslatable, verdict,
};

const TOKEN: &str = "xnd-token";

const CAPTURE: &str = r#"{"event":"payment.capture","business_id":"biz_1","created":"2023-11-14T22:13:20.000Z","data":{"payment_id":"py-1","business_id":"biz_1","status":"SUCCEEDED","payment_request_id":"pr-1","request_amount":10000,"country":"ID","currency":"IDR","reference_id":"order-17","type":"PAY"}}"#;
const REFUND: &str = r#"{"event":"refund.succeeded","business_id":"biz_1","created":"2023-11-14T22:13:20.000Z","data":{"id":"rfd-1","payment_id":"py-1","invoice_id":null,"amount":2500.5,"currency":"PHP","status":"SUCCEEDED","failure_code":null}}"#;
const INVOICE: &str = r#"{"id":"inv_1","external_id":"order-17","user_id":"biz_1","is_high":true,"payment_method":"BANK_TRANSFER","status":"PAID","merchant_name":"Toko","amount":50000,"paid_amount":50500,"paid_at":"2023-11-14T22:13:20.000Z","fees_paid_amount":0,"adjusted_received_amount":47500,"currency":"IDR"}"#;

fn source() -> Xendit {
    pack(&settings(&[TOKEN], &[])).unwrap()
}

fn tells(body: &str, payment: &str, facts: &[&str]) {
    let (id, found) = told(&source(), body);
    assert_eq!(
        (id.as_str(), found),
        (payment, facts.iter().map(|fact| (*fact).to_owned()).collect()),
        "{body}"
    );
}

#[test]
fn only_the_token_is_let_in() {
    let show = |tokens: &[&str], value: &[u8]| {
        verdict(
            &pack(&settings(tokens, &[])).unwrap(),
            &headers(&[(TOKEN_HEADER, value)]),
            CAPTURE.as_bytes(),
        )
    };
    assert_eq!(show(&[TOKEN], TOKEN.as_bytes()), Ok(Some(0)));
    assert_eq!(show(&["live", TOKEN], TOKEN.as_bytes()), Ok(Some(1)));
    for wrong in [&b""[..], b"xnd-toke", b"xnd-token ", b"XND-TOKEN", b"\xff", &[b'x'; 10_000]] {
        assert_eq!(show(&[TOKEN], wrong), Err("wrong_signature"));
    }
    assert_eq!(verdict(&source(), &[], CAPTURE.as_bytes()), Err("missing_signature"));
}

#[test]
fn a_token_says_nothing_about_the_body_so_nothing_is_credited_on_its_word() {
    use application::testing::envelope;

    let provider = build(&settings(&[TOKEN], &[])).unwrap();
    let event = provider.translate(&envelope("evt_1", CAPTURE)).unwrap();
    assert_eq!(event.effect, Effect::Nothing(NoEffect::Unconfirmed));
}

#[test]
fn nothing_that_may_come_panics() {
    never_panics(&source(), &[TOKEN_HEADER], &[CAPTURE, REFUND, INVOICE]);
}

#[test]
fn the_event_id_is_made_of_kind_object_and_status() {
    let provider = build(&settings(&[TOKEN], &[])).unwrap();
    let parts =
        CAPTURE.replace(r#""type":"PAY""#, r#""captures":[{"capture_id":"cp-1"},{"capture_id":"cp-2"}]"#);
    let wrapped_twice =
        r#"{"event":"refund.succeeded","data":{"event":"refund.succeeded","data":{"id":"rfd-1"}}}"#;
    for (body, id) in [
        (CAPTURE, "payment.capture|py-1|SUCCEEDED"),
        (parts.as_str(), "payment.capture|py-1|SUCCEEDED|cp-2"),
        (REFUND, "refund.succeeded|rfd-1|SUCCEEDED"),
        (wrapped_twice, "refund.succeeded|rfd-1|"),
        (INVOICE, "invoice|inv_1|PAID"),
        (
            r#"{"payment_id":"1502450097080","callback_virtual_account_id":"va_1","amount":5}"#,
            "object|1502450097080|",
        ),
        (r#"{"event":"ewallet.payment","id":"ew_1","status":"COMPLETED"}"#, "ewallet.payment|ew_1|COMPLETED"),
    ] {
        assert_eq!(ids(&*provider, body, &[]), Ok(vec![id.to_owned()]), "{body}");
    }
    for (body, pointer, code) in [
        ("[]", "", "wrong_type"),
        ("{}", "/id", "missing"),
        (r#"{"event":"payment.capture","data":{}}"#, "/data/id", "missing"),
    ] {
        assert_eq!(ids(&*provider, body, &[]), Err(vec![(pointer.to_owned(), code)]), "{body}");
    }
}

#[test]
fn a_payment_is_authorised_captured_failed_or_expires() {
    let named = |name: &str| CAPTURE.replace("payment.capture", name);
    tells(CAPTURE, "py-1", &["captured:single 1000000 IDR"]);
    tells(&named("payment.authorization"), "py-1", &["authorised 1000000 IDR"]);
    tells(&named("payment.failure"), "py-1", &["failed:py-1"]);
    tells(&named("payment.expiry"), "py-1", &["canceled"]);
}

#[test]
fn the_version_before_names_payment_and_amount_otherwise() {
    let body = r#"{"event":"payment.succeeded","business_id":"biz_1","data":{"id":"ddpy-1","amount":1000.25,"currency":"PHP","status":"SUCCEEDED","payment_request_id":"pr-1"}}"#;
    tells(body, "ddpy-1", &["captured:single 100025 PHP"]);
    tells(&body.replace("payment.succeeded", "payment.failed"), "ddpy-1", &["failed:ddpy-1"]);
}

#[test]
fn captures_that_are_listed_count_one_by_one() {
    let captures = r#""captures":[{"capture_id":"cp-1","capture_amount":4000},{"capture_id":"cp-2","capture_amount":6000}]"#;
    let body = CAPTURE.replace(r#""type":"PAY""#, captures);
    tells(&body, "py-1", &["captured:cp-1 400000 IDR", "captured:cp-2 600000 IDR"]);
    for odd in ["{}", "7", r#"{"capture_id":"cp-1","capture_amount":"x"}"#] {
        let text =
            untranslatable(&source(), &CAPTURE.replace(r#""type":"PAY""#, &format!(r#""captures":[{odd}]"#)));
        assert!(text.starts_with("/data/captures "), "{text}");
    }
}

#[test]
fn a_refund_is_told_once_it_succeeded_or_failed() {
    tells(REFUND, "py-1", &["refunded:rfd-1 250050 PHP"]);
    let facts = ["refunded:rfd-1 250050 PHP", "refund_failed:rfd-1 250050 PHP"];
    tells(&REFUND.replace("refund.succeeded", "refund.failed"), "py-1", &facts);
    let of_invoice = REFUND
        .replace(r#""payment_id":"py-1","invoice_id":null"#, r#""payment_id":null,"invoice_id":"inv_1""#);
    tells(&of_invoice, "inv_1", &["refunded:rfd-1 250050 PHP"]);
}

#[test]
fn an_invoice_is_paid_with_what_was_paid() {
    tells(INVOICE, "inv_1", &["captured:single 5050000 IDR"]);
    tells(&INVOICE.replace("PAID\"", "SETTLED\""), "inv_1", &["captured:single 5050000 IDR"]);
    tells(&INVOICE.replace("PAID\"", "EXPIRED\""), "inv_1", &["canceled"]);
    let old = INVOICE.replace(r#""paid_amount":50500,"#, "").replace(r#","currency":"IDR""#, "");
    tells(&old, "inv_1", &["captured:single 5000000 IDR"]);
    assert_eq!(
        translated(&source(), &INVOICE.replace("PAID\"", "PENDING\"")).effect,
        Effect::Nothing(NoEffect::Kind)
    );
}

#[test]
fn the_business_kind_and_time_are_told_alike() {
    for (body, kind) in [(CAPTURE, "payment.capture"), (INVOICE, "invoice.paid")] {
        let translation = translated(&source(), body);
        assert_eq!((translation.kind.as_str(), translation.live), (kind, None));
        assert_eq!(translation.occurred_at.unwrap().as_secs(), 1_700_000_000);
        assert_eq!(changed(&source(), body).merchant.unwrap().as_str(), "biz_1");
    }
}

#[test]
fn other_kinds_and_other_flat_bodies_change_nothing() {
    for body in [
        r#"{"event":"payment_token.activation","data":{"payment_token_id":"pt-1"}}"#,
        r#"{"id":"va_1","external_id":"x","status":"ACTIVE","account_number":"1"}"#,
        r#"{"id":"disb_1","external_id":"x","status":"COMPLETED","amount":5}"#,
        "{}",
    ] {
        assert_eq!(translated(&source(), body).effect, Effect::Nothing(NoEffect::Kind), "{body}");
    }
}

#[test]
fn what_cannot_be_read_is_told_with_its_place() {
    for (body, place) in [
        (CAPTURE.replace("10000", "100.001"), "/data/request_amount has more decimals"),
        (CAPTURE.replace(r#""IDR""#, "null"), "/data/currency "),
        (CAPTURE.replace(r#""biz_1","created""#, r#"{},"created""#), "/business_id "),
        (REFUND.replace(r#""id":"rfd-1","#, ""), "/data/id "),
        (INVOICE.replace("50500", "\"x\""), "/paid_amount "),
    ] {
        let text = untranslatable(&source(), &body);
        assert!(text.starts_with(place), "{text}");
    }
}

#[test]
fn a_source_without_a_usable_token_is_refused() {
    for tokens in [&[][..], &[""], &["good", " "]] {
        assert!(build(&settings(tokens, &[])).is_err(), "{tokens:?}");
    }
    assert!(build(&settings(&[TOKEN], &[("other", true.into())])).is_err());
    assert_eq!(source().default_trust(), Trust::Confirm);
}
