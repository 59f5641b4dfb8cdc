use super::*;

const ROOT: &[u8] = include_bytes!("../fixtures/test-root.pem");
const GOOD: &[u8] = include_bytes!("../fixtures/test-good.pem");
const LIVE_2024: &[u8] = include_bytes!("../fixtures/live-2024.pem");
const LIVE_NAME: &str = "messageverificationcerts.paypal.com";

/// In the year 2030.
const NOW: Timestamp = Timestamp::from_micros(1_900_000_000_000_000);
/// In August 2024.
const AUGUST_2024: Timestamp = Timestamp::from_micros(1_722_600_000_000_000);

fn test_issuers() -> TrustedIssuers {
    TrustedIssuers::of(Vec::new(), ROOT, Vec::new()).unwrap()
}

fn judged(pem: &[u8], name: &str, now: Timestamp) -> Result<(), Useless> {
    test_issuers().judge(pem, name, now).map(drop)
}

#[test]
fn a_certificate_of_paypals_name_and_a_known_root_is_trusted() {
    assert_eq!(judged(GOOD, LIVE_NAME, NOW), Ok(()));
    // With others after it, as a chain.
    assert_eq!(judged(&[GOOD, ROOT].concat(), LIVE_NAME, NOW), Ok(()));
}

#[test]
fn another_name_is_not_trusted() {
    assert_eq!(judged(GOOD, "messageverificationcerts.sandbox.paypal.com", NOW), Err(Useless::Untrusted));
    for pem in
        [&include_bytes!("../fixtures/test-evil.pem")[..], include_bytes!("../fixtures/test-wildcard.pem")]
    {
        assert_eq!(judged(pem, LIVE_NAME, NOW), Err(Useless::Untrusted));
    }
}

#[test]
fn another_issuer_is_not_trusted() {
    let own = include_bytes!("../fixtures/test-self.pem");
    assert_eq!(judged(own, LIVE_NAME, NOW), Err(Useless::Untrusted));
    let public = TrustedIssuers::public("").unwrap();
    assert_eq!(public.judge(GOOD, LIVE_NAME, NOW).map(drop), Err(Useless::Untrusted));
    // A root that came along with the answer is none.
    let with_root = [own, ROOT].concat();
    assert_eq!(public.judge(&with_root, LIVE_NAME, NOW).map(drop), Err(Useless::Untrusted));
}

#[test]
fn a_key_of_another_algorithm_is_not_trusted() {
    assert_eq!(judged(include_bytes!("../fixtures/test-ec.pem"), LIVE_NAME, NOW), Err(Useless::Untrusted));
}

#[test]
fn a_certificate_is_trusted_in_its_own_time_only() {
    let public = TrustedIssuers::public("").unwrap();
    let key = public.judge(LIVE_2024, LIVE_NAME, AUGUST_2024).unwrap();
    assert_eq!(public.judge(LIVE_2024, LIVE_NAME, NOW).map(drop), Err(Useless::Untrusted));
    assert_eq!(
        public.judge(LIVE_2024, LIVE_NAME, Timestamp::from_micros(0)).map(drop),
        Err(Useless::Untrusted)
    );
    assert_eq!(
        public.judge(LIVE_2024, LIVE_NAME, Timestamp::from_micros(-1)).map(drop),
        Err(Useless::Untrusted)
    );
    assert!(key.is_valid(AUGUST_2024) && !key.is_valid(NOW) && !key.is_valid(Timestamp::from_micros(0)));
}

#[test]
fn paypals_issuers_are_known_without_a_chain_in_the_answer() {
    let public = TrustedIssuers::public("").unwrap();
    for pem in INTERMEDIATES {
        let issuer = certificates(pem).unwrap().remove(0);
        let (_, parsed) = X509Certificate::from_der(&issuer).unwrap();
        assert!(parsed.is_ca() && parsed.validity().not_after.timestamp() > AUGUST_2024.as_secs());
        // Each is itself issued by one of the roots.
        let end = webpki::EndEntityCert::try_from(&issuer);
        assert!(end.is_ok() && public.roots.iter().any(|root| root.subject.as_ref() == issuer_of(&parsed)));
    }
}

fn issuer_of<'a>(certificate: &'a X509Certificate<'a>) -> &'a [u8] {
    // A trust anchor's subject is the content of the sequence, without its head of two bytes.
    &certificate.issuer().as_raw()[2..]
}

#[test]
fn what_is_no_certificate_is_unreadable() {
    let noise: &[&[u8]] = &[
        b"",
        b"<html>out of order</html>",
        b"-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n",
        b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        b"-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n",
        b"\xff\xfe",
    ];
    for pem in noise {
        assert_eq!(judged(pem, LIVE_NAME, NOW), Err(Useless::Unreadable));
    }
}

#[test]
fn a_signature_is_of_its_message_and_key() {
    let key = test_issuers().judge(GOOD, LIVE_NAME, NOW).unwrap();
    let signature = crate::providers::signing::base64(SIGNATURE).unwrap();
    assert!(key.signs(b"a message", &signature));
    assert!(!key.signs(b"another message", &signature));
    let other = TrustedIssuers::public("").unwrap().judge(LIVE_2024, LIVE_NAME, AUGUST_2024).unwrap();
    assert!(!other.signs(b"a message", &signature));
    for length in [0, 1, 255, 257, 1_000] {
        assert!(!key.signs(b"a message", &vec![0; length]));
    }
}

/// Over `a message`, by the key of the good certificate, which is not kept.
const SIGNATURE: &[u8] = b"n4EsqJwe8UpElrX1Ps4VNOCfzGbWXoh4+6H1tXnfHWBeNItjdQkhXj36WIJNkYFkw+/vN/3h8tNe5mq5zL3iHPKNbiHVJAyX1OnO3IrPvgaqBK/kUSgODiSEKFFaJPEKeKHlnZAa7FDyHEeBYIq0MIy1MR/SFC6gqgvdkya6Us5/xKUirZdFbfsAiuCnAXYVGhf0ml6fGK+hPWfsXJJY1CHqSxUDQkKjUZv1Vh6eeEx/EJ8sNg0ukkww0pOEJQi6vNDKyRX0HgXW9OJtO5DrutX+9LfZ997r4pjW3Cdp67OSvw7yHFxdX3FY2TYGzlTAvYgcEVOiOz0tRRNv+3HgeA==";
