use super::*;

fn wrong(settings: &SourceSettings) -> SetupError {
    build(settings).err().expect("it cannot be set up")
}

#[test]
fn a_source_has_no_secret() {
    let mut settings = settings("1JE4291016473214C", &[]);
    assert!(build(&settings).is_ok());
    settings.secrets = vec!["secret".into()];
    assert!(matches!(wrong(&settings), SetupError::BadSecret(_)));
}

#[test]
fn a_source_needs_the_id_of_its_own_webhook() {
    for id in ["", " ", "1JE 4291016473214C", "1JE4291016473214C|1", "https://shop.example/webhooks/paypal"] {
        assert!(matches!(wrong(&settings(id, &[])), SetupError::BadOption(_)), "{id}");
    }
    assert!(matches!(wrong(&harness::settings(&[], &[])), SetupError::BadOption(_)));
    assert!(matches!(wrong(&settings("1JE", &[("other", json!(1))])), SetupError::BadOption(_)));
}

#[test]
fn the_simulators_id_is_taken_only_on_request_and_never_in_production() {
    let allowed = [("allow_simulator", json!(true))];
    assert!(matches!(wrong(&settings(SIMULATOR, &[])), SetupError::BadOption(_)));
    assert!(build(&settings(SIMULATOR, &allowed)).is_ok());
    for (id, further) in [(SIMULATOR, &allowed[..]), (SIMULATOR, &[]), ("1JE4291016473214C", &allowed)] {
        let settings = SourceSettings { production: true, ..settings(id, further) };
        assert!(matches!(wrong(&settings), SetupError::BadOption(_)));
    }
}

#[test]
fn further_intermediates_are_certificates_in_pem() {
    let pem = include_str!("../fixtures/test-good.pem");
    assert!(build(&settings("1JE", &[("intermediates", json!(pem))])).is_ok());
    for text in ["no certificate", "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n"] {
        assert!(matches!(
            wrong(&settings("1JE", &[("intermediates", json!(text))])),
            SetupError::BadOption(_)
        ));
    }
}

#[test]
fn the_longer_tolerance_counts_for_the_past() {
    let sent = sent_at(&known::SALE_2015);
    let (headers, body) = (headers(&known::SALE_2015), known::SALE_2015.body);
    let judged = |tolerance_s: u64, age: u64| {
        let settings = settings("1JE", &[("tolerance_s", json!(tolerance_s))]);
        let paypal = pack(&settings, Arc::new(Stub::default())).unwrap();
        let request = WebhookRequest { body, headers: &headers, query: "" };
        paypal.verify(&request, sent.plus(Duration::from_secs(age)))
    };
    // As far as the certificate, which is not known here.
    assert_eq!(judged(3_600, 3_600), Err("unknown_certificate"));
    assert_eq!(judged(3_600, 3_601), Err("signature_too_old"));
    assert_eq!(judged(0, 300), Err("unknown_certificate"));
    assert_eq!(judged(0, 301), Err("signature_too_old"));
}

#[test]
fn only_paypal_can_sign() {
    let paypal = build(&settings("1JE", &[])).unwrap();
    assert!(paypal.sign(b"{}", harness::NOW).unwrap_err().0.contains("private key"));
    assert_eq!(paypal.describe().secrets, 0);
}

#[test]
fn the_id_is_in_the_body() {
    let (paypal, _) = source(&known::SALE_2015, "1JE");
    let ids = |body: &[u8]| {
        let ids = paypal.identify(&WebhookRequest { body, headers: &[], query: "" });
        ids.map(|ids| ids[0].as_str().to_owned())
    };
    assert_eq!(ids(known::SALE_2015.body).unwrap(), "WH-0G2756385H040842W-5Y612302CV158622M");
    for body in [&b"{}"[..], b"[]", b"", b"{ something invalid }", br#"{"id":"a\nb"}"#, b"\xff"] {
        assert!(ids(body).is_err());
    }
}

#[test]
fn nothing_that_may_come_panics() {
    let (paypal, _) = source(&known::SALE_2015, "1JE");
    let payload = std::str::from_utf8(known::SIM_2024_COMPLETED.body).unwrap();
    harness::never_panics(&paypal, &transmission::HEADERS, &[payload]);
}
