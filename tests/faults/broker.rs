use std::time::Duration;

use harness::load::{deliver, payload};
use harness::services::control;
use harness::world::{World, wait_until_ready};

async fn a_broker_fault_in_mid_run_loses_nothing(stop: &str) {
    let world = World::create().await;
    let receiver = world.receiver().await;
    let workers = [world.worker().await, world.worker().await];
    let client = receiver.client.another();
    let load = tokio::spawn(async move { deliver(&client, "broker", 4000, 30, 8).await });
    tokio::time::sleep(Duration::from_millis(500)).await;
    control(stop, "rabbitmq").await;
    let refused = receiver.client.another().post(payload("refused", 0)).await.expect("an answer");
    assert_eq!(refused.status, 503, "while the broker is down nothing is accepted");
    control("start", "rabbitmq").await;
    load.await.expect("the load ends");
    world.wait_until_settled(4000).await;
    assert_eq!(world.audit(4000).await["applied"], 4000);
    wait_until_ready(&receiver.ops).await;
    for worker in &workers {
        wait_until_ready(&worker.ops).await;
        worker.process.assert_no_panic();
    }
    receiver.process.assert_no_panic();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_is_restarted_in_mid_run_loses_nothing() {
    a_broker_fault_in_mid_run_loses_nothing("stop").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_is_killed_in_mid_run_loses_nothing() {
    a_broker_fault_in_mid_run_loses_nothing("kill").await;
}
