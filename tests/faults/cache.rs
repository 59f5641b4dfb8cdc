use std::time::Duration;

use harness::load::deliver;
use harness::services::control;
use harness::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_cache_that_is_flushed_in_mid_run_changes_no_result() {
    let world = World::create().await;
    let receiver = world.receiver().await;
    let _workers = [world.worker().await, world.worker().await];
    let client = receiver.client.another();
    let load = tokio::spawn(async move { deliver(&client, "flushed", 3000, 50, 8).await });
    let redis = harness::redis::TestRedis::new();
    while !load.is_finished() {
        redis.run("FLUSHALL", &[]).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    load.await.unwrap();
    world.wait_until_settled(3000).await;
    assert_eq!(world.audit(3000).await["applied"], 3000);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cache_that_goes_away_and_comes_back_changes_no_result() {
    let world = World::create().await;
    let receiver = world.receiver().await;
    let workers = [world.worker().await, world.worker().await];
    deliver(&receiver.client, "before", 300, 50, 8).await;
    control("kill", "redis").await;
    deliver(&receiver.client, "without", 1000, 50, 8).await;
    world.wait_until_settled(1300).await;
    control("start", "redis").await;
    deliver(&receiver.client, "after", 300, 50, 8).await;
    world.wait_until_settled(1600).await;
    assert_eq!(world.audit(1600).await["applied"], 1600);
    for worker in &workers {
        worker.process.assert_no_panic();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_start_and_work_without_the_cache() {
    let mut world = World::create().await;
    world.set("PAYONCE__CACHE__URL", "redis://127.0.0.1:1/0");
    let receiver = world.receiver().await;
    let _worker = world.worker().await;
    deliver(&receiver.client, "nocache", 500, 50, 8).await;
    world.wait_until_settled(500).await;
    assert_eq!(world.audit(500).await["applied"], 500);
}
