//! What was given up is told to an endpoint or to a command.

use std::time::{Duration, Instant};

use adapters::outbound::sqlite::{SqliteAdmin, SqliteDeadLetters, SqliteSettings, SqliteStore};
use application::ports::dead_letters::DeadLetters;
use application::ports::store_admin::StoreAdmin;
use application::testing::dead_letters::new_letter;
use domain::ConsumerName;
use harness::embedded_world::EmbeddedWorld;
use harness::endpoint::Endpoint;
use serde_json::Value;

use crate::outbox::assert_signed;

/// A world whose store has a dead letter.
async fn world_with_a_letter() -> EmbeddedWorld {
    let mut world = EmbeddedWorld::create();
    world.set("PAYONCE__ALERTS__POLL_MS", "100");
    let settings = SqliteSettings {
        path: world.folder.path().join("payonce.db"),
        readers_max: 1,
        busy_timeout: Duration::from_secs(20),
        acquire_timeout: Duration::from_secs(10),
    };
    let store = SqliteStore::new(&settings).expect("usable settings");
    SqliteAdmin::new(store.clone()).migrate().await.expect("the migrations can be applied");
    let consumer = ConsumerName::parse("payonce").expect("a valid name");
    let mut letter = new_letter("evt_1", 1_700_000_000_000_000);
    letter.consumer = consumer.clone();
    let letters = SqliteDeadLetters::new(store, consumer);
    letters.store(vec![letter]).await.expect("the letter can be stored");
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_of_failures_is_told_to_an_endpoint_once_and_not_again_after_a_restart() {
    let endpoint = Endpoint::start().await;
    let mut world = world_with_a_letter().await;
    world.set("PAYONCE__ALERTS__WEBHOOK_URL", &endpoint.url());
    world.set("PAYONCE__ALERTS__SECRETS", "whsec_c2VjcmV0");
    let mut payonce = world.start().await;
    let told = endpoint.wait_for(1).await;
    assert_signed(&told[0]);
    let event = told[0].event();
    assert_eq!(event["type"], "payonce.failure_group");
    assert_eq!((&event["data"]["source"], &event["data"]["open"]), (&"payment".into(), &1.into()));
    // It is written down after it was sent.
    tokio::time::sleep(Duration::from_millis(500)).await;
    payonce.process.signal("INT").await;
    assert!(payonce.process.ended().await.success(), "{:#?}", payonce.process.log());
    let payonce = world.start().await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(endpoint.told().len(), 1);
    payonce.process.assert_no_panic();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_of_failures_is_told_to_a_command() {
    let mut world = world_with_a_letter().await;
    let told = world.folder.path().join("told.json");
    let script = format!("cat > '{0}.new' && mv '{0}.new' '{0}'", told.display());
    world.set("PAYONCE__ALERTS__COMMAND", &format!("sh,-c,{script}"));
    let payonce = world.start().await;
    let since = Instant::now();
    while !told.exists() {
        assert!(since.elapsed() < Duration::from_mins(1), "{:#?}", payonce.process.log());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let event: Value = serde_json::from_slice(&std::fs::read(&told).unwrap()).unwrap();
    assert_eq!((&event["type"], &event["data"]["new"]), (&"payonce.failure_group".into(), &1.into()));
    payonce.process.assert_no_panic();
}
