use std::time::{Duration, Instant};

use application::testing::succeeded_payload;
use harness::collector::Collector;
use harness::world::World;

const TRACE_ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

fn trace_id_bytes() -> Vec<u8> {
    (0..TRACE_ID.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&TRACE_ID[i..i + 2], 16).expect("hexadecimal digits"))
        .collect()
}

async fn eventually(what: &str, condition: impl Fn() -> bool) {
    let since = Instant::now();
    while !condition() {
        assert!(since.elapsed() < Duration::from_secs(30), "never: {what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trace_goes_from_the_sender_through_the_queue_to_the_workers_batch() {
    let mut world = World::create().await;
    let (receiving, working) = (Collector::start().await, Collector::start().await);
    world.set("PAYONCE__TELEMETRY__OTLP_ENDPOINT", &receiving.endpoint);
    let receiver = world.receiver().await;
    world.set("PAYONCE__TELEMETRY__OTLP_ENDPOINT", &working.endpoint);
    let worker = world.worker().await;
    let traceparent = format!("00-{TRACE_ID}-00f067aa0ba902b7-01");
    let answer = receiver.client.post_traced(succeeded_payload("evt_1", "pi_1", 1), &traceparent).await;
    assert_eq!(answer.unwrap().status, 200);
    world.wait_until_settled(1).await;
    receiver.process.signal("TERM").await;
    worker.process.signal("TERM").await;
    let id = trace_id_bytes();
    eventually("the receiver's span is in the sender's trace", || receiving.received(&id)).await;
    eventually("the worker exports its batch", || working.received(b"process batch")).await;
    eventually("the batch is linked to the sender's trace", || working.received(&id)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_cannot_be_reached_or_never_answers_slows_nothing_down() {
    // A listener whose connections nobody accepts or reads.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("http://{}", silent.local_addr().unwrap());
    for endpoint in ["http://127.0.0.1:1", silent.as_str()] {
        let mut world = World::create().await;
        world.set("PAYONCE__TELEMETRY__OTLP_ENDPOINT", endpoint);
        let mut receiver = world.receiver().await;
        let mut worker = world.worker().await;
        harness::load::deliver(&receiver.client, "untraced", 200, 0, 8).await;
        world.wait_until_settled(200).await;
        world.audit(200).await;
        for process in [&mut receiver.process, &mut worker.process] {
            process.signal("TERM").await;
            assert!(process.ended().await.success(), "{:#?}", process.log());
        }
    }
}
