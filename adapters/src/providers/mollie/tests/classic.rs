//! Classic webhooks: hints by payment.

use super::*;

const FORM: &str = "id=tr_fixture0002";

fn classic(request_id_header: Option<&str>) -> Classic {
    Classic::new(&harness::settings(&[], &[]), request_id_header).unwrap()
}

fn ids(pack: &Classic, form: &[u8], further: &[(&str, &[u8])]) -> Result<Vec<String>, String> {
    let headers = headers(further);
    match pack.identify(&WebhookRequest { body: form, headers: &headers, query: "" }) {
        Ok(ids) => Ok(ids.iter().map(|id| id.as_str().to_owned()).collect()),
        Err(problems) => Err(problems[0].message.clone()),
    }
}

#[test]
fn the_id_in_the_form_is_the_event() {
    let pack = classic(None);
    assert_eq!(ids(&pack, FORM.as_bytes(), &[]).unwrap(), ["tr_fixture0002"]);
    assert_eq!(ids(&pack, b"testmode=1&id=tr%5F1+2", &[]).unwrap(), ["tr_1 2"]);
}

#[test]
fn a_form_without_an_id_is_malformed() {
    for form in [&b""[..], b"id=", b"ID=tr_1", b"{\"id\":\"tr_1\"}", b"id=%00", b"\xff", &[b'a'; 5_000]] {
        assert!(ids(&classic(None), form, &[]).is_err(), "{}", String::from_utf8_lossy(form));
    }
}

#[test]
fn notices_of_one_payment_are_one_event_where_nothing_numbers_them() {
    let pack = classic(None);
    let header: &[(&str, &[u8])] = &[("x-request-id", b"r1")];
    assert_eq!(ids(&pack, FORM.as_bytes(), header), ids(&pack, FORM.as_bytes(), &[]));
}

#[test]
fn notices_that_a_proxy_numbers_are_an_event_each() {
    let pack = classic(Some("X-Request-Id"));
    let of = |number: &[u8]| ids(&pack, FORM.as_bytes(), &[("x-request-id", number)]);
    assert_eq!(of(b"r1").unwrap(), ["tr_fixture0002|r1"]);
    assert_eq!(of(b"r2").unwrap(), ["tr_fixture0002|r2"]);
    for odd in [&b""[..], b"\xff", b"a\tb"] {
        assert!(of(odd).is_err());
    }
    let error = ids(&pack, FORM.as_bytes(), &[]).unwrap_err();
    assert_eq!(error, "came without the header of request_id_header");
}

#[test]
fn a_notice_is_a_hint_and_nothing_more() {
    let event = harness::translated(&classic(None), FORM);
    assert_eq!(event.effect, Effect::Nothing(NoEffect::Unconfirmed));
    assert_eq!((event.kind.as_str(), event.live, event.occurred_at), ("notice", None, None));
}

#[test]
fn a_made_up_notice_is_taken() {
    for header in [None, Some("x-request-id")] {
        let pack = classic(header);
        let signed = pack.sign(FORM.as_bytes(), NOW).unwrap();
        let headers: Vec<_> =
            signed.headers.into_iter().map(|(name, value)| (name, value.into_bytes())).collect();
        let request = WebhookRequest { body: &signed.body, headers: &headers, query: "" };
        assert_eq!(pack.verify(&request, NOW), Ok(None));
        assert_eq!(pack.identify(&request).unwrap().len(), 1);
        assert!(pack.sign(b"{}", NOW).is_err());
    }
}

#[test]
fn nothing_that_may_come_panics() {
    never_panics(&classic(Some("x-request-id")), &["x-request-id"], &[FORM, "a=b&id=tr_1"]);
}
