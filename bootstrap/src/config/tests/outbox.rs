use super::*;
use crate::config::DestinationKind;

fn active(config: &Config) -> Vec<&str> {
    config.active_destinations().map(|(name, _)| name).collect()
}

#[test]
fn with_rabbitmq_everything_is_announced_at_its_exchange_by_default() {
    let config = load("", &[]).unwrap();
    assert_eq!(active(&config), ["events"]);
    assert_eq!(config.destinations["events"].kind(), Some(DestinationKind::Exchange));
}

#[test]
fn with_the_embedded_queue_there_is_no_destination_by_default() {
    let config = Config::from_layers(None, std::iter::empty()).unwrap();
    assert!(active(&config).is_empty());
    let file = "[destinations.shop]\nurl = \"https://shop.example/hook\"\n";
    let config = Config::from_layers(Some(("payonce.toml", file)), std::iter::empty()).unwrap();
    assert_eq!(active(&config), ["shop"]);
}

#[test]
fn a_further_destination_has_the_keys_and_defaults_of_the_first() {
    let variables = [
        ("PAYONCE__DESTINATIONS__SHOP__URL", "https://shop.example/hook"),
        ("PAYONCE__DESTINATIONS__SHOP__KINDS", "payment.succeeded,payout.*"),
        ("PAYONCE__DESTINATIONS__EVENTS__ENABLED", "false"),
    ];
    let config = load("", &variables).unwrap();
    assert_eq!(active(&config), ["shop"]);
    let shop = &config.destinations["shop"];
    assert_eq!((shop.kinds.len(), shop.attempts_max, shop.timeout_ms), (2, 100, 10_000));
    let found = problems("[destinations.shop]\nuri = \"typo\"\n", &[]);
    assert_eq!(found, ["payonce.toml: destinations.shop.uri is not a setting"]);
}

#[test]
fn a_destination_that_forgets_its_url_is_told_that_the_exchange_is_taken() {
    let found = problems("[destinations.shop]\nkinds = [\"payout.*\"]\n", &[]);
    assert!(found[0].starts_with("destinations.shop.url is \"amqp:\", as that of destinations.events is"));
    let file = "[destinations.shop]\nkinds = [\"payout.*\"]\n";
    let error = Config::from_layers(Some(("payonce.toml", file)), std::iter::empty()).unwrap_err();
    assert!(error.0[0].contains("needs RabbitMQ"), "{error}");
}

#[test]
fn a_url_that_is_of_no_use_is_told_without_being_repeated() {
    for url in ["", "canary", "amqp://u:canary@h", "ftp://canary/", "https://u:canary@h/", "https://"] {
        let found = problems(&format!("[destinations.shop]\nurl = \"{url}\"\n"), &[]);
        assert!(found[0].starts_with("destinations.shop"), "{found:#?}");
        assert!(!format!("{found:?}").contains("canary"), "{found:#?}");
    }
}

#[test]
fn production_demands_https_and_a_secret() {
    let source = ("PAYONCE__SOURCES__PAYMENT__SECRETS", "s");
    let file = "environment = \"production\"\n[destinations.shop]\nurl = \"http://shop.example/hook\"\n";
    let found = problems(file, &[source]);
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(found[0].contains("destinations.shop.url is http:"), "{found:#?}");
    assert!(found[1].contains("destinations.shop.secrets is empty"), "{found:#?}");
    let file = "environment = \"production\"\n[destinations.shop]\nurl = \"https://shop.example/hook\"\n";
    assert!(load(file, &[source, ("PAYONCE__DESTINATIONS__SHOP__SECRETS", "t")]).is_ok());
    // Outside of it neither is needed.
    assert!(load("[destinations.shop]\nurl = \"http://127.0.0.1:1/hook\"\n", &[]).is_ok());
}

#[test]
fn secrets_that_cannot_sign_stop_the_start() {
    for secret in ["", "good,", "whsec_!", "whsk_AAAA"] {
        let secrets = ("PAYONCE__DESTINATIONS__SHOP__SECRETS", secret);
        let found = problems("[destinations.shop]\nurl = \"https://shop.example/hook\"\n", &[secrets]);
        assert!(found[0].starts_with("destinations.shop has a secret"), "{found:#?}");
    }
}

#[test]
fn secrets_come_from_a_file_too() {
    let path = std::env::temp_dir().join(format!("payonce-destination-{}", std::process::id()));
    std::fs::write(&path, "first\r\nsecond\n").unwrap();
    let named = path.display().to_string();
    let variables = [
        ("PAYONCE__DESTINATIONS__SHOP__URL", "https://shop.example/hook"),
        ("PAYONCE__DESTINATIONS__SHOP__SECRETS_FILE", &named),
    ];
    let config = load("", &variables).unwrap();
    std::fs::remove_file(path).unwrap();
    let secrets = config.destinations["shop"].secrets.iter().map(ExposeSecret::expose_secret);
    assert_eq!(secrets.collect::<Vec<_>>(), ["first", "second"]);
}

#[test]
fn numbers_names_and_patterns_are_checked() {
    let file = "[outbox]\nbatch_max = 0\nlease_s = 0\nretention_s = 60\n\
                [destinations.Shop]\nurl = \"https://h/\"\nattempts_max = 0\nkinds = [\"*.paid\"]\n";
    let found = problems(file, &[]);
    for setting in [
        "outbox.batch_max",
        "outbox.lease_s",
        "outbox.retention_s",
        "destinations.\"Shop\"",
        "Shop.attempts_max",
        "Shop.kinds",
    ] {
        assert!(found.iter().any(|problem| problem.contains(setting)), "{setting} in {found:#?}");
    }
    assert_eq!(found.len(), 6, "{found:#?}");
}

#[test]
fn a_destination_that_is_switched_off_needs_nothing() {
    assert!(load("[destinations.shop]\nenabled = false\nurl = \"\"\n", &[]).is_ok());
}

#[test]
fn debug_output_shows_neither_url_nor_secret() {
    let variables = [
        ("PAYONCE__DESTINATIONS__SHOP__URL", "https://h/canary"),
        ("PAYONCE__DESTINATIONS__SHOP__SECRETS", "canary"),
    ];
    let config = load("", &variables).unwrap();
    assert!(!format!("{config:?}").contains("canary"));
}
