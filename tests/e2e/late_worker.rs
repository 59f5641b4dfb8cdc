//! The age of a signature is judged once, on arrival.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use harness::process::executable;
use harness::world::World;
use tokio::process::Command;

const EVENT: &str = r#"{"id":"evt_1","type":"payment_intent.succeeded","data":{"payment_intent":"pi_1","amount_cents":4999,"currency":"usd","status":"succeeded"}}"#;
const TOLERANCE: Duration = Duration::from_secs(1);

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_waited_for_longer_than_the_tolerance_is_applied() {
    let mut world = World::create().await;
    let secret = format!("whsec_{}", STANDARD.encode("0123456789abcdef0123456789abcdef"));
    world.set("PAYONCE__SOURCES__PAYMENT__SECRETS", &secret);
    world.set("PAYONCE__SOURCES__PAYMENT__TOLERANCE_S", "30");
    let receiver = world.receiver().await;
    let file = std::env::temp_dir().join(format!("payonce-late-{}.json", std::process::id()));
    std::fs::write(&file, EVENT).unwrap();
    let sent = Command::new(executable("payonce"))
        .args(["send", "--source", "payment", "--url", &format!("http://{}", receiver.client.address())])
        .arg("--file")
        .arg(&file)
        .envs(world.environment().iter().map(|(key, value)| (key, value)))
        .output()
        .await
        .expect("payonce starts");
    std::fs::remove_file(&file).unwrap();
    assert!(sent.status.success(), "{sent:?}");
    // For the worker, what it takes off the queue is out of tolerance by now.
    world.set("PAYONCE__SOURCES__PAYMENT__TOLERANCE_S", &TOLERANCE.as_secs().to_string());
    tokio::time::sleep(TOLERANCE * 3).await;
    let _worker = world.worker().await;
    world.wait_until_settled(1).await;
    assert_eq!(world.audit(1).await["applied"], 1);
}
