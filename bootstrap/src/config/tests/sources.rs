use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::wiring;

const SECRETS: &str = "PAYONCE__SOURCES__PAYMENT__SECRETS";
const SECRETS_FILE: &str = "PAYONCE__SOURCES__PAYMENT__SECRETS_FILE";

/// A file of its own, which is removed with it.
struct TestFile(PathBuf);

impl TestFile {
    fn with(content: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("payonce-secrets-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, content).expect("a file can be written");
        Self(path)
    }

    fn path(&self) -> String {
        self.0.display().to_string()
    }
}

impl Drop for TestFile {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).ok();
    }
}

fn secrets(config: &Config) -> Vec<&str> {
    config.sources["payment"].secrets.iter().map(ExposeSecret::expose_secret).collect()
}

#[test]
fn what_editors_and_shells_append_is_no_part_of_a_secret() {
    for ending in ["\n", "\r\n", " ", "\t", " \r\n\n"] {
        let secret = format!("whsec_c2VjcmV0{ending}");
        assert_eq!(secrets(&load("", &[(SECRETS, &secret)]).unwrap()), ["whsec_c2VjcmV0"], "{ending:?}");
        let file = TestFile::with(&secret);
        assert_eq!(
            secrets(&load("", &[(SECRETS_FILE, &file.path())]).unwrap()),
            ["whsec_c2VjcmV0"],
            "{ending:?}"
        );
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_secret() {
    let file = TestFile::with("\u{feff}whsec_c2VjcmV0\n");
    assert_eq!(secrets(&load("", &[(SECRETS_FILE, &file.path())]).unwrap()), ["whsec_c2VjcmV0"]);
}

#[test]
fn secrets_come_from_files_one_a_line_behind_those_of_the_list() {
    let file = TestFile::with("first\r\nsecond\n");
    let config = load("", &[(SECRETS, "zeroth"), (SECRETS_FILE, &file.path())]).unwrap();
    assert_eq!(secrets(&config), ["zeroth", "first", "second"]);
}

#[test]
fn a_blank_secret_stops_the_start_and_names_the_setting() {
    let told = |found: &[String]| {
        assert!(found[0].contains("sources.payment.secrets has a blank entry"), "{found:#?}");
    };
    for blank in ["", "  ", "\t", "good,", ",good", "good, ,other"] {
        told(&problems("", &[(SECRETS, blank)]));
        told(&problems("environment = \"production\"", &[(SECRETS, blank)]));
    }
    for blank in ["", "\n", "  \r\n", "\t", "\ngood\n", "good\n\nother\n", "good\n \nother\n"] {
        let file = TestFile::with(blank);
        told(&problems("", &[(SECRETS_FILE, &file.path())]));
    }
    told(&problems("[sources.payment]\nsecrets = [\"good\", \"\"]\n", &[]));
}

#[test]
fn no_provider_takes_a_blank_secret() {
    for provider in wiring::provider_names() {
        let file = format!("[sources.payment]\nprovider = \"{provider}\"\nsecrets = [\"good\", \" \"]\n");
        let found = problems(&file, &[]);
        assert!(found[0].contains("sources.payment.secrets has a blank entry"), "{provider}: {found:#?}");
    }
}

#[test]
fn a_missing_secret_stops_the_start_and_names_the_setting() {
    let production = "environment = \"production\"";
    let told = |found: &[String]| {
        let wanted = ["sources.payment.secrets is empty", "sources.payment.enabled = false"];
        assert!(wanted.iter().all(|part| found[0].contains(part)), "{found:#?}");
    };
    told(&problems(production, &[]));
    assert!(load(production, &[(SECRETS, "s")]).is_ok());
    assert!(
        load(
            production,
            &[("PAYONCE__SOURCES__PAYMENT__ENABLED", "false"), ("PAYONCE__SOURCES__SHOP__SECRETS", "s")]
        )
        .is_ok()
    );
    // Only the native source is ever unsigned.
    told(&problems("[sources.payment]\nprovider = \"stripe\"\n", &[]));
}

#[test]
fn a_secrets_file_that_is_missing_stops_the_start() {
    let found = problems("", &[(SECRETS_FILE, "/nowhere/secrets")]);
    assert!(found[0].contains("sources.payment.secrets_file: /nowhere/secrets cannot be read"), "{found:#?}");
}

#[test]
fn a_further_source_has_the_keys_and_defaults_of_the_first() {
    let config = load("[sources.shop-2]\nsecrets = [\"one\", \"two\"]\n", &[]).unwrap();
    let source = &config.sources["shop-2"];
    assert_eq!((source.provider.as_str(), source.secrets.len(), source.tolerance_s), ("native", 2, 300));
    let found = problems("[sources.shop]\nsecret = \"typo\"\n", &[]);
    assert_eq!(found, ["payonce.toml: sources.shop.secret is not a setting"]);
}

#[test]
fn a_source_may_be_named_as_the_section_is() {
    let variables =
        [("PAYONCE__SOURCES__SOURCES__TOLERANCE_S", "7"), ("PAYONCE__SOURCES__SOURCES__ENABLED", "false")];
    assert_eq!(load("", &variables).unwrap().sources["sources"].tolerance_s, 7);
}

#[test]
fn every_problem_of_every_source_is_reported_at_once() {
    let file = "[sources.a]\nprovider = \"acme\"\nmode = \"canary\"\ntolerance_s = 0\n\
                [sources.b]\ntrust = \"canary\"\nsecrets = [\"\"]\n[sources.\"Ö\"]\n";
    let found = problems(file, &[]);
    let wanted = [
        "sources.a.provider is \"acme\"; known are ",
        "sources.a.mode must be \"live\" or \"test\", or empty",
        "sources.a.tolerance_s is 0",
        "sources.b.trust must be \"signature\" or \"confirm\", or empty",
        "sources.b.secrets has a blank entry",
        "sources.\"Ö\": the name ",
    ];
    assert_eq!(found.len(), wanted.len(), "{found:#?}");
    for (found, wanted) in found.iter().zip(wanted) {
        assert!(found.starts_with(wanted) && !found.contains("canary"), "{found}");
    }
}

#[test]
fn a_source_that_is_off_stops_nothing() {
    assert!(load("[sources.off]\nenabled = false\nprovider = \"acme\"\nmode = \"x\"\n", &[]).is_ok());
}

#[test]
fn the_mode_that_takes_effect_is_live_in_production_and_test_elsewhere_unless_it_is_set() {
    for (environment, mode, wanted) in [
        ("production", "", "live"),
        ("development", "", "test"),
        ("production", "test", "test"),
        ("development", "live", "live"),
    ] {
        let file = format!(
            "environment = \"{environment}\"\n[sources.payment]\nmode = \"{mode}\"\nsecrets = [\"s\"]\n"
        );
        let config = load(&file, &[]).unwrap();
        let found = wiring::source_mode(&config.sources["payment"], config.environment).unwrap();
        assert_eq!(found.as_str(), wanted, "{environment} {mode:?}");
    }
}

#[test]
fn options_are_passed_through_and_the_environment_adds_texts() {
    let file = "[sources.off]\nenabled = false\n[sources.off.options]\ntext = \"a\"\nnumber = -3\nrate = 1.5\n\
                on = true\nlist = [\"x\", 1]\ntable = { deep = \"y\", kept = 1 }\n";
    let variables = [
        ("PAYONCE__SOURCES__OFF__OPTIONS__TEXT", "7"),
        ("PAYONCE__SOURCES__OFF__OPTIONS__TABLE__DEEP", "z"),
        ("PAYONCE__SOURCES__OFF__OPTIONS__NEW", "true"),
    ];
    let config = load(file, &variables).unwrap();
    let wanted = serde_json::json!({
        "text": "7", "number": -3, "rate": 1.5, "on": true, "list": ["x", 1],
        "table": {"deep": "z", "kept": 1}, "new": "true",
    });
    assert_eq!(serde_json::Value::Object(config.sources["off"].options.0.clone()), wanted);
    assert!(config.sources["payment"].options.0.is_empty());
}

#[test]
fn an_option_that_the_provider_does_not_know_is_told_by_it() {
    let found = problems("", &[("PAYONCE__SOURCES__PAYMENT__OPTIONS__TYPO", "canary")]);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].starts_with("sources.payment.options: ") && found[0].contains("typo"), "{found:#?}");
    assert!(!found[0].contains("canary"), "{found:#?}");
}

#[test]
fn an_option_is_no_date_and_no_infinity_and_options_are_a_table() {
    let file = "[sources.payment.options]\nwhen = 2024-01-01\nmuch = [inf]\n";
    let rule = "must be a text, a number, true or false, or a list";
    assert_eq!(
        problems(file, &[]),
        [
            format!("payonce.toml: sources.payment.options.much {rule}"),
            format!("payonce.toml: sources.payment.options.when {rule}"),
        ]
    );
    let found = problems("[sources.payment]\noptions = 1\n", &[]);
    assert_eq!(found, ["payonce.toml: sources.payment.options must be a table of settings"]);
    let found = problems("", &[("PAYONCE__SOURCES__PAYMENT__OPTIONS", "canary")]);
    assert_eq!(
        found,
        ["PAYONCE__SOURCES__PAYMENT__OPTIONS: sources.payment.options must be a table of settings"]
    );
}

#[test]
fn debug_output_shows_the_names_of_options_alone() {
    let config = load("[sources.off]\nenabled = false\noptions = { key = \"canary\" }\n", &[]).unwrap();
    let shown = format!("{config:?}");
    assert!(shown.contains("key") && !shown.contains("canary"), "{shown}");
}
