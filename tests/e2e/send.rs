//! `payonce send` and `payonce sources` beside a running process.

use std::process::{Output, Stdio};

use harness::client::Client;
use harness::embedded_world::{EmbeddedWorld, Payonce};
use harness::process::executable;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

const NATIVE: &str = r#"{"id":"evt_1","type":"payment_intent.succeeded","data":{"payment_intent":"pi_1","amount_cents":4999,"currency":"usd","status":"succeeded"}}"#;
const NATIVE_SECRET: &str = "whsec_Y2FuYXJ5LWZvci10aGUtbmF0aXZlLXNvdXJjZQ==";
const STRIPE_SECRET: &str = "whsec_canary_for_the_shop";

fn stripe_event(id: &str, live: bool) -> String {
    format!(
        r#"{{"id":"{id}","object":"event","type":"payment_intent.succeeded","livemode":{live},"created":1700000000,"data":{{"object":{{"id":"pi_{id}","object":"payment_intent","currency":"eur","amount":1250,"amount_received":1250}}}}}}"#
    )
}

/// A native source and one of Stripe's, both signed.
fn world() -> EmbeddedWorld {
    let mut world = EmbeddedWorld::create();
    world.set("PAYONCE__SOURCES__PAYMENT__SECRETS", NATIVE_SECRET);
    world.set("PAYONCE__SOURCES__SHOP__PROVIDER", "stripe");
    world.set("PAYONCE__SOURCES__SHOP__SECRETS", STRIPE_SECRET);
    world
}

/// Runs a command of `payonce` in the world, with `input` on its standard input.
async fn command(world: &EmbeddedWorld, arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(executable("payonce"));
    for alias in ["DATABASE_URL", "AMQP_URL", "REDIS_URL"] {
        command.env_remove(alias);
    }
    let mut child = command
        .args(arguments)
        .envs(world.environment().iter().map(|(key, value)| (key, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("payonce starts");
    let mut stdin = child.stdin.take().expect("standard input is piped");
    // A command that reads nothing has ended by now, which is as well.
    stdin.write_all(input.as_bytes()).await.ok();
    drop(stdin);
    child.wait_with_output().await.expect("payonce ends")
}

async fn send(world: &EmbeddedWorld, payonce: &Payonce, source: &str, body: &str) -> Output {
    let url = format!("http://{}", payonce.client.address());
    command(world, &["send", "--source", source, "--file", "-", "--url", &url], body).await
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_sent_is_signed_as_the_provider_signs_and_applied() {
    let world = world();
    let payonce = world.start().await;
    for (source, body, id) in [("payment", NATIVE, "evt_1"), ("shop", &stripe_event("evt_1", false), "evt_1")]
    {
        let sent = send(&world, &payonce, source, body).await;
        assert!(sent.status.success(), "{}", text(&sent.stderr));
        let wanted = format!("200 {{\"status\":\"accepted\",\"event_id\":\"{id}\"}}\n");
        assert_eq!(text(&sent.stdout), wanted);
    }
    // Two sources, one id: two events.
    assert_eq!(world.audit(Some(2)).await["applied"], 2);
    let page = Client::new(payonce.ops.clone()).get("/metrics").await.unwrap();
    let page = text(&page.body);
    for source in ["payment", "shop"] {
        let line = format!(r#"payonce_signatures_total{{secret="0",source="{source}"}} 1"#);
        assert!(page.lines().any(|found| found == line), "{line} is not in\n{page}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_sent_byte_for_byte() {
    let world = world();
    let payonce = world.start().await;
    let file = world.folder.path().join("an event.json");
    std::fs::write(&file, format!("\r\n {} \n", stripe_event("evt_file", false))).unwrap();
    let url = format!("http://{}", payonce.client.address());
    let path = file.display().to_string();
    let sent = command(&world, &["send", "--source", "shop", "--file", &path, "--url", &url], "").await;
    assert!(sent.status.success(), "{}{}", text(&sent.stdout), text(&sent.stderr));
    assert_eq!(world.audit(Some(1)).await["applied"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_of_the_other_mode_is_recorded_and_never_applied() {
    let world = world();
    let payonce = world.start().await;
    assert!(send(&world, &payonce, "shop", &stripe_event("evt_live", true)).await.status.success());
    let report = world.audit(Some(1)).await;
    assert_eq!((&report["applied"], &report["recorded"]), (&0.into(), &1.into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_taken_is_told_by_the_exit_code() {
    let mut world = world();
    let payonce = world.start().await;
    world.set("PAYONCE__SOURCES__SHOP__SECRETS", "whsec_another");
    let refused = send(&world, &payonce, "shop", &stripe_event("evt_1", false)).await;
    assert!(!refused.status.success());
    assert!(text(&refused.stdout).starts_with("401 "), "{}", text(&refused.stdout));
    let unknown = send(&world, &payonce, "nobody", NATIVE).await;
    assert!(!unknown.status.success());
    assert!(text(&unknown.stderr).contains("there are payment, shop"), "{}", text(&unknown.stderr));
    let nowhere = ["send", "--source", "shop", "--file", "-", "--url", "http://127.0.0.1:1"];
    let away = command(&world, &nowhere, &stripe_event("evt_1", false)).await;
    assert!(!away.status.success());
    assert!(text(&away.stderr).contains("there is no answer"), "{}", text(&away.stderr));
    assert_eq!(world.audit(Some(0)).await["applied"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_shows_the_request_sends_nothing_and_shows_no_secret() {
    let world = world();
    for (source, body, header) in [
        ("payment", NATIVE, "webhook-signature: v1,"),
        ("shop", &stripe_event("evt_1", false), "stripe-signature: t="),
    ] {
        // Nobody listens there.
        let arguments =
            ["send", "--source", source, "--file", "-", "--url", "http://127.0.0.1:1", "--dry-run"];
        let shown = command(&world, &arguments, body).await;
        assert!(shown.status.success(), "{}", text(&shown.stderr));
        let shown = text(&shown.stdout);
        assert!(shown.to_ascii_lowercase().contains(header), "{shown}");
        assert!(shown.contains(&format!("curl -i 'http://127.0.0.1:1/webhooks/{source}'")), "{shown}");
        assert!(!shown.contains("canary") && !shown.contains(&NATIVE_SECRET[6..]), "{shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sources_are_listed_with_what_each_expects() {
    let world = world();
    let listed = command(&world, &["sources", "--json"], "").await;
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    assert_eq!(listed[0]["source"], "payment");
    assert_eq!(listed[1]["provider"], "stripe");
    assert_eq!(listed[1]["path"], "/webhooks/shop");
    assert_eq!((&listed[1]["mode"], &listed[1]["secrets"]), (&"test".into(), &1.into()));
    assert_eq!((&listed[1]["enabled"], &listed[1]["trust"]), (&true.into(), &"signature".into()));
    let shown = text(&command(&world, &["sources"], "").await.stdout);
    assert!(shown.contains("/webhooks/shop") && !shown.contains("canary"), "{shown}");
    // The list of providers wants no configuration that holds.
    let mut broken = EmbeddedWorld::create();
    broken.set("PAYONCE__TYPO", "1");
    let providers = text(&command(&broken, &["sources", "--providers"], "").await.stdout);
    for name in ["native", "stripe"] {
        assert!(providers.lines().any(|line| line == name), "{providers}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_problem_of_every_source_is_told_by_check() {
    let mut world = world();
    world.set("PAYONCE__ENVIRONMENT", "production");
    world.set("PAYONCE__SOURCES__PAYMENT__SECRETS", " ");
    world.set("PAYONCE__SOURCES__SHOP__OPTIONS__TYPO", "canary");
    world.set("PAYONCE__SOURCES__THIRD__PROVIDER", "acme");
    let checked = command(&world, &["check"], "").await;
    assert!(!checked.status.success());
    let told = text(&checked.stderr);
    for part in
        ["sources.payment.secrets has a blank entry", "sources.shop.options: ", "sources.third.provider is"]
    {
        assert!(told.contains(part), "{part} in {told}");
    }
    assert!(!told.contains("canary"), "{told}");
}
