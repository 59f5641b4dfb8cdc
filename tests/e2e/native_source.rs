use harness::world::World;

const EVENT: &str = r#"{"id":"evt_1","type":"payment_intent.succeeded","data":{"payment_intent":"pi_1","amount_cents":4999,"currency":"usd","status":"succeeded"}}"#;

#[tokio::test(flavor = "multi_thread")]
async fn one_event_is_one_payment_and_the_same_again_changes_nothing() {
    let world = World::create().await;
    let receiver = world.receiver().await;
    let mut worker = world.worker().await;

    let answer = receiver.client.post(EVENT).await.unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(&answer.body[..], br#"{"status":"accepted","event_id":"evt_1"}"#);
    world.wait_until_settled(1).await;

    assert_eq!(receiver.client.post(EVENT).await.unwrap().status, 200);
    let line = worker.process.wait_for_line("duplicate payment/evt_1").await;
    assert!(line.contains(r#""event.id":"evt_1""#), "{line}");

    let client = world.database.client().await;
    let rows = client
        .query("SELECT payment_id, amount_minor, currency, state, last_event_id FROM payments", &[])
        .await
        .unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].get::<_, String>(0), "pi_1");
    assert_eq!(rows[0].get::<_, i64>(1), 4999);
    assert_eq!(rows[0].get::<_, String>(2), "USD");
    assert_eq!(rows[0].get::<_, String>(3), "succeeded");
    assert_eq!(rows[0].get::<_, String>(4), "evt_1");
    let twice = "SELECT event_id, COUNT(*) FROM processed_events GROUP BY event_id HAVING COUNT(*) > 1";
    assert!(client.query(twice, &[]).await.unwrap().is_empty());

    let report = world.audit(1).await;
    assert_eq!(report["applied"], 1);
    receiver.process.assert_no_panic();
    worker.process.assert_no_panic();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_shape_is_refused_with_a_list_and_nothing_is_published() {
    let world = World::create().await;
    let receiver = world.receiver().await;
    let answer =
        receiver.client.post(r#"{"id":"","type":"payment_intent.succeeded","data":{}}"#).await.unwrap();
    assert_eq!(answer.status, 400);
    let problem: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    let pointers: Vec<&str> =
        problem["errors"].as_array().unwrap().iter().map(|e| e["pointer"].as_str().unwrap()).collect();
    for pointer in ["/id", "/data/payment_intent", "/data/amount_cents", "/data/currency"] {
        assert!(pointers.contains(&pointer), "{pointer} in {problem:#}");
    }
    world.audit(0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_metrics_of_a_worker_tell_what_it_did() {
    let world = World::create().await;
    let receiver = world.receiver().await;
    let worker = world.worker().await;
    receiver.client.deliver(EVENT).await;
    world.wait_until_settled(1).await;
    world.audit(1).await;
    let page = harness::client::Client::new(worker.ops.clone()).get("/metrics").await.unwrap();
    let page = String::from_utf8(page.body.to_vec()).unwrap();
    let applied = page
        .lines()
        .find(|line| line.starts_with("payonce_events_processed_total") && line.contains("applied"))
        .unwrap_or_else(|| panic!("no processed counter in\n{page}"));
    assert!(applied.ends_with(" 1"), "{applied}");
    assert!(applied.contains(r#"source="payment""#), "{applied}");
    assert!(!page.contains("evt_1"), "an id became a label");
    let page = harness::client::Client::new(receiver.ops.clone()).get("/metrics").await.unwrap();
    let page = String::from_utf8(page.body.to_vec()).unwrap();
    assert!(page.contains("payonce_accept_seconds_bucket"), "{page}");
}
