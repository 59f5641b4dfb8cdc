//! What Shopify's events become.

use super::*;
use domain::Timestamp;

const REFUND: &str = include_str!("../fixtures/refunds-create.json");

fn told(topic: &str, payload: &str) -> Result<Translation, Untranslatable> {
    let mut envelope = envelope("98880550-7158", payload.to_owned());
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    envelope.headers = vec![header(TOPIC[0], topic), header(SHOP_DOMAIN[1], "jsmith.myshopify.com")];
    pack(&[SECRET]).translate(&envelope)
}

/// The facts that a payload tells of the order, as `captured:single 3850 USD`; empty for none.
fn facts(topic: &str, payload: &str) -> Vec<String> {
    let Effect::Change(PaymentChange { payment, merchant, facts }) = told(topic, payload).unwrap().effect
    else {
        return Vec::new();
    };
    assert_eq!(payment.as_str(), "jsmith.myshopify.com|9000000000000000123");
    assert_eq!(merchant.unwrap().as_str(), "jsmith.myshopify.com");
    let amount = |fact: &domain::Fact| {
        fact.amount().map(|amount| format!(" {} {}", amount.minor_units(), amount.currency()))
    };
    facts.iter().map(|fact| format!("{}{}", fact.key(None), amount(fact).unwrap_or_default())).collect()
}

fn transaction(kind: &str, status: &str) -> String {
    format!(
        r#"{{"id":77,"order_id":9000000000000000123,"kind":"{kind}","status":"{status}","amount":"38.50","currency":"USD","test":false}}"#
    )
}

#[test]
fn a_paid_order_is_captured_in_the_shops_money() {
    assert_eq!(facts("orders/paid", PAID), ["captured:single 3850 USD"]);
    let translation = told("orders/paid", PAID).unwrap();
    assert_eq!(translation.kind.as_str(), "orders/paid");
    assert_eq!(translation.live, Some(true));
    assert_eq!(translation.occurred_at.map(Timestamp::as_secs), Some(1_740_839_402));
}

#[test]
fn an_order_without_a_set_of_moneys_has_its_plain_total() {
    let plain = PAID
        .replace("total_price_set", "x")
        .replace("\"total_price\": \"38.50\"", "\"total_price\": \"38.5\"");
    assert_eq!(facts("orders/paid", &plain), ["captured:single 3850 USD"]);
}

#[test]
fn a_body_that_contradicts_its_topic_moves_nothing() {
    for status in ["pending", "authorized", "partially_paid", "voided"] {
        let unpaid =
            PAID.replace(r#""financial_status": "paid""#, &format!(r#""financial_status": "{status}""#));
        assert!(facts("orders/paid", &unpaid).is_empty(), "{status}");
    }
    assert!(facts("orders/cancelled", PAID).is_empty());
    let voided = PAID.replace(r#""financial_status": "paid""#, r#""financial_status": "voided""#);
    assert!(facts("orders/cancelled", &voided).is_empty());
}

#[test]
fn an_unpaid_order_that_is_cancelled_is_canceled() {
    let cancelled = PAID
        .replace(r#""financial_status": "paid""#, r#""financial_status": "voided""#)
        .replace(r#""cancelled_at": null"#, r#""cancelled_at": "2025-03-01T09:40:00-05:00""#);
    assert_eq!(facts("orders/cancelled", &cancelled), ["canceled"]);
}

#[test]
fn a_refund_is_the_sum_of_what_went_back() {
    assert_eq!(facts("refunds/create", REFUND), ["refunded:9000000000000000789 3850 USD"]);
    let restocked = REFUND.replace("\"success\"", "\"failure\"");
    assert!(facts("refunds/create", &restocked).is_empty());
    assert_eq!(told("refunds/create", REFUND).unwrap().live, Some(true));
}

#[test]
fn a_refund_in_two_currencies_is_not_summed() {
    let mixed = REFUND.replacen("\"currency\": \"USD\"", "\"currency\": \"EUR\"", 1);
    assert!(told("refunds/create", &mixed).unwrap_err().0.starts_with("/transactions/1/amount"));
}

#[test]
fn a_transaction_tells_what_is_reserved_under_way_or_failed() {
    for (kind, status, expected) in [
        ("authorization", "success", Some("authorised 3850 USD")),
        ("sale", "pending", Some("progress:processing:0")),
        ("sale", "failure", Some("failed:77")),
        ("authorization", "error", Some("failed:77")),
        ("sale", "success", None),
        ("capture", "success", None),
        ("refund", "success", None),
        ("void", "success", None),
        ("something_new", "success", None),
    ] {
        let facts = facts("order_transactions/create", &transaction(kind, status));
        assert_eq!(facts.first().map(String::as_str), expected, "{kind} {status}");
    }
}

#[test]
fn a_test_order_is_not_live() {
    assert_eq!(
        told("orders/paid", &PAID.replace("\"test\": false", "\"test\": true")).unwrap().live,
        Some(false)
    );
}

#[test]
fn another_topic_has_no_effect_whatever_its_body() {
    for body in [PAID, "not JSON", "[]"] {
        let translation = told("app/uninstalled", body).unwrap();
        assert_eq!(
            (translation.kind.as_str(), translation.effect),
            ("app/uninstalled", Effect::Nothing(NoEffect::Kind))
        );
    }
    let without_headers = pack(&[SECRET]).translate(&envelope("98880550-7158", PAID)).unwrap();
    assert_eq!(without_headers.kind.as_str(), "unknown");
}

#[test]
fn what_cannot_be_read_is_told_with_its_place() {
    for (payload, pointer) in [
        (PAID.replace("\"38.50\"", "\"38.505\""), "/total_price_set/shop_money/amount"),
        (
            PAID.replace("\"currency_code\": \"USD\"", "\"currency_code\": \"ZZZ\""),
            "/total_price_set/shop_money/currency_code",
        ),
        (PAID.replace("financial_status", "x"), "/financial_status"),
        (PAID.replace("\"id\": 9000000000000000123", "\"id\": null"), "/id"),
        ("[]".to_owned(), "the body"),
    ] {
        let told = told("orders/paid", &payload).unwrap_err().0;
        assert!(told.starts_with(pointer), "{told}");
    }
    let mut without_shop = envelope("98880550-7158", PAID);
    without_shop.headers = vec![(TOPIC[0].to_owned(), "orders/paid".to_owned())];
    let told = pack(&[SECRET]).translate(&without_shop).unwrap_err().0;
    assert!(told.contains("x-shopify-shop-domain"), "{told}");
}

#[test]
fn only_the_headers_that_are_needed_are_kept() {
    let pack = pack(&[SECRET]);
    assert!(TOPIC.iter().chain(&SHOP_DOMAIN).all(|name| pack.keeps_header(name)));
    assert!(!pack.keeps_header(SIGNATURE[0]));
}
