//! A request that was refused because of a wrong secret is taken in once the secret is mended.

use harness::embedded_world::{EmbeddedWorld, Payonce};
use harness::world::{run_payonce, wait_until_ready};
use serde_json::Value;

const EVENT: &str = r#"{"id":"evt_1","type":"payment_intent.succeeded","data":{"payment_intent":"pi_1","amount_cents":4999,"currency":"usd","status":"succeeded"}}"#;
const RIGHT: &str = "whsec_Y2FuYXJ5LXdoaWNoLWlzLXRoZS1yaWdodC1vbmU=";
const WRONG: &str = "whsec_Y2FuYXJ5LXdoaWNoLWlzLXRoZS13cm9uZy1vbmU=";

/// What `payonce quarantine` says, and whether it succeeded.
async fn quarantine(world: &EmbeddedWorld, payonce: &Payonce, arguments: &[&str]) -> (bool, String) {
    let url = format!("http://{}", payonce.ops);
    let arguments = [&["quarantine"], arguments, &["--url", &url]].concat();
    let output = run_payonce(world.environment(), &arguments).await;
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}

async fn listed(world: &EmbeddedWorld, payonce: &Payonce) -> Value {
    let (done, said) = quarantine(world, payonce, &["list", "--json"]).await;
    assert!(done, "{said}");
    serde_json::from_str(&said).expect("JSON")
}

/// Sends the event signed by the right secret.
async fn send(world: &EmbeddedWorld, payonce: &Payonce) -> bool {
    let file = world.folder.path().join("event.json");
    std::fs::write(&file, EVENT).expect("the file is written");
    let mut environment = world.environment().to_vec();
    environment.retain(|(key, _)| key != "PAYONCE__SOURCES__PAYMENT__SECRETS");
    environment.push(("PAYONCE__SOURCES__PAYMENT__SECRETS".to_owned(), RIGHT.to_owned()));
    let url = format!("http://{}", payonce.client.address());
    let arguments =
        ["send", "--source", "payment", "--file", file.to_str().expect("a path of text"), "--url", &url];
    run_payonce(&environment, &arguments).await.status.success()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_refused_for_a_wrong_secret_is_admitted_once_it_is_mended_and_applied_once() {
    let mut world = EmbeddedWorld::create();
    world.set("PAYONCE__SOURCES__PAYMENT__SECRETS", WRONG);
    let mut payonce = world.start().await;
    wait_until_ready(&payonce.ops).await;
    assert!(!send(&world, &payonce).await);
    let request = &listed(&world, &payonce).await["requests"][0];
    let id = request["id"].to_string();
    assert_eq!((&request["now"]["verdict"], &request["source"]), (&"refused".into(), &"payment".into()));
    let (done, said) = quarantine(&world, &payonce, &["admit", &id, "--why", "it is genuine"]).await;
    assert!(!done && said.contains("refused"), "{said}");

    // The secret is mended, and the process started again; what it keeps outlives it.
    payonce.process.kill_9().await;
    world.set("PAYONCE__SOURCES__PAYMENT__SECRETS", RIGHT);
    payonce = world.start().await;
    wait_until_ready(&payonce.ops).await;
    assert_eq!(listed(&world, &payonce).await["requests"][0]["now"]["verdict"], "genuine");
    let (done, said) = quarantine(&world, &payonce, &["show", &id]).await;
    assert!(done && !said.contains("canary"), "{said}");
    let (done, said) = quarantine(&world, &payonce, &["admit", &id, "--why", "the secret was wrong"]).await;
    assert!(done && said.contains("evt_1"), "{said}");
    assert_eq!(world.audit(Some(1)).await["applied"], 1);
    // Gone from here; and the provider's own copy is a duplicate.
    assert_eq!(listed(&world, &payonce).await["requests"].as_array().unwrap().len(), 0);
    assert!(!quarantine(&world, &payonce, &["admit", &id, "--why", "again"]).await.0);
    assert!(send(&world, &payonce).await);
    assert_eq!(world.audit(Some(1)).await["applied"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_discarded_request_is_gone_and_a_reason_is_asked_for() {
    let mut world = EmbeddedWorld::create();
    world.set("PAYONCE__SOURCES__PAYMENT__SECRETS", WRONG);
    let payonce = world.start().await;
    wait_until_ready(&payonce.ops).await;
    assert!(!send(&world, &payonce).await);
    let id = listed(&world, &payonce).await["requests"][0]["id"].to_string();
    assert!(!quarantine(&world, &payonce, &["discard", &id, "--why", " "]).await.0);
    assert!(quarantine(&world, &payonce, &["discard", &id, "--why", "a scanner"]).await.0);
    assert!(listed(&world, &payonce).await["requests"].as_array().unwrap().is_empty());
}
