use application::testing::succeeded_payload;
use bytes::Bytes;
use harness::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_kind_is_recorded_with_its_bytes() {
    let world = World::create().await;
    let receiver = world.receiver().await;
    let _worker = world.worker().await;
    let body = b"{ \"type\" : \"galaxy.exploded\",\t\"id\":\"evt_odd\" ,\"data\":{\"note\":\"caf\\u00e9 \\u0000\",\"rate\":1.0}}";
    receiver.client.deliver(Bytes::from_static(body)).await;
    world.wait_until_settled(1).await;
    let row = world
        .database
        .client()
        .await
        .query_one("SELECT payload, kind, reason FROM recorded_events", &[])
        .await
        .unwrap();
    assert_eq!(row.get::<_, Vec<u8>>(0), body);
    assert_eq!(row.get::<_, String>(1), "galaxy.exploded");
    assert_eq!(row.get::<_, String>(2), "no_effect");
    assert_eq!(world.audit(1).await["recorded"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_breaks_a_business_rule_is_a_dead_letter_and_no_duplicate() {
    let world = World::create().await;
    let client = world.database.client().await;
    let receiver = world.receiver().await;
    let mut worker = world.worker().await;
    receiver.client.deliver(succeeded_payload("evt_1", "pi_1", 77)).await;
    world.wait_until_settled(1).await;
    client.batch_execute("CREATE UNIQUE INDEX one_amount ON payments (amount_minor)").await.unwrap();
    receiver.client.deliver(succeeded_payload("evt_bad", "pi_2", 77)).await;
    receiver.client.deliver(succeeded_payload("evt_good", "pi_3", 78)).await;
    world.wait_until_settled(2).await;
    let line = worker.process.wait_for_line("dead letter payment/evt_bad").await;
    assert!(line.contains("store_refused"), "{line}");
    let report = world.audit(3).await;
    assert_eq!((report["applied"].as_u64(), report["dead_letters"].as_u64()), (Some(2), Some(1)));
    let halves =
        client.query_one("SELECT count(*) FROM processed_events WHERE event_id = 'evt_bad'", &[]).await;
    assert_eq!(halves.unwrap().get::<_, i64>(0), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_keeps_failing_is_run_three_times_and_then_is_a_dead_letter_with_its_history() {
    let mut world = World::create().await;
    world.set("PAYONCE__STORE__LOCK_TIMEOUT_MS", "100");
    let client = world.database.client().await;
    let receiver = world.receiver().await;
    let worker = world.worker().await;
    receiver.client.deliver(succeeded_payload("evt_1", "pi_held", 1)).await;
    world.wait_until_settled(1).await;
    // Another session holds the payment's row for as long as this one lives.
    client.batch_execute("BEGIN; SELECT * FROM payments FOR UPDATE").await.unwrap();
    receiver.client.deliver(succeeded_payload("evt_2", "pi_held", 1)).await;
    receiver.client.deliver(succeeded_payload("evt_3", "pi_other", 1)).await;
    world.wait_until_settled(2).await;
    let report = world.audit(3).await;
    assert_eq!((report["applied"].as_u64(), report["dead_letters"].as_u64()), (Some(2), Some(1)));
    let failures = worker.process.log().iter().filter(|line| line.contains("failed payment/evt_2")).count();
    assert_eq!(failures, 3, "{:#?}", worker.process.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn amounts_at_the_edge_are_stored_exactly_or_refused() {
    let world = World::create().await;
    let receiver = world.receiver().await;
    let _worker = world.worker().await;
    for (number, amount) in ["9007199254740993", "9223372036854775807", "0"].iter().enumerate() {
        let body = amount_body(number, amount);
        assert_eq!(receiver.client.post(body).await.unwrap().status, 200, "{amount}");
    }
    for (number, amount) in
        ["9223372036854775808", "19.99", "null", "\"1999\"", "1e3", "-1"].iter().enumerate()
    {
        let body = amount_body(100 + number, amount);
        assert_eq!(receiver.client.post(body).await.unwrap().status, 400, "{amount}");
    }
    world.wait_until_settled(3).await;
    let rows = world
        .database
        .client()
        .await
        .query("SELECT amount_minor FROM payments ORDER BY payment_id", &[])
        .await
        .unwrap();
    let amounts: Vec<i64> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(amounts, [9_007_199_254_740_993, i64::MAX, 0]);
    world.audit(3).await;
}

fn amount_body(number: usize, amount: &str) -> String {
    // Currencies of their own: the balance of an account must fit 64 bits, too.
    let currency = ["eur", "usd", "jpy"][number % 3];
    format!(
        r#"{{"id":"evt_{number}","type":"payment_intent.succeeded","data":{{"payment_intent":"pi_{number}","amount_cents":{amount},"currency":"{currency}","status":"succeeded"}}}}"#
    )
}
