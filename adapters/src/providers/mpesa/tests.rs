use domain::{Effect, NoEffect};

use super::*;
use crate::providers::harness::{
    NOW, ids, never_panics, settings, told, translated, untranslatable, verdict_at,
};
use crate::providers::settings::SourceSettings;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

const PAID: &str = r#"{"Body":{"stkCallback":{"MerchantRequestID":"29115-1","CheckoutRequestID":"ws_CO_1","ResultCode":0,"ResultDesc":"Processed.","CallbackMetadata":{"Item":[{"Name":"Amount","Value":1.50},{"Name":"MpesaReceiptNumber","Value":"NLJ1"},{"Name":"Balance"},{"Name":"TransactionDate","Value":20231115011320},{"Name":"PhoneNumber","Value":254700000000}]}}}}"#;
const CANCELED: &str = r#"{"Body":{"stkCallback":{"MerchantRequestID":"29115-1","CheckoutRequestID":"ws_CO_1","ResultCode":1032,"ResultDesc":"Request cancelled by user."}}}"#;
const CONFIRMATION: &str = r#"{"TransactionType":"Pay Bill","TransID":"NLJ1","TransTime":"20231115011320","TransAmount":"1.50","BusinessShortCode":"600000","BillRefNumber":"order-17","OrgAccountBalance":"49.00","MSISDN":"2547****000","FirstName":"A"}"#;
const RESULT: &str =
    r#"{"Result":{"ResultType":0,"ResultCode":0,"ConversationID":"AG_1","TransactionID":"NLJ2"}}"#;

fn source() -> Mpesa {
    pack(&settings(&[TOKEN], &[])).unwrap()
}

fn judge(tokens: &[&str], query: &str) -> Result<Option<usize>, &'static str> {
    verdict_at(&pack(&settings(tokens, &[])).unwrap(), &[], PAID.as_bytes(), query, NOW)
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
fn only_who_knows_the_token_is_let_in() {
    let other = "f".repeat(32);
    assert_eq!(judge(&[TOKEN], &format!("token={TOKEN}")), Ok(Some(0)));
    assert_eq!(judge(&[&other, TOKEN], &format!("a=b&token={TOKEN}")), Ok(Some(1)));
    assert_eq!(judge(&[TOKEN], &format!("token=%30{}", &TOKEN[1..])), Ok(Some(0)));
    for query in ["", "token", "Token=x", "x=token", &format!("nottoken={TOKEN}")] {
        let verdict = judge(&[TOKEN], query);
        assert!(matches!(verdict, Err("missing_signature" | "wrong_signature")), "{query}: {verdict:?}");
    }
    for query in ["token=", "token=%ff", &format!("token={}", &TOKEN[1..]), &format!("token={TOKEN}%20")] {
        assert_eq!(judge(&[TOKEN], query), Err("wrong_signature"), "{query}");
    }
}

#[test]
fn a_source_without_a_long_token_does_not_start() {
    for tokens in [&[][..], &[""], &[" "], &["0123456789abcdef0123456789abcde"], &[TOKEN, "short"]] {
        assert!(build(&settings(tokens, &[])).is_err(), "{tokens:?}");
    }
    assert!(build(&settings(&[TOKEN], &[("other", true.into())])).is_err());
}

#[test]
fn what_nobody_signed_is_never_trusted() {
    use application::testing::envelope;

    let trusting = SourceSettings { trust: Some(Trust::Signature), ..settings(&[TOKEN], &[]) };
    assert!(matches!(build(&trusting), Err(SetupError::BadOption(_))));
    let provider = build(&settings(&[TOKEN], &[])).unwrap();
    assert_eq!(provider.describe().trust, Trust::Confirm);
    let event = provider.translate(&envelope("ws_CO_1", PAID)).unwrap();
    assert_eq!(event.effect, Effect::Nothing(NoEffect::Unconfirmed));
}

#[test]
fn the_answer_is_what_daraja_takes_for_an_acknowledgement() {
    let answer = source().answer().unwrap();
    assert_eq!((answer.status, answer.content_type), (200, "application/json"));
    assert_eq!(answer.body, r#"{"ResultCode":0,"ResultDesc":"Accepted"}"#);
}

#[test]
fn nothing_that_may_come_panics() {
    never_panics(&source(), &[], &[PAID, CANCELED, CONFIRMATION, RESULT]);
}

#[test]
fn the_event_id_is_the_requests_or_the_transactions() {
    let provider = build(&settings(&[TOKEN], &[])).unwrap();
    for (body, id) in [(PAID, "ws_CO_1"), (CANCELED, "ws_CO_1"), (CONFIRMATION, "NLJ1"), (RESULT, "AG_1")] {
        assert_eq!(ids(&*provider, body, &[]), Ok(vec![id.to_owned()]));
    }
    for (body, pointer, code) in [
        ("[]", "", "wrong_type"),
        ("{}", "/TransID", "missing"),
        (r#"{"TransID":{}}"#, "/TransID", "missing"),
        (r#"{"Body":{"stkCallback":{}}}"#, "/Body/stkCallback/CheckoutRequestID", "missing"),
        (r#"{"Result":{}}"#, "/Result/ConversationID", "missing"),
    ] {
        assert_eq!(ids(&*provider, body, &[]), Err(vec![(pointer.to_owned(), code)]), "{body}");
    }
}

#[test]
fn the_callback_and_the_confirmation_of_one_payment_tell_the_same_fact() {
    tells(PAID, "NLJ1", &["captured:single 150 KES"]);
    tells(CONFIRMATION, "NLJ1", &["captured:single 150 KES"]);
}

#[test]
fn every_code_but_zero_is_a_failure() {
    tells(CANCELED, "ws_CO_1", &["failed:ws_CO_1"]);
    tells(&CANCELED.replace("1032", "\"1\""), "ws_CO_1", &["failed:ws_CO_1"]);
    tells(&PAID.replace(r#""ResultCode":0"#, r#""ResultCode":"0""#), "NLJ1", &["captured:single 150 KES"]);
}

#[test]
fn times_are_in_east_africa_time() {
    for (body, kind) in [(PAID, "stkCallback"), (CONFIRMATION, "c2b_confirmation")] {
        let translation = translated(&source(), body);
        assert_eq!((translation.kind.as_str(), translation.live), (kind, None));
        assert_eq!(translation.occurred_at.unwrap().as_secs(), 1_700_000_000);
    }
    for odd in ["20231315011320", "2023111501132", "202311150113200", "2023-11-15", "é2311150113201"] {
        assert_eq!(
            translated(&source(), &CONFIRMATION.replace("20231115011320", odd)).occurred_at,
            None,
            "{odd}"
        );
    }
}

#[test]
fn other_results_change_nothing() {
    let result = translated(&source(), RESULT);
    assert_eq!((result.kind.as_str(), result.effect), ("result", Effect::Nothing(NoEffect::Kind)));
    let other = translated(&source(), r#"{"TransID":null}"#);
    assert_eq!((other.kind.as_str(), other.effect), ("unknown", Effect::Nothing(NoEffect::Kind)));
}

#[test]
fn what_cannot_be_read_is_told_with_its_place() {
    for (body, place) in [
        (PAID.replace("NLJ1", ""), "/Body/stkCallback/CallbackMetadata has no MpesaReceiptNumber"),
        (PAID.replace(r#""Amount""#, r#""Sum""#), "/Body/stkCallback/CallbackMetadata has no Amount"),
        (PAID.replace("1.50", "1.505"), "/Body/stkCallback/CallbackMetadata has an Amount that has more"),
        (CANCELED.replace("1032", "null"), "/Body/stkCallback/ResultCode "),
        (CONFIRMATION.replace("1.50", "1,50"), "/TransAmount is not a decimal"),
        (CONFIRMATION.replace("TransAmount", "Amount"), "/TransAmount is missing"),
    ] {
        let text = untranslatable(&source(), &body);
        assert!(text.starts_with(place), "{text}");
    }
}
