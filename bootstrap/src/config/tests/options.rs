//! Every option of every provider is the same from a file and from the environment, whose values are all texts.

use application::ports::provider::SourceDescription;

use super::*;
use crate::wiring;

const INTERMEDIATE: &str =
    include_str!("../../../../adapters/src/providers/paypal/certificates/digicert-ev-rsa-ca-g2.pem");
/// A secret in the form of every provider.
const SECRET: &str = "00112233445566778899aabbccddeeff";
/// The webhook id of PayPal's simulator, which only `allow_simulator` lets through.
const SIMULATOR: &str = "WEBHOOK_ID";

/// A source with options, as in a file and as in the environment.
struct Case {
    provider: &'static str,
    secrets: &'static [&'static str],
    file: String,
    environment: Vec<(&'static str, String)>,
}

fn case(
    provider: &'static str,
    secrets: &'static [&'static str],
    file: &str,
    environment: &[(&'static str, &str)],
) -> Case {
    let environment = environment.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
    Case { provider, secrets, file: file.to_owned(), environment }
}

impl Case {
    fn head(&self) -> String {
        format!("[sources.shop]\nprovider = \"{}\"\nsecrets = {:?}\n", self.provider, self.secrets)
    }

    fn by_file(&self) -> Result<Config, ConfigProblems> {
        load(&format!("{}[sources.shop.options]\n{}\n", self.head(), self.file), &[])
    }

    fn by_environment(&self) -> Result<Config, ConfigProblems> {
        let variables: Vec<(String, String)> = self
            .environment
            .iter()
            .map(|(name, text)| (format!("PAYONCE__SOURCES__SHOP__OPTIONS__{name}"), text.clone()))
            .collect();
        let variables: Vec<(&str, &str)> = variables.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
        load(&self.head(), &variables)
    }
}

fn cases() -> Vec<Case> {
    let key = &[SECRET][..];
    let certificate = INTERMEDIATE.trim_end();
    vec![
        case("adyen", key, "platform = true", &[("PLATFORM", "true")]),
        case(
            "adyen",
            key,
            "platform = false\ncapture = \"manual\"",
            &[("PLATFORM", "false"), ("CAPTURE", "manual")],
        ),
        case("braintree", key, "public_key = \"123\"", &[("PUBLIC_KEY", "123")]),
        case("braintree", &["a", "b"], "public_key = [\"one\", \"two\"]", &[("PUBLIC_KEY", "one,two")]),
        case("chapa", key, "custom_webhook = true", &[("CUSTOM_WEBHOOK", "true")]),
        case("flutterwave", key, "scheme = \"v3\"", &[("SCHEME", "v3")]),
        case(
            "mollie",
            &[],
            "scheme = \"classic\"\nrequest_id_header = \"x-request-id\"",
            &[("SCHEME", "classic"), ("REQUEST_ID_HEADER", "x-request-id")],
        ),
        case(
            "mollie",
            key,
            "scheme = \"next-gen\"\ncounts = \"payments\"",
            &[("SCHEME", "next-gen"), ("COUNTS", "payments")],
        ),
        case(
            "paypal",
            &[],
            &format!(
                "webhook_id = \"{SIMULATOR}\"\nallow_simulator = true\ntolerance_s = 600\n\
                 intermediates = '''\n{certificate}'''"
            ),
            &[
                ("WEBHOOK_ID", SIMULATOR),
                ("ALLOW_SIMULATOR", "true"),
                ("TOLERANCE_S", "600"),
                ("INTERMEDIATES", certificate),
            ],
        ),
        case(
            "square",
            key,
            "notification_url = \"https://example.com/hooks\"",
            &[("NOTIFICATION_URL", "https://example.com/hooks")],
        ),
        custom_hash(),
        case(
            "custom",
            key,
            "algorithm = \"token\"\nsignature_header = \"X-Token\"\nid = \"/id\"\nkind = \"/kind\"",
            &[("ALGORITHM", "token"), ("SIGNATURE_HEADER", "X-Token"), ("ID", "/id"), ("KIND", "/kind")],
        ),
    ]
}

/// All that a custom sender can have, but for `currency_code`, which excludes `currency`.
fn custom_hash() -> Case {
    const OPTIONS: [(&str, &str); 22] = [
        ("algorithm", "hmac-sha512"),
        ("signature_header", "X-Sig"),
        ("signature_prefix", "v1="),
        ("signature_separator", ";"),
        ("encoding", "base64"),
        ("signed", "{url}.{timestamp}.{body}"),
        ("url", "https://example.com/hooks"),
        ("timestamp_header", "X-Sig-Time"),
        ("timestamp_prefix", "t="),
        ("timestamp_format", "unix-ms"),
        ("secret_encoding", "hex"),
        ("payment", "/payment"),
        ("amount", "/amount"),
        ("amount_unit", "minor"),
        ("currency", "/currency"),
        ("merchant", "/account"),
        ("capture", "/capture"),
        ("refund", "/refund"),
        ("dispute", "/dispute"),
        ("occurred_at", "/at"),
        ("time_format", "rfc3339"),
        ("answer_body", "123"),
    ];
    let mut file: String =
        OPTIONS.iter().fold(String::new(), |file, (name, text)| file + &format!("{name} = \"{text}\"\n"));
    file += "id = [\"/id\", \"header:X-Change\"]\nkind = [\"/object\", \"/action\"]\n\
             kinds = { \"a=b|paid\" = \"captured\", \"c|lost\" = \"dispute_lost\" }\n";
    let upper = |name: &str| &*name.to_ascii_uppercase().leak();
    let mut environment: Vec<(&'static str, String)> =
        OPTIONS.iter().map(|(name, text)| (upper(name), (*text).to_owned())).collect();
    environment.extend([
        ("ID", "/id,header:X-Change".to_owned()),
        ("KIND", "/object,/action".to_owned()),
        ("KINDS", "a=b|paid=captured, c|lost=dispute_lost".to_owned()),
    ]);
    Case { provider: "custom", secrets: &[SECRET], file, environment }
}

fn described(config: &Config) -> SourceDescription {
    wiring::source_provider("shop", &config.sources["shop"], config.environment)
        .expect("it was checked")
        .describe()
}

#[test]
fn every_option_is_the_same_from_a_file_and_from_the_environment() {
    for case in cases() {
        let file = case.by_file().unwrap_or_else(|error| panic!("{}: {error}", case.provider));
        let environment = case.by_environment().unwrap_or_else(|error| panic!("{}: {error}", case.provider));
        assert_eq!(described(&file), described(&environment), "{}", case.provider);
    }
}

#[test]
fn a_switch_from_the_environment_takes_effect() {
    for (provider, name) in [("adyen", "PLATFORM"), ("chapa", "CUSTOM_WEBHOOK")] {
        let source = |text: &'static str| {
            described(&case(provider, &[SECRET], "", &[(name, text)]).by_environment().unwrap())
        };
        assert_ne!(source("true"), source("false"), "{provider}");
    }
}

#[test]
fn a_list_of_kinds_from_the_environment_takes_effect() {
    let mut lacking = custom_hash();
    lacking.environment.retain(|(name, _)| *name != "DISPUTE");
    let ConfigProblems(found) = lacking.by_environment().expect_err("a kind needs it");
    assert_eq!(found, ["sources.shop.options: dispute is missing: something in kinds needs it"]);
}

#[test]
fn a_text_that_looks_like_a_number_stays_a_text() {
    let built = |case: Case| {
        let config = case.by_environment().unwrap();
        wiring::source_provider("shop", &config.sources["shop"], config.environment).unwrap()
    };
    assert_eq!(built(custom_hash()).answer().unwrap().body, "123");
    let braintree = built(case("braintree", &[SECRET], "", &[("PUBLIC_KEY", "123")]));
    let answer = braintree.challenge("bt_challenge=20f9f8ed05f77439fe955c977e4c8a53").unwrap();
    assert!(answer.body.starts_with("123|"), "{}", answer.body);
}

#[test]
fn an_option_that_cannot_be_read_is_told_by_its_name_and_without_its_value() {
    for (provider, further, name, wanted) in [
        ("adyen", &[][..], "PLATFORM", "platform must be true or false"),
        ("adyen", &[], "CAPTURE", "capture must be one of: automatic, manual"),
        ("chapa", &[], "CUSTOM_WEBHOOK", "custom_webhook must be true or false"),
        ("flutterwave", &[], "SCHEME", "scheme must be one of: v3, v4"),
        ("paypal", &[("WEBHOOK_ID", "1JE")], "ALLOW_SIMULATOR", "allow_simulator must be true or false"),
        ("paypal", &[("WEBHOOK_ID", "1JE")], "TOLERANCE_S", "tolerance_s must be a whole number, 0 or more"),
        (
            "paypal",
            &[("WEBHOOK_ID", "1JE")],
            "INTERMEDIATES",
            "intermediates is not a list of certificates in PEM",
        ),
        ("square", &[], "NOTIFICATION_URL", "notification_url is not "),
        ("mollie", &[], "SCHEME", "scheme must be \"classic\" or \"next-gen\""),
        ("custom", &[], "ALGORITHM", "algorithm must be one of: "),
    ] {
        let secrets: &[&str] = if provider == "paypal" { &[] } else { &[SECRET] };
        let mut wrong = case(provider, secrets, "", further);
        wrong.environment.push((name, "canary".to_owned()));
        if provider == "custom" {
            wrong.environment.extend([("ID", "/id".to_owned()), ("KIND", "/kind".to_owned())]);
        }
        let ConfigProblems(found) = wrong.by_environment().expect_err("a problem");
        assert_eq!(found.len(), 1, "{provider}: {found:#?}");
        assert!(found[0].starts_with(&format!("sources.shop.options: {wanted}")), "{provider}: {found:#?}");
        assert!(!found[0].contains("canary"), "{provider}: {found:#?}");
    }
}
