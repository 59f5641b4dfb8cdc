use domain::{Effect, NoEffect};

use super::*;
use crate::providers::harness::{
    headers, ids, never_panics, refuses_every_flip, settings, told, translated, untranslatable, verdict,
};

const SECRET: &str = "flw-secret-hash";

const CHARGE_V3: &str = r#"{"event":"charge.completed","data":{"id":285900,"tx_ref":"order-17","flw_ref":"FLW-1","amount":100,"currency":"NGN","charged_amount":100,"app_fee":1.4,"merchant_fee":0,"status":"successful","created_at":"2023-11-14T22:13:20.000Z","customer":{"id":2156}}}"#;
const CHARGE_V4: &str = r#"{"id":"wbk_1","timestamp":1700000000200,"type":"charge.completed","data":{"id":"chg_1","amount":2500.5,"currency":"NGN","status":"succeeded","reference":"order17","created_datetime":"2023-11-14T22:13:20.001Z"}}"#;
const TRANSFER_V3: &str = r#"{"event":"transfer.completed","event.type":"Transfer","data":{"id":33286,"currency":"NGN","amount":30020.25,"fee":26.875,"status":"SUCCESSFUL","reference":"pay-1"}}"#;
const REFUND_V4: &str = r#"{"id":"wbk_2","type":"refund.completed","data":{"id":"rfd_1","charge_id":"chg_1","amount_refunded":500.25,"currency":"NGN","status":"succeeded"}}"#;

fn source(scheme: &str, secrets: &[&str]) -> Flutterwave {
    pack(&settings(secrets, &[("scheme", scheme.into())])).unwrap()
}

fn tells(body: &str, payment: &str, facts: &[&str]) {
    let (id, found) = told(&source("v4", &[SECRET]), body);
    assert_eq!(
        (id.as_str(), found),
        (payment, facts.iter().map(|fact| (*fact).to_owned()).collect()),
        "{body}"
    );
}

#[test]
fn version_3_shows_the_secret_hash_itself() {
    let show = |secrets: &[&str], value: &[u8]| {
        verdict(&source("v3", secrets), &headers(&[(TOKEN_HEADER, value)]), CHARGE_V3.as_bytes())
    };
    assert_eq!(show(&[SECRET], SECRET.as_bytes()), Ok(Some(0)));
    assert_eq!(show(&["new", SECRET], SECRET.as_bytes()), Ok(Some(1)));
    for wrong in [&b"flw-secret-hasH"[..], b"", b"flw-secret-has", b"flw-secret-hash ", b"\xff"] {
        assert_eq!(show(&[SECRET], wrong), Err("wrong_signature"));
    }
    assert_eq!(verdict(&source("v3", &[SECRET]), &[], b"{}"), Err("missing_signature"));
}

#[test]
fn version_4_signs_the_body() {
    const BODY: &[u8] = br#"{"id":"wbk_1","timestamp":1739456704200,"type":"charge.completed","data":{"id":"chg_1","amount":2500.5,"currency":"NGN","status":"succeeded","reference":"ref_1"}}"#;
    const SIGNATURE: &[u8] = b"5awNko3PDlLCo1ZymtFI7liXXeSBTHJPu0oboK/4b/o=";
    let flutterwave = source("v4", &["new", SECRET]);
    let signed = headers(&[(SIGNATURE_HEADER, SIGNATURE)]);
    assert_eq!(verdict(&flutterwave, &signed, BODY), Ok(Some(1)));
    assert_eq!(verdict(&flutterwave, &signed, &[BODY, b" "].concat()), Err("wrong_signature"));
    for odd in [&b""[..], b"=", b"flw-secret-hash", b"\xff\xff"] {
        let odd = headers(&[(SIGNATURE_HEADER, odd)]);
        assert_eq!(verdict(&flutterwave, &odd, BODY), Err("malformed_signature"));
    }
}

#[test]
fn neither_version_accepts_what_the_other_sends() {
    let token = headers(&[(TOKEN_HEADER, SECRET.as_bytes())]);
    assert_eq!(verdict(&source("v4", &[SECRET]), &token, b"{}"), Err("missing_signature"));
    let signed = source("v4", &[SECRET]).sign(b"{}", crate::providers::harness::NOW).unwrap();
    let signed = headers(&[(SIGNATURE_HEADER, signed.headers[0].1.as_bytes())]);
    assert_eq!(verdict(&source("v3", &[SECRET]), &signed, b"{}"), Err("missing_signature"));
}

#[test]
fn whatever_is_changed_is_refused_in_version_4() {
    refuses_every_flip(&source("v4", &[SECRET]), CHARGE_V4, false);
}

#[test]
fn nothing_that_may_come_panics() {
    for scheme in ["v3", "v4"] {
        let bodies = [CHARGE_V3, CHARGE_V4, TRANSFER_V3, REFUND_V4];
        never_panics(&source(scheme, &[SECRET]), &[TOKEN_HEADER, SIGNATURE_HEADER], &bodies);
    }
}

#[test]
fn the_event_id_is_the_envelopes_or_made_of_the_data() {
    let provider = build(&settings(&[SECRET], &[("scheme", "v3".into())])).unwrap();
    for (body, id) in [
        (CHARGE_V3, "charge.completed|285900|successful"),
        (CHARGE_V4, "wbk_1"),
        (TRANSFER_V3, "transfer.completed|33286|SUCCESSFUL"),
        (
            r#"{"event.type":"CARD_TRANSACTION","id":7,"status":"successful"}"#,
            "CARD_TRANSACTION|7|successful",
        ),
        (r#"{"type":"charge.completed","data":{"id":"chg_1"}}"#, "charge.completed|chg_1|"),
    ] {
        assert_eq!(ids(&*provider, body, &[]), Ok(vec![id.to_owned()]), "{body}");
    }
    for (body, pointer, code) in [
        ("7", "", "wrong_type"),
        (r#"{"data":{"id":1}}"#, "/event", "missing"),
        (r#"{"event":"charge.completed","data":{}}"#, "/data/id", "missing"),
        (r#"{"event":"charge.completed"}"#, "/id", "missing"),
    ] {
        assert_eq!(ids(&*provider, body, &[]), Err(vec![(pointer.to_owned(), code)]), "{body}");
    }
}

#[test]
fn a_charge_is_captured_in_either_version() {
    tells(CHARGE_V3, "285900", &["captured:single 10000 NGN", "charged:single 140 NGN"]);
    tells(CHARGE_V4, "chg_1", &["captured:single 250050 NGN"]);
}

#[test]
fn a_completed_charge_may_have_failed_or_be_pending() {
    tells(&CHARGE_V3.replace("successful", "failed"), "285900", &["failed:285900"]);
    tells(&CHARGE_V3.replace("successful", "pending"), "285900", &["progress:processing:0"]);
    tells(&CHARGE_V4.replace("succeeded", "failed"), "chg_1", &["failed:chg_1"]);
}

#[test]
fn the_merchant_is_charged_only_a_fee_that_the_payer_does_not_bear() {
    let borne = CHARGE_V3.replace(r#""charged_amount":100"#, r#""charged_amount":101.4"#);
    tells(&borne, "285900", &["captured:single 10000 NGN"]);
    let unsaid = CHARGE_V3.replace(r#""charged_amount":100,"#, "");
    tells(&unsaid, "285900", &["captured:single 10000 NGN", "charged:single 140 NGN"]);
}

#[test]
fn amounts_are_exact() {
    for (amount, minor_units) in
        [("19.99", 1_999_i64), ("90071992547409.93", 9_007_199_254_740_993), ("1.10", 110)]
    {
        let body = CHARGE_V4.replace("2500.5", amount);
        tells(&body, "chg_1", &[&format!("captured:single {minor_units} NGN")]);
    }
    for amount in ["19.999", "1e3", "[1]"] {
        let text = untranslatable(&source("v4", &[SECRET]), &CHARGE_V4.replace("2500.5", amount));
        assert!(text.starts_with("/data/amount "), "{text}");
    }
}

#[test]
fn a_refund_names_the_charge_that_it_is_of() {
    tells(REFUND_V4, "chg_1", &["refunded:rfd_1 50025 NGN"]);
    let facts = ["refunded:rfd_1 50025 NGN", "refund_failed:rfd_1 50025 NGN"];
    tells(&REFUND_V4.replace("refund.completed", "refund.failed"), "chg_1", &facts);
    tells(&REFUND_V4.replace(r#""succeeded""#, r#""failed""#), "chg_1", &facts);
    tells(
        &REFUND_V4.replace(r#""charge_id":"chg_1""#, r#""tx_id":908790"#),
        "908790",
        &["refunded:rfd_1 50025 NGN"],
    );
}

#[test]
fn a_transfer_is_a_payout_whose_id_no_charge_has() {
    tells(TRANSFER_V3, "transfer|33286", &["payout_paid 3002025 NGN"]);
    tells(&TRANSFER_V3.replace("SUCCESSFUL", "FAILED"), "transfer|33286", &["payout_failed 3002025 NGN"]);
    tells(&TRANSFER_V3.replace("SUCCESSFUL", "NEW"), "transfer|33286", &["payout_started 3002025 NGN"]);
    tells(
        &TRANSFER_V3.replace("transfer.completed", "transfer.reversal"),
        "transfer|33286",
        &["payout_failed 3002025 NGN"],
    );
}

#[test]
fn the_kind_and_the_time_are_read_in_either_version() {
    for body in [CHARGE_V3, CHARGE_V4] {
        let translation = translated(&source("v4", &[SECRET]), body);
        assert_eq!((translation.kind.as_str(), translation.live), ("charge.completed", None));
        assert_eq!(translation.occurred_at.unwrap().as_secs(), 1_700_000_000);
    }
}

#[test]
fn other_kinds_change_nothing() {
    for body in [
        r#"{"event":"subscription.cancelled","data":{"status":"deactivated"}}"#,
        r#"{"event.type":"CARD_TRANSACTION","id":7,"amount":1,"status":"successful"}"#,
        "{}",
    ] {
        let translation = translated(&source("v3", &[SECRET]), body);
        assert_eq!(translation.effect, Effect::Nothing(NoEffect::Kind), "{body}");
    }
}

#[test]
fn an_unknown_status_is_not_taken_for_either() {
    let text = untranslatable(&source("v4", &[SECRET]), &CHARGE_V4.replace("succeeded", "s0mehow"));
    assert_eq!(text, "/data/status is not a status that is known");
}

#[test]
fn only_the_scheme_that_binds_the_body_is_believed() {
    assert_eq!(source("v3", &[SECRET]).default_trust(), Trust::Confirm);
    assert_eq!(source("v4", &[SECRET]).default_trust(), Trust::Signature);
}

#[test]
fn a_source_without_a_usable_secret_or_scheme_is_refused() {
    for scheme in ["v3", "v4"] {
        for secrets in [&[][..], &[""], &["good", " "]] {
            assert!(build(&settings(secrets, &[("scheme", scheme.into())])).is_err(), "{secrets:?}");
        }
    }
    for options in [&[][..], &[("scheme", "either".into())], &[("scheme", "v4".into()), ("other", 1.into())]]
    {
        assert!(build(&settings(&[SECRET], options)).is_err(), "{options:?}");
    }
}
