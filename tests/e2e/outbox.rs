//! An event goes in, and the rest of the company hears of it.

use std::time::Duration;

use application::testing::succeeded_payload;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use harness::endpoint::{Endpoint, Reply, Told};
use harness::load::deliver;
use harness::world::World;
use hmac::{Hmac, KeyInit, Mac};
use lapin::ExchangeKind;
use lapin::options::{ExchangeDeclareOptions, QueueBindOptions};
use lapin::types::{FieldTable, ShortString};
use serde_json::{Value, json};
use sha2::Sha256;

const EXCHANGE: &str = "payonce.events";

/// A world with an endpoint beside the exchange, and leases that are soon over.
async fn world_with(endpoint: &Endpoint) -> World {
    let mut world = World::create().await;
    world.set("PAYONCE__OUTBOX__LEASE_S", "2");
    world.set("PAYONCE__OUTBOX__BATCH_MAX", "20");
    world.set("PAYONCE__DESTINATIONS__SHOP__URL", &endpoint.url());
    world.set("PAYONCE__DESTINATIONS__SHOP__SECRETS", "whsec_c2VjcmV0");
    world.set("PAYONCE__DESTINATIONS__SHOP__RETRY_DELAY_MS", "100");
    world
}

/// A queue that hears everything that is announced.
async fn listen(world: &World, queue: &str) {
    world.vhost.declare_queue(queue, FieldTable::default()).await;
    let channel = world.vhost.channel().await;
    let options = ExchangeDeclareOptions { durable: true, ..ExchangeDeclareOptions::default() };
    let kind = ExchangeKind::Topic;
    channel
        .exchange_declare(EXCHANGE.into(), kind, options, FieldTable::default())
        .await
        .expect("it is declared");
    let options = QueueBindOptions::default();
    let bound =
        channel.queue_bind(queue.into(), EXCHANGE.into(), "payment.#".into(), options, FieldTable::default());
    bound.await.expect("it is bound");
}

/// Panics unless the request is signed with the secret `secret`.
pub fn assert_signed(told: &Told) {
    let mut mac = Hmac::<Sha256>::new_from_slice(b"secret").expect("any key will do");
    mac.update(format!("{}.{}.", told.header("webhook-id"), told.header("webhook-timestamp")).as_bytes());
    mac.update(&told.body);
    let expected = format!("v1,{}", BASE64_STANDARD.encode(mac.finalize().into_bytes()));
    assert_eq!(told.header("webhook-signature"), expected);
}

async fn stored_ids(world: &World) -> Vec<String> {
    let client = world.database.client().await;
    let rows = client.query("SELECT id FROM outbox ORDER BY id", &[]).await.expect("the table is there");
    rows.iter().map(|row| row.get(0)).collect()
}

/// Waits until every destination has been handed everything.
async fn wait_until_relayed(world: &World) {
    let behind = "SELECT count(*) FROM outbox_destinations WHERE position < (SELECT max(seq) FROM outbox)";
    world.wait_for_count(behind, 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_is_told_at_the_exchange_and_at_an_endpoint_as_the_same_cloud_event() {
    let endpoint = Endpoint::start().await;
    let world = world_with(&endpoint).await;
    listen(&world, "heard").await;
    let receiver = world.receiver().await;
    let worker = world.worker().await;
    let body = succeeded_payload("evt_1", "pi_1", 4999);
    for _ in 0..2 {
        receiver.client.deliver(body.clone()).await;
    }
    world.vhost.wait_for_depth("heard", 1).await;
    let told = endpoint.wait_for(1).await.remove(0);
    assert_signed(&told);
    let mut event = told.event();
    assert!(event["time"].take().is_string());
    assert_eq!(
        event,
        json!({
            "specversion": "1.0",
            "id": "payment/pi_1/captured:single",
            "source": "/payonce/payment",
            "type": "payment.succeeded",
            "subject": "pi_1",
            "time": null,
            "datacontenttype": "application/json",
            "data": {
                "payment": "pi_1",
                "source": "payment",
                "account": "payment",
                "fact": "captured:single",
                "amount_minor": 4999,
                "currency": "USD",
            },
        })
    );
    let (properties, heard) = world.vhost.get("heard").await.unwrap();
    assert_eq!(heard, told.body);
    assert_eq!(
        properties.message_id().as_ref().map(ShortString::as_str),
        Some("payment/pi_1/captured:single")
    );
    wait_until_relayed(&world).await;
    assert_eq!((endpoint.told().len(), world.vhost.depth("heard").await), (1, 0));
    world.audit(1).await;
    worker.process.assert_no_panic();
    assert!(!worker.process.log().join("\n").contains("canary"), "the endpoint's URL is in the log");
}

#[tokio::test(flavor = "multi_thread")]
async fn several_workers_tell_each_message_once() {
    let endpoint = Endpoint::start().await;
    let world = world_with(&endpoint).await;
    listen(&world, "heard").await;
    let receiver = world.receiver().await;
    let _workers = (world.worker().await, world.worker().await, world.worker().await);
    deliver(&receiver.client, "once", 500, 20, 8).await;
    world.wait_until_settled(500).await;
    endpoint.wait_for(500).await;
    world.vhost.wait_for_depth("heard", 500).await;
    wait_until_relayed(&world).await;
    let mut ids: Vec<String> = endpoint.told().iter().map(Told::id).collect();
    ids.sort();
    assert_eq!(ids, stored_ids(&world).await);
    assert_eq!(world.vhost.depth("heard").await, 500);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_destination_that_never_answers_holds_back_no_other() {
    let endpoint = Endpoint::start().await;
    endpoint.answer_by(|_| Reply::status(0));
    let mut world = world_with(&endpoint).await;
    world.set("PAYONCE__DESTINATIONS__SHOP__TIMEOUT_MS", "1000");
    listen(&world, "heard").await;
    let receiver = world.receiver().await;
    let worker = world.worker().await;
    deliver(&receiver.client, "slow", 200, 0, 4).await;
    world.wait_until_settled(200).await;
    world.vhost.wait_for_depth("heard", 200).await;
    endpoint.wait_for(1).await;
    let retries = "SELECT count(*) FROM outbox_retries";
    world.wait_for_count(retries, 0).await;
    let page = harness::client::Client::new(worker.ops.clone()).get("/metrics").await.unwrap();
    let page = String::from_utf8(page.body.to_vec()).unwrap();
    let delivered = r#"payonce_outbox_messages_total{destination="events",outcome="delivered"} 200"#;
    assert!(page.contains(delivered), "{page}");
    // And once it answers, it hears everything.
    endpoint.answer_by(|_| Reply::status(200));
    assert_eq!(endpoint.wait_for_ids(200).await.len(), 200);
    wait_until_relayed(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_is_refused_at_first_arrives_later_and_one_that_always_is_becomes_failed() {
    let endpoint = Endpoint::start().await;
    let refused_once = std::sync::Mutex::new(std::collections::HashSet::new());
    endpoint.answer_by(move |told| match told.payment().as_str() {
        "pi_never" => Reply::status(400),
        payment if refused_once.lock().unwrap().insert(payment.to_owned()) => Reply::status(500),
        _ => Reply::status(200),
    });
    let mut world = world_with(&endpoint).await;
    world.set("PAYONCE__DESTINATIONS__SHOP__ATTEMPTS_MAX", "3");
    let receiver = world.receiver().await;
    let mut worker = world.worker().await;
    receiver.client.deliver(succeeded_payload("evt_never", "pi_never", 1)).await;
    for number in 0..10 {
        let (event, payment) = (format!("evt_{number}"), format!("pi_{number}"));
        receiver.client.deliver(succeeded_payload(&event, &payment, 1)).await;
    }
    worker.process.wait_for_line("gave up the message payment/pi_never/").await;
    world.wait_for_count("SELECT count(*) FROM outbox_retries WHERE state = 'waiting'", 0).await;
    world
        .wait_for_count("SELECT count(*) FROM outbox_retries WHERE state = 'failed' AND attempts = 3", 1)
        .await;
    let told = endpoint.wait_for(3 + 2 * 10).await;
    let times = |payment: &str| told.iter().filter(|told| told.payment() == payment).count();
    assert_eq!((times("pi_never"), times("pi_0"), times("pi_9")), (3, 2, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_that_are_killed_while_they_relay_lose_no_message() {
    let endpoint = Endpoint::start().await;
    endpoint.answer_by(|_| Reply { after: Duration::from_millis(20), ..Reply::status(200) });
    let world = world_with(&endpoint).await;
    listen(&world, "heard").await;
    let receiver = world.receiver().await;
    deliver(&receiver.client, "killed", 400, 0, 8).await;
    for round in 1..=3 {
        let mut worker = world.worker().await;
        // In the middle of a batch.
        endpoint.wait_for_ids(round * 50).await;
        worker.process.kill_9().await;
        worker.process.assert_no_panic();
    }
    let mut worker = world.worker().await;
    world.wait_until_settled(400).await;
    let told = endpoint.wait_for_ids(400).await;
    assert_eq!(told, stored_ids(&world).await);
    wait_until_relayed(&world).await;
    // At the exchange too, copies aside.
    let heard = world.vhost.get_all("heard").await;
    let id = |body: &[u8]| serde_json::from_slice::<Value>(body).unwrap()["id"].as_str().unwrap().to_owned();
    let mut heard: Vec<String> = heard.iter().map(|(_, body)| id(body)).collect();
    heard.sort();
    heard.dedup();
    assert_eq!(heard, told);
    endpoint.told().iter().for_each(assert_signed);
    world.audit(400).await;
    worker.process.signal("TERM").await;
    assert!(worker.process.ended().await.success(), "{:#?}", worker.process.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_the_batch_and_the_next_worker_repeats_nothing() {
    let endpoint = Endpoint::start().await;
    endpoint.answer_by(|_| Reply { after: Duration::from_millis(5), ..Reply::status(200) });
    let mut world = world_with(&endpoint).await;
    // The next one need not wait for it.
    world.set("PAYONCE__OUTBOX__LEASE_S", "600");
    let receiver = world.receiver().await;
    deliver(&receiver.client, "stopped", 300, 0, 8).await;
    let mut first = world.worker().await;
    endpoint.wait_for(40).await;
    first.process.signal("TERM").await;
    assert!(first.process.ended().await.success(), "{:#?}", first.process.log());
    let _second = world.worker().await;
    world.wait_until_settled(300).await;
    endpoint.wait_for(300).await;
    wait_until_relayed(&world).await;
    let mut ids: Vec<String> = endpoint.told().iter().map(Told::id).collect();
    ids.sort();
    assert_eq!(ids, stored_ids(&world).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_consumer_announces_at_an_exchange_of_its_own() {
    let mut world = World::create().await;
    world.set("PAYONCE__BROKER__CONSUMERS", "payonce,analytics");
    listen(&world, "heard").await;
    let receiver = world.receiver().await;
    let _first = world.worker().await;
    world.set("PAYONCE__WORKER__CONSUMER", "analytics");
    let _second = world.worker().await;
    deliver(&receiver.client, "both", 20, 0, 2).await;
    world.wait_for_count("SELECT count(*) FROM processed_events", 40).await;
    world.vhost.wait_for_depth("heard", 20).await;
    let relayed = "SELECT count(*) FROM outbox_destinations AS d WHERE position >= \
                   (SELECT max(seq) FROM outbox AS o WHERE o.consumer = d.consumer)";
    world.wait_for_count(relayed, 2).await;
    assert_eq!(world.vhost.depth("heard").await, 20);
}
