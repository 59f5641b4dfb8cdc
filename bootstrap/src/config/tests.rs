use secrecy::ExposeSecret;

use super::*;

mod alerts;
mod options;
mod outbox;
mod sources;

const URLS: [(&str, &str); 2] =
    [("DATABASE_URL", "postgres://u:canary@h/d"), ("AMQP_URL", "amqp://guest:canary@h/%2f")];

fn load(file: &str, variables: &[(&str, &str)]) -> Result<Config, ConfigProblems> {
    let environment = URLS.iter().chain(variables).map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
    Config::from_layers(Some(("payonce.toml", file)), environment.collect::<Vec<_>>().into_iter())
}

fn problems(file: &str, variables: &[(&str, &str)]) -> Vec<String> {
    load(file, variables).expect_err("a problem").0
}

#[test]
fn the_defaults_and_the_three_urls_are_enough() {
    let config = load("", &[]).unwrap();
    assert_eq!(config.http.bind, "127.0.0.1:3000");
    assert_eq!(config.store.url.expose_secret(), "postgres://u:canary@h/d");
    assert_eq!(config.cache.url.expose_secret(), "memory:");
}

#[test]
fn the_environment_wins_over_the_file_and_the_file_over_the_defaults() {
    let config =
        load("[worker]\nbatch_max = 7\nattempts_max = 9", &[("PAYONCE__WORKER__BATCH_MAX", "8")]).unwrap();
    assert_eq!((config.worker.batch_max, config.worker.attempts_max), (8, 9));
}

#[test]
fn the_full_name_of_a_url_wins_over_its_alias() {
    let config = load("", &[("PAYONCE__STORE__URL", "postgres://other/d")]).unwrap();
    assert_eq!(config.store.url.expose_secret(), "postgres://other/d");
}

#[test]
fn every_problem_is_reported_at_once() {
    let found = problems(
        "[http]\nbind = \"nowhere\"\n[worker]\nattempts_max = 0\nprefetch = 1\n",
        &[("PAYONCE__CACHE__URL", "memcached://h")],
    );
    assert_eq!(found.len(), 4, "{found:#?}");
    for setting in ["http.bind", "worker.attempts_max", "worker.prefetch", "cache.url"] {
        assert!(found.iter().any(|problem| problem.contains(setting)), "{setting} in {found:#?}");
    }
}

#[test]
fn unknown_keys_are_errors_that_say_where_they_came_from() {
    let found = problems("[http]\nport = 1\n[mystery]\nx = 1\n", &[("PAYONCE__WORKER__BATCHMAX", "8")]);
    assert_eq!(
        found,
        [
            "payonce.toml: http.port is not a setting",
            "payonce.toml: mystery is not a setting",
            "PAYONCE__WORKER__BATCHMAX: worker.batchmax is not a setting",
        ]
    );
}

#[test]
fn a_value_of_another_type_is_an_error() {
    let found = problems(
        "[http]\nworkers = \"2\"\n[store]\nmigrate_on_start = 1\n",
        &[("PAYONCE__WORKER__CONCURRENCY", "many")],
    );
    assert_eq!(
        found,
        [
            "payonce.toml: http.workers must be a whole number, 0 or more",
            "payonce.toml: store.migrate_on_start must be true or false",
            "PAYONCE__WORKER__CONCURRENCY: worker.concurrency must be a whole number, 0 or more",
        ]
    );
}

#[test]
fn events_are_kept_for_ever_or_for_longer_than_providers_send_again() {
    for (seconds, is_right) in
        [(0, true), (1, false), (2_591_999, false), (2_592_000, true), (315_360_001, false)]
    {
        let found = load(&format!("[store]\nretention_s = {seconds}\n"), &[])
            .map_or_else(|found| found.0, |_| vec![]);
        let told = found.iter().any(|problem| problem.contains("store.retention_s"));
        assert_eq!(told, !is_right, "{seconds}: {found:#?}");
    }
}

#[test]
fn without_any_setting_everything_is_embedded() {
    let config = Config::from_layers(None, std::iter::empty()).unwrap();
    assert_eq!(config.store.url.expose_secret(), "sqlite:payonce-data/payonce.db");
    assert_eq!(config.broker.url.expose_secret(), "embedded:payonce-data/queue.db");
}

#[test]
fn a_url_that_is_emptied_or_names_no_file_is_told_with_its_alias() {
    let found = problems("", &[("PAYONCE__STORE__URL", ""), ("PAYONCE__BROKER__URL", "embedded:")]);
    assert!(found.iter().any(|p| p.contains("store.url (or DATABASE_URL) is not set")), "{found:#?}");
    assert!(found.iter().any(|p| p.contains("broker.url (or AMQP_URL) names no file")), "{found:#?}");
}

#[test]
fn a_file_is_named_with_or_without_slashes() {
    assert_eq!(file_of("sqlite:a b/c?.db"), "a b/c?.db");
    assert_eq!(file_of("sqlite:/srv/payonce.db"), "/srv/payonce.db");
    assert_eq!(file_of("sqlite:///srv/payonce.db"), "/srv/payonce.db");
}

#[test]
fn neither_problems_nor_debug_output_show_a_secret() {
    let variables = [
        ("PAYONCE__SOURCES__PAYMENT__SECRETS", "canary"),
        ("PAYONCE__STORE__URL", "mysql://u:canary@h/d"),
        ("PAYONCE__HTTP__WORKERS", "canary"),
    ];
    let found = problems("[worker]\nattempts_max = 0\n", &variables);
    assert!(!format!("{found:?}").contains("canary"), "{found:#?}");
    let found = problems("", &[("PAYONCE__BROKER__URL", "kafka://u:canary@h")]);
    assert!(!format!("{found:?}").contains("canary"), "{found:#?}");
    let config = load("", &variables[..1]).unwrap();
    assert!(!format!("{config:?}").contains("canary"));
}
