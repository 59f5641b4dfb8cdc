use std::time::Duration;

use harness::load::deliver;
use harness::services::control;
use harness::world::{World, wait_until_ready};

async fn a_store_fault_in_mid_run_loses_nothing(stop: &str) {
    let world = World::create().await;
    let receiver = world.receiver().await;
    let workers = [world.worker().await, world.worker().await];
    let client = receiver.client.another();
    let load = tokio::spawn(async move { deliver(&client, "store", 4000, 30, 8).await });
    tokio::time::sleep(Duration::from_millis(400)).await;
    control(stop, "postgres").await;
    // Longer than every retry together: an outage is nobody's attempt.
    tokio::time::sleep(Duration::from_secs(4)).await;
    control("start", "postgres").await;
    load.await.expect("the load ends");
    world.wait_until_settled(4000).await;
    let report = world.audit(4000).await;
    assert_eq!((report["applied"].as_u64(), report["dead_letters"].as_u64()), (Some(4000), Some(0)));
    for worker in &workers {
        wait_until_ready(&worker.ops).await;
        worker.process.assert_no_panic();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_is_restarted_in_mid_run_loses_nothing_and_fills_no_dead_letters() {
    a_store_fault_in_mid_run_loses_nothing("stop").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_is_killed_in_mid_run_loses_nothing_and_fills_no_dead_letters() {
    a_store_fault_in_mid_run_loses_nothing("kill").await;
}
