//! The same in one process, over files.

use std::time::Duration;

use application::testing::succeeded_payload;
use harness::embedded_world::EmbeddedWorld;
use harness::endpoint::{Endpoint, Reply, Told};
use harness::load::deliver;

use crate::outbox::assert_signed;

fn world_with(endpoint: &Endpoint) -> EmbeddedWorld {
    let mut world = EmbeddedWorld::create();
    world.set("PAYONCE__OUTBOX__LEASE_S", "1");
    world.set("PAYONCE__OUTBOX__BATCH_MAX", "20");
    world.set("PAYONCE__DESTINATIONS__SHOP__URL", &endpoint.url());
    world.set("PAYONCE__DESTINATIONS__SHOP__SECRETS", "whsec_c2VjcmV0");
    world.set("PAYONCE__DESTINATIONS__SHOP__RETRY_DELAY_MS", "100");
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_is_told_of_an_event_once_and_signed() {
    let endpoint = Endpoint::start().await;
    let world = world_with(&endpoint);
    let mut payonce = world.start().await;
    for _ in 0..2 {
        payonce.client.deliver(succeeded_payload("evt_1", "pi_1", 4999)).await;
    }
    payonce.client.deliver(succeeded_payload("evt_2", "pi_2", 1)).await;
    let told = endpoint.wait_for(2).await;
    world.audit(Some(2)).await;
    told.iter().for_each(assert_signed);
    let amount = |told: &Told| (told.payment(), told.event()["data"]["amount_minor"].as_i64());
    let mut amounts: Vec<_> = told.iter().map(amount).collect();
    amounts.sort();
    assert_eq!(amounts, [("pi_1".to_owned(), Some(4999)), ("pi_2".to_owned(), Some(1))]);
    payonce.process.signal("INT").await;
    assert!(payonce.process.ended().await.success(), "{:#?}", payonce.process.log());
    // What is done is not repeated by the next start.
    let payonce = world.start().await;
    payonce.client.deliver(succeeded_payload("evt_3", "pi_3", 1)).await;
    let mut ids: Vec<String> = endpoint.wait_for(3).await.iter().map(Told::id).collect();
    ids.sort();
    let expected = ["pi_1", "pi_2", "pi_3"].map(|payment| format!("payment/{payment}/captured:single"));
    assert_eq!(ids, expected);
    payonce.process.assert_no_panic();
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_destination_nothing_is_relayed_and_messages_are_kept() {
    let world = EmbeddedWorld::create();
    let payonce = world.start().await;
    payonce.client.deliver(succeeded_payload("evt_1", "pi_1", 1)).await;
    world.audit(Some(1)).await;
    let store = rusqlite::Connection::open(world.folder.path().join("payonce.db")).unwrap();
    let count = |query| store.query_row(query, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM outbox"), 1);
    assert_eq!(count("SELECT count(*) FROM outbox_destinations"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_it_relays_it_loses_no_message() {
    let endpoint = Endpoint::start().await;
    endpoint.answer_by(|_| Reply { after: Duration::from_millis(10), ..Reply::status(200) });
    let mut world = world_with(&endpoint);
    let mut payonce = world.start().await;
    // The next process takes over the address.
    world.set("PAYONCE__HTTP__BIND", payonce.client.address());
    let client = payonce.client.another();
    let load = tokio::spawn(async move { deliver(&client, "killed", 300, 20, 4).await });
    for round in 1..=4 {
        endpoint.wait_for_ids(round * 30).await;
        payonce.process.kill_9().await;
        payonce = world.start().await;
    }
    load.await.unwrap();
    world.audit(Some(300)).await;
    assert_eq!(endpoint.wait_for_ids(300).await.len(), 300);
    endpoint.told().iter().for_each(assert_signed);
    payonce.process.assert_no_panic();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_that_is_away_costs_no_message_and_no_webhook() {
    let endpoint = Endpoint::start().await;
    let port = endpoint.port();
    let world = world_with(&endpoint);
    drop(endpoint);
    let mut payonce = world.start().await;
    deliver(&payonce.client, "away", 50, 0, 4).await;
    world.audit(Some(50)).await;
    payonce.process.wait_for_line("the destination takes nothing").await;
    let endpoint = Endpoint::start_on(port).await;
    assert_eq!(endpoint.wait_for_ids(50).await.len(), 50);
    payonce.process.wait_for_line("the destination takes messages again").await;
    let store = rusqlite::Connection::open(world.folder.path().join("payonce.db")).unwrap();
    let attempts: i64 = store.query_row("SELECT count(*) FROM outbox_retries", [], |row| row.get(0)).unwrap();
    assert_eq!(attempts, 0, "an attempt was counted");
}
