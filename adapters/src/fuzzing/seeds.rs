//! The fixtures as inputs of the targets. With `PAYONCE_WRITE_CORPUS=FOLDER` the test writes them there, a folder for
//! each target, for the fuzzer to begin with.

use std::path::Path;

use super::{TARGETS, run};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/payloads");
const CERTIFICATE: &[u8] = include_bytes!("../providers/paypal/fixtures/live-2024.pem");
const ISSUER: &[u8] = include_bytes!("../providers/paypal/certificates/digicert-sha2-ev-server-ca.pem");

/// A target and an input of it.
type Seed = (&'static str, Vec<u8>);

/// The targets that take a fixture, and the numbers of the sources that it may come to.
fn takers(path: &str) -> (&'static str, &'static [u8]) {
    match path {
        path if path.starts_with("stripe/") => ("stripe", &[0]),
        path if path.starts_with("adyen/platform/") => ("adyen", &[2]),
        path if path.starts_with("adyen/") => ("adyen", &[0, 1]),
        path if path.starts_with("paypal/") => ("paypal", &[0]),
        path if path.starts_with("chapa/") => ("packs", &[0, 1]),
        path if path.starts_with("checkout/") => ("packs", &[2]),
        path if path.starts_with("coinbase-commerce/") => ("packs", &[3]),
        path if path.starts_with("flutterwave/v4/") => ("packs", &[5]),
        path if path.starts_with("flutterwave/") => ("packs", &[4]),
        path if path.starts_with("github/") => ("packs", &[6]),
        path if path.starts_with("gocardless/") => ("packs", &[7]),
        path if path.starts_with("mercado-pago/") => ("packs", &[8]),
        path if path.starts_with("mollie/next-gen") => ("packs", &[10]),
        path if path.starts_with("mollie/") => ("packs", &[9]),
        path if path.starts_with("mpesa/") => ("packs", &[11]),
        path if path.starts_with("paystack/") => ("packs", &[12]),
        path if path.starts_with("razorpay/") => ("packs", &[13]),
        path if path.starts_with("shopify/") => ("packs", &[14]),
        path if path.starts_with("square/") => ("packs", &[15]),
        path if path.starts_with("xendit/") => ("packs", &[17]),
        path => panic!("{path}: a fixture of a provider that has no target"),
    }
}

fn signed(which: u8, body: &[u8]) -> Vec<u8> {
    [&[1, which, 0, 40, 3], body].concat()
}

/// Without headers, so that the body begins after as many line ends as there can be headers.
fn unsigned(which: u8, body: &[u8]) -> Vec<u8> {
    [&[0, which], "\n".repeat(8).as_bytes(), body].concat()
}

fn fixtures(folder: &Path, seeds: &mut Vec<Seed>) {
    for entry in std::fs::read_dir(folder).expect("the fixtures are there") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            fixtures(&path, seeds);
            continue;
        }
        let body = std::fs::read(&path).expect("a readable file");
        let below = path.strip_prefix(FIXTURES).expect("below the root").to_str().expect("a plain name");
        let (target, sources) = takers(below);
        for which in sources {
            seeds.push((target, signed(*which, &body)));
            seeds.push((target, unsigned(*which, &body)));
        }
    }
}

/// What no fixture has.
fn written() -> Vec<Seed> {
    let braintree = "<notification><kind>subscription_charged_successfully</kind><timestamp type=\"datetime\">\
        2024-01-02T03:04:05Z</timestamp><subject><subscription><id>s1</id><transactions type=\"array\"><transaction>\
        <id>t1</id><status>submitted_for_settlement</status><amount>49.99</amount><currency-iso-code>USD\
        </currency-iso-code></transaction></transactions></subscription></subject></notification>";
    let dispute = "<notification><kind>dispute_opened</kind><timestamp>2024-01-02T03:04:05Z</timestamp><subject><dispute>\
        <id>d1</id><amount>1.00</amount><currency-iso-code>EUR</currency-iso-code><transaction><id>t1</id></transaction>\
        </dispute></subject></notification>";
    let native = br#"{"id":"evt_1","type":"payment_intent.succeeded","data":{"payment_intent":"pi_1","amount_cents":4999,"currency":"usd","status":"succeeded"}}"#;
    let custom = br#"{"id":"e1","kind":"paid","payment":"p1","amount":"4.99","currency":"EUR","account":"a1","capture":"c1","refund":"r1","list":[{"dispute":"d1"}],"at":1700000000}"#;
    let options = br#"{"signed":"{timestamp}.{body}","timestamp_header":"X-T","payment":"/payment","amount":"/amount","amount_unit":"minor","currency_code":"EUR","kinds":{"paid":"captured"}}"#;
    let mut seeds: Vec<Seed> = vec![
        ("braintree", signed(0, braintree.as_bytes())),
        ("braintree", signed(0, dispute.as_bytes())),
        ("xml", braintree.as_bytes().to_vec()),
        ("xml", b"<?xml version=\"1.0\"?><a x=\"1\"><!-- --><b>&amp;&#65;</b><c/><![CDATA[<]]></a>".to_vec()),
        ("native", signed(0, native)),
        ("native", unsigned(0, native)),
        ("custom_options", [&options[..], b"\n", custom].concat()),
        ("custom_options", [b"{\"signed\":\"{url}{body}\",\"url\":\"u\"}\n", &custom[..]].concat()),
        ("packs", signed(16, native)),
        ("certificate", [&[1], CERTIFICATE].concat()),
        ("certificate", [&[1], ISSUER].concat()),
        ("certificate", [&[1], CERTIFICATE, ISSUER].concat()),
        ("certificate", b"\0https://api.paypal.com/v1/notifications/certs/CERT-1#a".to_vec()),
        ("certificate", b"\0https://user@api.paypal.com:8443/x".to_vec()),
        ("cloud_event", b"a/b/c\npayment.succeeded\nshop\npi_1\nshop\ncaptured:single\n4999\nUSD\n1700000000000000".to_vec()),
        ("wire", b"0l1\n1sshop\n2sevt_1\n3l1700000000000000\n4ax-a\tb\n5l2\n6s[{\"at\":1,\"class\":\"a\",\"error\":\"b\"}]\n7s00-1\ncapplication/json\n{}".to_vec()),
        ("wire", b"0h1\n1sshop\nnothing".to_vec()),
    ];
    for which in 0..4 {
        seeds.push(("custom", signed(which, custom)));
        seeds.push(("custom", unsigned(which, custom)));
    }
    for text in ["4999", "\"49.99\"", "10.00", "-5.5", "92233720368547758.07", "\"1e3\"", "0.0001"] {
        seeds.extend((0..12).map(|choice| ("amount", [&[choice], text.as_bytes()].concat())));
    }
    for text in ["2024-01-02T03:04:05.123456Z", "2024-01-01T20:04:05-07:00", "1700000000", "1700000000123"] {
        seeds.push(("moment", text.as_bytes().to_vec()));
    }
    for text in [
        "\x0000ffA9",
        "\x00AQID",
        "\x001700000000",
        "\x01sha256=00ff\nv1=AQID",
        "\x02first\nsecond\nother",
        "\x03whsec_c2VjcmV0c2VjcmV0c2VjcmV0\nmsg_1\n1700000000\nv1,AQID v1a,AQID\n{}",
        "\x04a|b\nc\\\nd",
        "\x05/a/0/b~1c\n{\"a\":[{\"b/c\":1}]}",
        "\x05{id}.{timestamp}.{header:x-id}{url}{body}",
    ] {
        seeds.push(("signature", text.as_bytes().to_vec()));
    }
    seeds
}

#[test]
fn every_target_holds_over_the_fixtures() {
    let mut seeds = written();
    fixtures(Path::new(FIXTURES), &mut seeds);
    for (target, _) in TARGETS {
        assert!(seeds.iter().any(|(of, _)| of == target), "{target} has no input to begin with");
    }
    let corpus = std::env::var_os("PAYONCE_WRITE_CORPUS");
    for (number, (target, data)) in seeds.iter().enumerate() {
        run(target, data);
        if let Some(corpus) = &corpus {
            let folder = Path::new(corpus).join(target);
            std::fs::create_dir_all(&folder).expect("the folder can be made");
            std::fs::write(folder.join(format!("seed-{number}")), data).expect("the seed can be written");
        }
    }
}

#[test]
fn every_target_is_a_file_of_the_fuzzer() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/fuzz_targets");
    for (target, _) in TARGETS {
        let file = folder.join(format!("{target}.rs"));
        let text =
            std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        assert!(text.contains(&format!("run(\"{target}\"")), "{target}");
    }
}
