use super::*;

const URL: &str = "PAYONCE__ALERTS__WEBHOOK_URL";
const SECRETS: &str = "PAYONCE__ALERTS__SECRETS";
const COMMAND: &str = "PAYONCE__ALERTS__COMMAND";

#[test]
fn without_a_target_nobody_is_told() {
    assert!(load("", &[]).unwrap().alerts.target() == AlertTarget::Nobody);
}

#[test]
fn alerts_go_to_an_endpoint_or_to_a_command() {
    let webhook = load("", &[(URL, " https://example.com/alerts\n"), (SECRETS, "one,two")]).unwrap();
    assert!(webhook.alerts.target() == AlertTarget::Webhook);
    assert_eq!(webhook.alerts.webhook_url.expose_secret(), "https://example.com/alerts");
    assert_eq!(webhook.alerts.secrets.len(), 2);
    let command = load("[alerts]\ncommand = [\"/usr/bin/tell\", \"a, b\"]\n", &[]).unwrap();
    assert!(command.alerts.target() == AlertTarget::Command("/usr/bin/tell", &["a, b".to_owned()]));
    let command = load("", &[(COMMAND, "tell,me")]).unwrap();
    assert!(command.alerts.target() == AlertTarget::Command("tell", &["me".to_owned()]));
}

#[test]
fn debug_output_shows_the_program_alone() {
    let config = load("", &[(COMMAND, "tell,--token,canary"), (SECRETS, "canary")]).unwrap();
    let shown = format!("{config:?}");
    assert!(shown.contains("tell") && !shown.contains("canary"), "{shown}");
}

#[test]
fn both_at_once_are_refused_and_so_is_a_command_without_a_program() {
    let found = problems("", &[(URL, "https://example.com"), (COMMAND, "tell")]);
    assert!(found[0].starts_with("alerts.command is set beside alerts.webhook_url"), "{found:#?}");
    let found = problems("", &[(COMMAND, "")]);
    assert!(found[0].starts_with("alerts.command has no program"), "{found:#?}");
}

#[test]
fn what_cannot_be_posted_to_or_signed_with_is_told_without_being_repeated() {
    for url in ["canary", "ftp://canary", "https://user:canary@example.com"] {
        let found = problems("", &[(URL, url)]);
        assert!(found[0].starts_with("alerts.webhook_url: ") && !found[0].contains("canary"), "{found:#?}");
    }
    let found = problems("", &[(URL, "https://example.com"), (SECRETS, "whsec_canary!")]);
    assert!(found[0].contains("a secret") && !found[0].contains("canary"), "{found:#?}");
}

#[test]
fn production_needs_https_and_a_secret() {
    let production = "environment = \"production\"\n[sources.payment]\nsecrets = [\"s\"]\n";
    let found = problems(production, &[(URL, "http://example.com")]);
    let wanted = ["alerts.webhook_url is http:", "alerts.secrets is empty"];
    for (found, wanted) in found.iter().zip(wanted) {
        assert!(found.starts_with(wanted), "{found}");
    }
    assert_eq!(found.len(), wanted.len());
    assert!(load(production, &[(URL, "https://example.com"), (SECRETS, "s")]).is_ok());
    assert!(load("", &[(URL, "http://example.com")]).is_ok());
}

#[test]
fn a_link_is_a_plain_url() {
    for link in ["ops.example", "ftp://ops.example", "https://u@ops.example", "https://ops.example?a=b"] {
        let found = problems("", &[("PAYONCE__ALERTS__LINK_BASE", link)]);
        assert!(found[0].starts_with("alerts.link_base must be"), "{link}: {found:#?}");
    }
    assert!(load("", &[("PAYONCE__ALERTS__LINK_BASE", "https://ops.example/payonce")]).is_ok());
}

#[test]
fn numbers_have_their_range() {
    for (name, value) in [
        ("WINDOW_S", "0"),
        ("TIMEOUT_MS", "0"),
        ("POLL_MS", "99"),
        ("ATTEMPTS_MAX", "0"),
        ("RETRY_DELAY_MS", "0"),
    ] {
        let found = problems("", &[(&format!("PAYONCE__ALERTS__{name}"), value)]);
        assert!(found[0].starts_with(&format!("alerts.{} ", name.to_lowercase())), "{found:#?}");
    }
}
