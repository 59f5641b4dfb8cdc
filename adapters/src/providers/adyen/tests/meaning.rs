use application::Envelope;
use application::ports::provider::Untranslatable;
use application::testing::envelope;
use domain::{Effect, NoEffect};

use super::*;
use crate::providers::pack::Translation;

fn translated(body: &str, id: &str, capture: Capture) -> Result<Translation, Untranslatable> {
    let envelope: Envelope = envelope(id, body.to_owned());
    standard(&[KEY], capture).translate(&envelope)
}

/// An item about `PAY1`, of 1,130 euro cents.
fn item(code: &str, success: &str) -> String {
    let original = if code == "AUTHORISATION" { "" } else { "PAY1" };
    let reference = if code == "AUTHORISATION" { "PAY1" } else { "MOD1" };
    request([reference, original, "Shop", "order", "EUR", code, success], "1130", "{}")
}

/// The payment and the facts of [`item`], in words.
fn told(code: &str, success: &str, capture: Capture) -> (String, Vec<String>) {
    let reference = if code == "AUTHORISATION" { "PAY1" } else { "MOD1" };
    told_of(&item(code, success), &format!("{reference}|{code}|{success}"), capture)
}

fn told_of(body: &str, id: &str, capture: Capture) -> (String, Vec<String>) {
    match translated(body, id, capture).unwrap().effect {
        Effect::Change(change) => {
            assert_eq!(change.merchant.unwrap().as_str(), "Shop");
            let fact = |fact: &domain::Fact| match fact.amount() {
                Some(amount) => format!("{} {}", fact.key(None), amount.minor_units()),
                None => fact.key(None).to_string(),
            };
            (change.payment.as_str().to_owned(), change.facts.iter().map(fact).collect())
        }
        Effect::Nothing(NoEffect::Kind) => (String::new(), Vec::new()),
        Effect::Nothing(other) => panic!("{other:?}"),
    }
}

fn untranslatable(body: &str, id: &str) -> String {
    translated(body, id, Capture::Automatic).unwrap_err().0
}

#[test]
fn an_authorisation_is_a_capture_where_the_account_captures_by_itself() {
    let automatic = told("AUTHORISATION", "true", Capture::Automatic);
    assert_eq!(automatic, ("PAY1".to_owned(), vec!["captured:single 1130".to_owned()]));
    assert_eq!(told("AUTHORISATION", "true", Capture::Manual).1, ["authorised 1130"]);
    for capture in [Capture::Automatic, Capture::Manual] {
        assert_eq!(told("AUTHORISATION", "false", capture).1, ["failed:PAY1"]);
    }
}

#[test]
fn a_check_of_a_card_captures_nothing() {
    let body = request(["PAY1", "", "Shop", "order", "EUR", "AUTHORISATION", "true"], "0", "{}");
    assert_eq!(told_of(&body, "PAY1|AUTHORISATION|true", Capture::Automatic).1, ["authorised 0"]);
}

#[test]
fn a_capture_counts_where_it_is_asked_for() {
    let manual = told("CAPTURE", "true", Capture::Manual);
    assert_eq!(manual, ("PAY1".to_owned(), vec!["captured:MOD1 1130".to_owned()]));
    assert!(told("CAPTURE", "true", Capture::Automatic).1.is_empty());
}

#[test]
fn a_capture_that_failed_later_goes_back_out_of_the_books() {
    for capture in [Capture::Automatic, Capture::Manual] {
        let told = told("CAPTURE_FAILED", "true", capture);
        assert_eq!(told, ("PAY1".to_owned(), vec!["refunded:capture_failed|MOD1 1130".to_owned()]));
    }
}

#[test]
fn a_cancellation_takes_back_what_counted_as_captured() {
    for code in ["CANCELLATION", "TECHNICAL_CANCEL"] {
        assert_eq!(told(code, "true", Capture::Manual).1, ["canceled"]);
        assert_eq!(told(code, "true", Capture::Automatic).1, ["canceled", "refunded:MOD1 1130"]);
    }
}

#[test]
fn refunds_count_by_their_own_reference() {
    assert_eq!(told("REFUND", "true", Capture::Automatic).1, ["refunded:MOD1 1130"]);
    for code in ["REFUND_FAILED", "REFUNDED_REVERSED"] {
        assert_eq!(
            told(code, "true", Capture::Automatic).1,
            ["refunded:MOD1 1130", "refund_failed:MOD1 1130"]
        );
    }
}

#[test]
fn money_moves_with_the_chargebacks_of_a_dispute() {
    let capture = Capture::Automatic;
    assert_eq!(told("CHARGEBACK", "true", capture).1, ["dispute_opened:MOD1 1130"]);
    assert_eq!(told("CHARGEBACK_REVERSED", "true", capture).1, ["dispute_won:MOD1 1130"]);
    let second = ["dispute_opened:second|MOD1 1130", "dispute_lost:second|MOD1 1130"];
    assert_eq!(told("SECOND_CHARGEBACK", "true", capture).1, second);
    for code in [
        "NOTIFICATION_OF_CHARGEBACK",
        "REQUEST_FOR_INFORMATION",
        "DISPUTE_OPENED_WITH_CHARGEBACK",
        "PREARBITRATION_WON",
        "PREARBITRATION_LOST",
        "DISPUTE_DEFENSE_PERIOD_ENDED",
    ] {
        assert!(told(code, "true", capture).1.is_empty(), "{code}");
    }
}

#[test]
fn a_dispute_without_original_reference_has_the_payments_in_the_other() {
    let body = request(["PAY1", "", "Shop", "order", "EUR", "CHARGEBACK_REVERSED", "true"], "1130", "{}");
    let (payment, facts) = told_of(&body, "PAY1|CHARGEBACK_REVERSED|true", Capture::Automatic);
    assert_eq!((payment.as_str(), facts), ("PAY1", vec!["dispute_won:PAY1 1130".to_owned()]));
}

#[test]
fn what_was_refused_or_is_not_about_money_has_no_effect() {
    for code in ["CAPTURE", "CANCELLATION", "REFUND", "CAPTURE_FAILED", "CHARGEBACK"] {
        assert!(told(code, "false", Capture::Manual).1.is_empty(), "{code}");
    }
    for code in ["CANCEL_OR_REFUND", "REPORT_AVAILABLE", "AUTHORISATION_ADJUSTMENT", "UNHEARD_OF"] {
        assert!(told(code, "true", Capture::Manual).1.is_empty(), "{code}");
    }
    let odd = request(["PAY1", "", "Shop", "order", "EUR", "AUTHORISATION", "yes"], "1130", "{}");
    assert!(told_of(&odd, "PAY1|AUTHORISATION|yes", Capture::Manual).1.is_empty());
}

#[test]
fn the_item_of_the_events_id_is_translated() {
    let event = translated(BATCH, "FIX0000000000002|CAPTURE|true", Capture::Manual).unwrap();
    assert_eq!((event.kind.as_str(), event.live), ("CAPTURE", Some(true)));
    assert_eq!(event.occurred_at.unwrap().as_secs(), 1_777_622_401);
    assert!(matches!(event.effect, Effect::Change(change) if change.payment.as_str() == "FIX0000000000001"));
    assert!(untranslatable(BATCH, "FIX0000000000009|CAPTURE|true").contains("no item of this event's id"));
    assert!(untranslatable("{}", "FIX0000000000009|CAPTURE|true").contains("is not a list of items"));
}

#[test]
fn amounts_are_counted_as_adyen_counts_them() {
    for (currency, value, minor) in
        [("CLP", "100000", 1_000), ("ISK", "2500", 25), ("KWD", "\"5125\"", 5_125)]
    {
        let body = request(["PAY1", "", "Shop", "order", currency, "AUTHORISATION", "true"], value, "{}");
        let facts = told_of(&body, "PAY1|AUTHORISATION|true", Capture::Automatic).1;
        assert_eq!(facts, [format!("captured:single {minor}")], "{currency}");
    }
}

#[test]
fn what_is_missing_is_told_with_its_place() {
    const ID: &str = "PAY1|REFUND|true";
    let body = |original, currency, value| {
        request(["PAY1", original, "Shop", "order", currency, "REFUND", "true"], value, "{}")
    };
    for (body, what) in [
        (body("PAY0", "EUR", "11.30"), "/notificationItems/0/NotificationRequestItem/amount is not a whole"),
        (body("PAY0", "EUR", "null"), "/notificationItems/0/NotificationRequestItem/amount is not a whole"),
        (body("PAY0", "XXQ", "1130"), "/notificationItems/0/NotificationRequestItem/amount currency"),
        (body("", "EUR", "1130"), "/notificationItems/0/NotificationRequestItem/originalReference is empty"),
    ] {
        let told = untranslatable(&body, ID);
        assert!(told.starts_with(what), "{told}");
    }
}
