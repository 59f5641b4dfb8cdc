use domain::{Effect, NoEffect};

use super::*;
use crate::providers::harness::{changed, told, translated, untranslatable};

fn meaning(xml: &str) -> (String, Vec<String>) {
    told(&integration(), &form(xml))
}

fn facts(xml: &str) -> Vec<String> {
    meaning(xml).1
}

fn has_no_effect(xml: &str) -> bool {
    translated(&integration(), &form(xml)).effect == Effect::Nothing(NoEffect::Kind)
}

/// The text with one part for another, which must be there.
fn with(xml: &str, from: &str, to: &str) -> String {
    assert!(xml.contains(from), "{from}");
    xml.replace(from, to)
}

#[test]
fn a_settled_sale_is_captured() {
    assert_eq!(meaning(TRANSACTION), ("f1xtur3a".to_owned(), vec!["captured:single 4990 EUR".to_owned()]));
    let event = translated(&integration(), &form(TRANSACTION));
    assert_eq!(event.kind.as_str(), "transaction_settled");
    assert_eq!(event.occurred_at.unwrap().as_secs(), 1_770_109_687);
    assert_eq!(event.live, None);
}

#[test]
fn a_disbursed_sale_tells_the_same_as_a_settled_one() {
    let disbursed = with(TRANSACTION, "transaction_settled", "transaction_disbursed");
    assert_eq!(meaning(&disbursed), meaning(TRANSACTION));
}

#[test]
fn a_settled_credit_refunds_its_sale_and_no_other_payment() {
    let credit = with(TRANSACTION, "<type>sale</type>", "<type>credit</type>");
    assert!(has_no_effect(&credit));
    let refund = with(&credit, "<type>", "<refunded-transaction-id>f1xtur00</refunded-transaction-id><type>");
    assert_eq!(meaning(&refund), ("f1xtur00".to_owned(), vec!["refunded:f1xtur3a 4990 EUR".to_owned()]));
    let declined = with(&refund, "<kind>transaction_settled", "<kind>transaction_settlement_declined");
    assert_eq!(facts(&declined), ["refunded:f1xtur3a 4990 EUR", "refund_failed:f1xtur3a 4990 EUR"]);
    assert_eq!(facts(&with(&refund, "<kind>transaction_settled", "<kind>refund_failed")), facts(&declined));
}

#[test]
fn a_declined_settlement_is_a_failed_attempt() {
    let declined = with(TRANSACTION, "<kind>transaction_settled", "<kind>transaction_settlement_declined");
    assert_eq!(facts(&declined), ["failed:f1xtur3a"]);
}

#[test]
fn a_subscription_charge_is_its_latest_transaction() {
    assert_eq!(meaning(SUBSCRIPTION), ("f1xtur3c".to_owned(), vec!["captured:single 1200 JPY".to_owned()]));
    let failed = with(SUBSCRIPTION, "charged_successfully", "charged_unsuccessfully");
    assert_eq!(meaning(&failed), ("f1xtur3c".to_owned(), vec!["failed:f1xtur3c".to_owned()]));
    let (before, rest) = SUBSCRIPTION.split_once("<transaction>").unwrap();
    let (_, after) = rest.rsplit_once("</transaction>").unwrap();
    assert!(has_no_effect(&format!("{before}{after}")));
}

#[test]
fn a_dispute_is_about_what_is_disputed() {
    assert_eq!(meaning(DISPUTE), ("f1xtur3a".to_owned(), vec!["dispute_opened:f1xdisp 4000 EUR".to_owned()]));
    let older = with(DISPUTE, "<amount-disputed>40.00</amount-disputed>", "");
    assert_eq!(facts(&older), ["dispute_opened:f1xdisp 4990 EUR"]);
    for kind in ["lost", "accepted", "auto_accepted", "expired"] {
        let lost = with(DISPUTE, "dispute_opened", &format!("dispute_{kind}"));
        assert_eq!(facts(&lost), ["dispute_lost:f1xdisp 4000 EUR"]);
    }
    for kind in ["disputed", "under_review"] {
        assert!(has_no_effect(&with(DISPUTE, "dispute_opened", &format!("dispute_{kind}"))));
    }
}

#[test]
fn what_does_not_come_back_of_a_won_dispute_is_lost() {
    let won = with(DISPUTE, "dispute_opened", "dispute_won");
    assert_eq!(facts(&won), ["dispute_won:f1xdisp 4000 EUR"]);
    let partly = with(&won, "<reason>", "<amount-won>38.50</amount-won><reason>");
    assert_eq!(facts(&partly), ["dispute_won:f1xdisp 3850 EUR", "dispute_lost:f1xdisp 150 EUR"]);
}

#[test]
fn a_retrieval_takes_no_money() {
    assert!(has_no_effect(&with(DISPUTE, "<kind>chargeback", "<kind>retrieval")));
}

#[test]
fn other_kinds_have_no_effect_whatever_they_are_about() {
    for kind in ["check", "disbursement", "disbursement_exception", "subscription_canceled", "unheard_of"] {
        let xml =
            format!("<notification><timestamp>t</timestamp><kind>{kind}</kind><subject/></notification>");
        assert!(has_no_effect(&xml), "{kind}");
        assert_eq!(translated(&integration(), &form(&xml)).kind.as_str(), kind);
    }
}

#[test]
fn a_partners_notification_names_the_merchant() {
    let partner = with(TRANSACTION, "<subject>", "<source-merchant-id>m1</source-merchant-id><subject>");
    assert_eq!(changed(&integration(), &form(&partner)).merchant.unwrap().as_str(), "m1");
}

#[test]
fn what_is_missing_is_told_with_its_place() {
    for (xml, from, to, what) in [
        (TRANSACTION, "<amount>49.90</amount>", "", "/notification/subject/transaction/amount is missing"),
        (TRANSACTION, "49.90", "49.905", "/notification/subject/transaction/amount has more decimals"),
        (TRANSACTION, "49.90", "4,990", "/notification/subject/transaction/amount is not a decimal"),
        (
            TRANSACTION,
            "<currency-iso-code>EUR</currency-iso-code>",
            "",
            "/notification/subject/transaction/currency-iso-code",
        ),
        (
            TRANSACTION,
            "<id>f1xtur3a</id>",
            "<id nil=\"true\"/>",
            "/notification/subject/transaction/id is missing",
        ),
        (SUBSCRIPTION, "1200", "12.5", "/notification/subject/subscription/transactions/0/amount has"),
        (DISPUTE, "<id>f1xtur3a</id>", "", "/notification/subject/dispute/transaction/id is missing"),
    ] {
        let told = untranslatable(&integration(), &form(&with(xml, from, to)));
        assert!(told.starts_with(what), "{told}");
    }
    assert!(untranslatable(&integration(), "not a form").contains("is not a form"));
    assert!(untranslatable(&integration(), &form("<a>")).contains("/bt_payload"));
}
