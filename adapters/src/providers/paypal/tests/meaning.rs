use domain::{Effect, NoEffect};

use super::*;
use crate::providers::harness::{changed, told, translated, untranslatable};

const CAPTURE: &str = include_str!("../fixtures/capture.json");
const REFUND: &str = include_str!("../fixtures/refund.json");
const SALE: &str = include_str!("../fixtures/sale.json");
const PAYOUT: &str = include_str!("../fixtures/payout.json");
const DISPUTE: &str = include_str!("../fixtures/dispute.json");
const PAYMENT_ID: &str = "3FX12345AB678901C";

fn paypal() -> PayPal {
    source(&known::SALE_2015, "1JE").0
}

fn meaning(body: &str) -> (String, Vec<String>) {
    told(&paypal(), body)
}

fn has_no_effect(body: &str) -> bool {
    translated(&paypal(), body).effect == Effect::Nothing(NoEffect::Kind)
}

/// The body with one text for another, which must be there.
fn with(body: &str, from: &str, to: &str) -> String {
    assert!(body.contains(from), "{from}");
    body.replace(from, to)
}

#[test]
fn a_completed_capture_is_the_payment_with_its_fee() {
    let facts = vec!["captured:single 4250 USD".to_owned(), "charged:single 197 USD".to_owned()];
    assert_eq!(meaning(CAPTURE), (PAYMENT_ID.to_owned(), facts));
    let event = translated(&paypal(), CAPTURE);
    assert_eq!((event.kind.as_str(), event.live), ("PAYMENT.CAPTURE.COMPLETED", None));
    assert_eq!(event.occurred_at.unwrap().as_micros(), 1_773_480_413_589_000);
    assert_eq!(changed(&paypal(), CAPTURE).merchant, None);
}

#[test]
fn both_interfaces_tell_the_same_of_one_payment() {
    assert_eq!(meaning(SALE), meaning(CAPTURE));
}

#[test]
fn a_fee_is_told_where_it_is_named_in_the_payments_currency() {
    let captured = vec!["captured:single 4250 USD".to_owned()];
    let fee = r#""paypal_fee": { "currency_code": "USD", "value": "1.97" },"#;
    assert_eq!(meaning(&with(CAPTURE, fee, "")).1, captured);
    assert_eq!(meaning(&with(CAPTURE, fee, &with(fee, "USD", "EUR"))).1, captured);
    assert_eq!(meaning(&with(CAPTURE, fee, &with(fee, "1.97", "0.00"))).1, captured);
}

#[test]
fn a_date_that_does_not_exist_costs_no_event() {
    let odd = with(CAPTURE, "2026-03-14T09:26:53.589Z", "2018-19-12T22:20:32.000Z");
    assert_eq!(translated(&paypal(), &odd).occurred_at, None);
    assert_eq!(meaning(&odd), meaning(CAPTURE));
}

#[test]
fn a_capture_may_wait_or_fail() {
    for (kind, fact) in [
        ("PAYMENT.CAPTURE.PENDING", "progress:processing:0"),
        ("PAYMENT.SALE.PENDING", "progress:processing:0"),
        ("PAYMENT.CAPTURE.DENIED", "failed:3FX12345AB678901C"),
        ("PAYMENT.CAPTURE.DECLINED", "failed:3FX12345AB678901C"),
        ("PAYMENT.SALE.DENIED", "failed:3FX12345AB678901C"),
    ] {
        assert_eq!(meaning(&with(CAPTURE, "PAYMENT.CAPTURE.COMPLETED", kind)).1, [fact], "{kind}");
    }
}

#[test]
fn a_refund_belongs_to_the_capture_that_its_link_leads_up_to() {
    let refunded = (PAYMENT_ID.to_owned(), vec!["refunded:7FX12345AB678901E 1250 USD".to_owned()]);
    for kind in ["PAYMENT.CAPTURE.REFUNDED", "PAYMENT.CAPTURE.REVERSED", "PAYMENT.REFUND.PENDING"] {
        assert_eq!(meaning(&with(REFUND, "PAYMENT.CAPTURE.REFUNDED", kind)), refunded, "{kind}");
    }
    for elsewhere in [
        "https://api.paypal.com/v2/checkout/orders/4FX",
        "https://api.paypal.com/v2/payments/captures/",
        "no URL",
    ] {
        let odd = with(REFUND, "https://api.paypal.com/v2/payments/captures/3FX12345AB678901C", elsewhere);
        assert!(untranslatable(&paypal(), &odd).starts_with("/resource/links have no link"));
    }
}

#[test]
fn a_refund_that_failed_moves_nothing_in_the_end() {
    let both = ["refunded:7FX12345AB678901E 1250 USD", "refund_failed:7FX12345AB678901E 1250 USD"];
    assert_eq!(meaning(&with(REFUND, "PAYMENT.CAPTURE.REFUNDED", "PAYMENT.REFUND.FAILED")).1, both);
    for status in ["FAILED", "CANCELLED"] {
        assert_eq!(meaning(&with(REFUND, "\"COMPLETED\"", &format!("\"{status}\""))).1, both);
    }
}

#[test]
fn the_older_interface_tells_a_refund_as_less_than_nothing() {
    let sale = with(SALE, "PAYMENT.SALE.COMPLETED", "PAYMENT.SALE.REFUNDED");
    let sale =
        with(&sale, "\"id\": \"3FX12345AB678901C\"", "\"id\": \"R1\", \"sale_id\": \"3FX12345AB678901C\"");
    let refund = with(&sale, "\"total\": \"42.50\"", "\"total\": \"-0.01\"");
    assert_eq!(meaning(&refund), (PAYMENT_ID.to_owned(), vec!["refunded:R1 1 USD".to_owned()]));
    let linked = with(&refund, "\"sale_id\": \"3FX12345AB678901C\",", "");
    let linked = with(&linked, "\"rel\": \"self\"", "\"rel\": \"sale\"");
    assert_eq!(meaning(&linked), meaning(&refund));
    let reversed =
        with(&with(&linked, "SALE.REFUNDED", "SALE.REVERSED"), "\"rel\": \"sale\"", "\"rel\": \"self\"");
    assert!(untranslatable(&paypal(), &reversed).starts_with("/resource/links have no link"));
}

#[test]
fn a_dispute_moves_no_money_by_itself() {
    for kind in ["CUSTOMER.DISPUTE.CREATED", "CUSTOMER.DISPUTE.UPDATED", "CUSTOMER.DISPUTE.RESOLVED"] {
        assert!(has_no_effect(&with(DISPUTE, "CUSTOMER.DISPUTE.CREATED", kind)), "{kind}");
    }
}

#[test]
fn a_payout_item_is_a_payout() {
    for (kind, fact) in [
        ("SUCCEEDED", "payout_paid"),
        ("UNCLAIMED", "payout_started"),
        ("HELD", "payout_started"),
        ("FAILED", "payout_failed"),
        ("RETURNED", "payout_failed"),
        ("CANCELED", "payout_canceled"),
    ] {
        let body = with(PAYOUT, "ITEM.SUCCEEDED", &format!("ITEM.{kind}"));
        assert_eq!(meaning(&body), ("FIXTUREITEM01".to_owned(), vec![format!("{fact} 1500 USD")]), "{kind}");
    }
}

#[test]
fn what_tells_of_no_capture_has_no_effect() {
    for kind in [
        "PAYMENT.AUTHORIZATION.CREATED",
        "PAYMENTS.PAYMENT.CREATED",
        "CHECKOUT.ORDER.APPROVED",
        "BILLING.SUBSCRIPTION.CREATED",
        "PAYMENT.PAYOUTSBATCH.SUCCESS",
        "PAYMENT.PAYOUTS-ITEM.DREAMT",
        "UNHEARD.OF",
    ] {
        assert!(has_no_effect(&with(CAPTURE, "PAYMENT.CAPTURE.COMPLETED", kind)), "{kind}");
    }
    assert!(has_no_effect(r#"{"id":"WH-1"}"#));
}

#[test]
fn currencies_without_decimals_come_without_a_point() {
    for (currency, value, minor) in [("JPY", "4250", 4_250), ("HUF", "4250", 425_000), ("TWD", "42", 4_200)] {
        let body = with(&with(CAPTURE, "42.50", value), "USD", currency);
        let body = with(&body, "1.97", "0");
        assert_eq!(meaning(&body).1, [format!("captured:single {minor} {currency}")]);
    }
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (from, to, what) in [
        (
            "\"amount\": { \"currency_code\": \"USD\", \"value\": \"42.50\" },",
            "",
            "/resource/amount is not an object",
        ),
        ("\"42.50\"", "\"42.505\"", "/resource/amount/value has more decimals"),
        ("\"42.50\"", "\"4e1\"", "/resource/amount/value is not a decimal"),
        ("\"USD\"", "\"XXQ\"", "/resource/amount/currency_code currency"),
        ("\"id\": \"3FX12345AB678901C\",", "", "/resource/id is not a text"),
        (
            "\"value\": \"1.97\"",
            "\"value\": []",
            "/resource/seller_receivable_breakdown/paypal_fee/value is not",
        ),
        ("\"resource\":", "\"other\":", "/resource is not an object"),
    ] {
        let told = untranslatable(&paypal(), &with(CAPTURE, from, to));
        assert!(told.starts_with(what), "{told}");
    }
}

#[test]
fn an_unused_member_may_hold_anything() {
    assert_eq!(meaning(&with(CAPTURE, "4FX12345AB678901D\" } }", r#"\ud800\u0000" } }"#)), meaning(CAPTURE));
}
