use super::*;
use crate::providers::adyen::platform::Platform;
use crate::providers::harness::{headers, ids, refuses_every_flip, settings, translated, verdict};

const SWEEP: &str = r#"{"data":{"balancePlatform":"Integration_tools_test","accountId":"BA32272223222H5HVKTBK4MLB","sweep":{"id":"SWPC42272223222H5HVKV6H8C64DP5","schedule":{"type":"balance"},"status":"active","targetAmount":{"currency":"EUR","value":0},"triggerAmount":{"currency":"EUR","value":0},"type":"pull","counterparty":{"balanceAccountId":"BA3227C223222H5HVKT3H9WLC"},"currency":"EUR"}},"environment":"test","type":"balancePlatform.balanceAccountSweep.updated"}"#;
const SWEEP_KEY: &str = "D7DD5BA6146493707BF0BE7496F6404EC7A63616B7158EC927B9F54BB436765F";

/// Not JSON, for a quotation mark is missing, and signed all the same.
const BROKEN: &str = "{\n    \"type\": \"merchant.created\",\n    \"environment\": \"test\",\n    \"createdAt\": \"01-01-2024\",\n    \"data\": {\n        \"capabilities\": {\n            \"sendToTransferInstrument\": {\n                \"requested\": true,\n                \"requestedLevel\": \"notApplicable\"\n            }\n        },\n        \"companyId\": \"YOUR_COMPANY_ID\",\n        \"merchantId\": YOUR_MERCHANT_ACCOUNT\",\n        \"status\": \"PreActive\"\n    }\n}";

const ACCOUNT: &str = r#"{"data":{"balancePlatform":"FixturePlatform","accountHolder":{"id":"AH_FIXTURE_1","status":"active"}},"environment":"live","timestamp":"2026-02-15T15:42:03+01:00","type":"balancePlatform.accountHolder.created"}"#;

fn platform(key: &str) -> Platform {
    Platform::new(keyed(&settings(&[key], &[])).unwrap())
}

#[test]
fn known_bodies_verify() {
    for (key, body, signature) in [
        (
            "11223344D785FBAE710E7F943F307971BB61B21281C98C9129B3D4018A57B2EB",
            include_str!("../fixtures/known-node.json"),
            "UVBzHbDayhfT1XgaRGAkuKvxwoxrLoVCBdfi3WZU8lI=",
        ),
        (
            OTHER_KEY,
            include_str!("../fixtures/known-ruby.json"),
            "93Av9t6OVkYCrVHU/xgiTkWGbulJz+Vcm2qO4TYQH2Q=",
        ),
        (SWEEP_KEY, SWEEP, "9Qz9S/0xpar1klkniKdshxpAhRKbiSAewPpWoxKefQA="),
        (KEY, BROKEN, "yitBTPnDGtbAMG9rTxUa1e6lFGpa4PnrD6rErOmEhJ8="),
        (
            "9064450A8892A093D9E97EFCC9639DE31B74F3A7803135555A3C96F5A57915D6",
            "TestPayload",
            "YA9/UDjldIO4Gq68X4ATYYoEaPYH4f4k2uzBBzEF1PA=",
        ),
        (
            KEY,
            "countryCode:currencyCode:merchantAccount:merchantReference:paymentAmount:sessionValidity:skinCode:NL:EUR:MagentoMerchantTest2:TEST-PAYMENT-2017-02-01-14\\:02\\:05:199:2017-02-02T14\\:02\\:05+01\\:00:PKz2KML1",
            "34oR8T1whkQWTv9P+SzKyp8zhusf9n0dpqrm9nsqSJs=",
        ),
    ] {
        let headers = headers(&[("hmacsignature", signature.as_bytes())]);
        assert_eq!(verdict(&platform(key), &headers, body.as_bytes()), Ok(Some(0)), "{body}");
    }
}

#[test]
fn a_missing_or_overlong_signature_is_refused() {
    let long = headers(&[("hmacsignature", b"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")]);
    assert_eq!(verdict(&platform(SWEEP_KEY), &long, SWEEP.as_bytes()), Err("wrong_signature"));
    assert_eq!(verdict(&platform(SWEEP_KEY), &[], SWEEP.as_bytes()), Err("missing_signature"));
}

#[test]
fn the_id_is_made_of_what_there_is() {
    let provider = build(&settings(&[KEY], &[("platform", serde_json::json!(true))])).unwrap();
    for (body, id) in [
        (ACCOUNT, "balancePlatform.accountHolder.created|AH_FIXTURE_1|2026-02-15T15:42:03+01:00|"),
        (SWEEP, "balancePlatform.balanceAccountSweep.updated|SWPC42272223222H5HVKV6H8C64DP5||"),
        (r#"{"type":"recurring.token.created","eventId":"E1","data":{}}"#, "recurring.token.created|E1"),
        (
            r#"{"type":"balancePlatform.transfer.updated","timestamp":"t","data":{"id":"TR1","sequenceNumber":3}}"#,
            "balancePlatform.transfer.updated|TR1|t|3",
        ),
        (r#"{"type":"merchant.created","createdAt":"t","data":{"merchantId":"M"}}"#, "merchant.created||t|"),
    ] {
        assert_eq!(ids(provider.as_ref(), body, &[]).unwrap(), [id]);
    }
    for (body, place) in [
        (BROKEN, ""),
        ("[]", ""),
        (r#"{"data":{"id":"x"}}"#, "/type"),
        (r#"{"type":"t"}"#, "/data"),
        (r#"{"type":"t","data":{}}"#, "/timestamp"),
    ] {
        assert_eq!(ids(provider.as_ref(), body, &[]).unwrap_err()[0].0, place);
    }
    assert_eq!(provider.answer().unwrap().body, "[accepted]");
}

#[test]
fn no_platform_event_is_about_a_payment() {
    let event = translated(&platform(KEY), ACCOUNT);
    assert_eq!(event.kind.as_str(), "balancePlatform.accountHolder.created");
    assert_eq!((event.live, event.effect), (Some(true), domain::Effect::Nothing(domain::NoEffect::Kind)));
    assert_eq!(event.occurred_at.unwrap().as_secs(), 1_771_166_523);
}

#[test]
fn every_changed_bit_is_refused() {
    refuses_every_flip(&platform(KEY), ACCOUNT, false);
}

#[test]
fn nothing_that_may_come_panics() {
    never_panics(&platform(KEY), &["hmacsignature"], &[ACCOUNT, SWEEP]);
}
