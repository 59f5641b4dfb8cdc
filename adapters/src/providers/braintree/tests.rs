use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::json;

use super::*;
use crate::providers::harness::{self, NOW, never_panics, verdict};

mod meaning;

const TRANSACTION: &str = include_str!("fixtures/transaction.xml");
const SUBSCRIPTION: &str = include_str!("fixtures/subscription.xml");
const DISPUTE: &str = include_str!("fixtures/dispute.xml");

fn braintree(pairs: &[(&str, &str)]) -> Braintree {
    let (public, private): (Vec<&str>, Vec<&str>) = pairs.iter().copied().unzip();
    pack(&harness::settings(&private, &[("public_key", json!(public))])).unwrap()
}

fn integration() -> Braintree {
    braintree(&[("integration_public_key", "integration_private_key")])
}

/// The request that carries that XML.
fn form(xml: &str) -> String {
    String::from_utf8(integration().sign(xml.as_bytes(), NOW).unwrap().body).unwrap()
}

/// A known answer of the integration key pair.
const KNOWN: &str = "bt_signature=integration_public_key%7Cbfd61f65a365eb357a3b1348f3603c1089d0a1ad&bt_payload=PG5vdGlmaWNhdGlvbj4KICA8dGltZXN0YW1wIHR5cGU9ImRhdGV0aW1lIj4y%0AMDI0LTA1LTAxVDEwOjAwOjAwWjwvdGltZXN0YW1wPgogIDxraW5kPnRyYW5z%0AYWN0aW9uX3NldHRsZWQ8L2tpbmQ%2BCiAgPHN1YmplY3Q%2BCiAgICA8dHJhbnNh%0AY3Rpb24%2BCiAgICAgIDxpZD50eDE8L2lkPgogICAgICA8c3RhdHVzPnNldHRs%0AZWQ8L3N0YXR1cz4KICAgICAgPHR5cGU%2Bc2FsZTwvdHlwZT4KICAgICAgPGN1%0AcnJlbmN5LWlzby1jb2RlPlVTRDwvY3VycmVuY3ktaXNvLWNvZGU%2BCiAgICAg%0AIDxhbW91bnQ%2BMTAwLjAwPC9hbW91bnQ%2BCiAgICAgIDxtZXJjaGFudC1hY2Nv%0AdW50LWlkPmFjY3QxPC9tZXJjaGFudC1hY2NvdW50LWlkPgogICAgPC90cmFu%0Ac2FjdGlvbj4KICA8L3N1YmplY3Q%2BCjwvbm90aWZpY2F0aW9uPgo%3D%0A";

#[test]
fn a_known_notification_verifies() {
    assert_eq!(verdict(&integration(), &[], KNOWN.as_bytes()), Ok(Some(0)));
}

#[test]
fn of_several_signatures_the_one_of_the_own_key_counts() {
    let two =
        KNOWN.replace("bt_signature=", &format!("bt_signature=other_public_key%7C{}%26", "0".repeat(40)));
    assert_eq!(verdict(&integration(), &[], two.as_bytes()), Ok(Some(0)));
    let other = KNOWN.replace("integration_public_key", "other_public_key");
    assert_eq!(verdict(&integration(), &[], other.as_bytes()), Err("no_known_signature"));
}

#[test]
fn a_foreign_character_in_the_payload_is_refused() {
    assert_eq!(verdict(&integration(), &[], format!("{KNOWN}%21").as_bytes()), Err("malformed_payload"));
    // A plus sign that was not escaped is a space in a form.
    assert_eq!(verdict(&integration(), &[], KNOWN.replace("%2B", "+").as_bytes()), Err("malformed_payload"));
}

#[test]
fn a_line_end_that_was_lost_on_the_way_does_not_matter() {
    let trimmed = KNOWN.strip_suffix("%0A").unwrap();
    assert_eq!(verdict(&integration(), &[], trimmed.as_bytes()), Ok(Some(0)));
    let twice = trimmed.strip_suffix("%3D").unwrap();
    assert_eq!(verdict(&integration(), &[], twice.as_bytes()), Err("wrong_signature"));
}

#[test]
fn a_request_without_a_signature_of_its_form_is_refused() {
    for (body, reason) in [
        ("", "missing_signature"),
        ("bt_signature=a%7Cb", "missing_signature"),
        ("bt_payload=AA", "missing_signature"),
        ("{}", "missing_signature"),
        ("bt_signature=&bt_payload=AA", "malformed_signature"),
        ("bt_signature=integration_public_key&bt_payload=AA", "malformed_signature"),
        ("bt_signature=integration_public_key%7C&bt_payload=AA", "malformed_signature"),
        ("bt_signature=integration_public_key%7Czz&bt_payload=AA", "malformed_signature"),
        ("bt_signature=integration_public_key%7C%C3%A90&bt_payload=AA", "malformed_signature"),
        ("bt_signature=integration_public_key%7C00&bt_payload=AA", "wrong_signature"),
        ("bt_signature=integration_public_key%7C00&bt_payload=AA&bt_payload=AA", "malformed_signature"),
        ("bt_signature=integration_public_key%7C00&bt_payload=%FF", "malformed_payload"),
    ] {
        assert_eq!(verdict(&integration(), &[], body.as_bytes()), Err(reason), "{body}");
    }
}

#[test]
fn each_private_key_goes_with_its_own_public_key() {
    let signed = braintree(&[("new", "secret-2")]).sign(TRANSACTION.as_bytes(), NOW).unwrap().body;
    assert_eq!(verdict(&braintree(&[("old", "secret-1"), ("new", "secret-2")]), &[], &signed), Ok(Some(1)));
    assert_eq!(
        verdict(&braintree(&[("new", "secret-1"), ("old", "secret-2")]), &[], &signed),
        Err("wrong_signature")
    );
    assert_eq!(verdict(&braintree(&[("old", "secret-2")]), &[], &signed), Err("no_known_signature"));
}

#[test]
fn a_source_needs_as_many_public_keys_as_private_ones() {
    let built = |secrets: &[&str], options: &[_]| build(&harness::settings(secrets, options)).err();
    let one = [("public_key", json!("public"))];
    assert_eq!(built(&["private"], &one), None);
    assert!(matches!(built(&[], &one), Some(SetupError::NoSecret(_))));
    assert!(matches!(built(&[""], &one), Some(SetupError::BlankSecret)));
    for (secrets, public_key) in [
        (&["a", "b"][..], json!("public")),
        (&["a"], json!(["public", "other"])),
        (&["a"], json!("")),
        (&["a"], json!("a|b")),
        (&["a"], json!(7)),
    ] {
        assert!(matches!(built(secrets, &[("public_key", public_key)]), Some(SetupError::BadOption(_))));
    }
    assert!(matches!(built(&["a"], &[]), Some(SetupError::BadOption(_))));
    assert!(matches!(built(&["a"], &[one[0].clone(), ("x", json!(1))]), Some(SetupError::BadOption(_))));
}

#[test]
fn the_challenge_is_answered() {
    let answer = integration().challenge("bt_challenge=20f9f8ed05f77439fe955c977e4c8a53").unwrap();
    assert_eq!((answer.status, answer.content_type), (200, "text/plain"));
    assert_eq!(answer.body, "integration_public_key|d9b899556c966b3f06945ec21311865d35df3ce4");
}

#[test]
fn only_what_has_the_shape_of_a_challenge_is_signed() {
    for query in [
        "",
        "challenge=20f9f8ed05f77439fe955c977e4c8a53",
        "bt_challenge=",
        "bt_challenge=20f9f8ed05f77439fe9",
        "bt_challenge=20f9f8ed05f77439fe955c977e4c8a53a",
        "bt_challenge=20F9F8ED05F77439FE955C977E4C8A53",
        "bt_challenge=20f9f8ed05f77439fe955c977e4c8a5%0A",
        "bt_challenge=PG5vdGlmaWNhdGlvbj48L25vd",
    ] {
        assert_eq!(integration().challenge(query), None, "{query}");
    }
}

#[test]
fn a_signed_challenge_is_no_notification() {
    let answer = integration().challenge("bt_challenge=20f9f8ed05f77439fe955c977e4c8a53").unwrap().body;
    let form =
        format!("bt_signature={}&bt_payload=20f9f8ed05f77439fe955c977e4c8a53", answer.replace('|', "%7C"));
    let request = WebhookRequest { body: form.as_bytes(), headers: &[], query: "" };
    assert_eq!(integration().verify(&request, NOW), Ok(Some(0)));
    assert_eq!(integration().identify(&request).unwrap_err()[0].code, "invalid");
}

#[test]
fn the_id_is_the_kind_the_object_and_the_moment() {
    let id = |xml: &str| {
        let form = form(xml);
        let ids = integration().identify(&WebhookRequest { body: form.as_bytes(), headers: &[], query: "" });
        ids.map(|ids| ids[0].as_str().to_owned())
    };
    assert_eq!(id(TRANSACTION).unwrap(), "transaction_settled|f1xtur3a|2026-02-03T09:08:07Z");
    let partner = TRANSACTION.replace("<subject>", "<source-merchant-id>m1</source-merchant-id><subject>");
    assert_eq!(id(&partner).unwrap(), "transaction_settled|f1xtur3a|2026-02-03T09:08:07Z|m1");
    let check = "<notification><timestamp>t</timestamp><kind>check</kind><subject><check type=\"boolean\">true</check></subject></notification>";
    assert_eq!(id(check).unwrap(), "check||t");
    for xml in
        ["<notification><kind>check</kind></notification>", "<n><timestamp>t</timestamp></n>", "<n>", "x"]
    {
        assert!(id(xml).is_err(), "{xml}");
    }
}

proptest! {
    #[test]
    fn a_changed_bit_of_the_payload_or_the_signature_is_refused(at in any::<Index>(), bit in 0..8_u8) {
        let form = form(TRANSACTION);
        let mut fields: Vec<Vec<u8>> =
            form_urlencoded::parse(form.as_bytes()).map(|(_, value)| value.into_owned().into_bytes()).collect();
        let before = fields.clone();
        let field = usize::from(at.index(2) == 1);
        let place = at.index(fields[field].len());
        fields[field][place] ^= 1 << bit;
        // Hexadecimal digits may come in either case, and the last line end may be missing.
        prop_assume!(!fields[0].eq_ignore_ascii_case(&before[0]) || fields[1] != before[1]);
        let [signature, payload] =
            [0, 1].map(|place| form_urlencoded::byte_serialize(&fields[place]).collect::<String>());
        let changed = format!("bt_signature={signature}&bt_payload={payload}");
        prop_assert!(verdict(&integration(), &[], changed.as_bytes()).is_err());
    }
}

#[test]
fn nothing_that_may_come_panics() {
    let forms = [form(TRANSACTION), form(SUBSCRIPTION), form(DISPUTE)];
    never_panics(&integration(), &[], &forms.each_ref().map(String::as_str));
}
