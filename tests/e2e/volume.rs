use harness::load::deliver;
use harness::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_events_with_duplicates_over_three_workers_are_each_applied_once() {
    let world = World::create().await;
    let receiver = world.receiver().await;
    let _workers = (world.worker().await, world.worker().await, world.worker().await);
    // 7,000 events and 3,000 copies.
    deliver(&receiver.client, "volume", 7000, 30, 32).await;
    world.wait_until_settled(7000).await;
    let report = world.audit(7000).await;
    assert_eq!(report["applied"], 7000);
    receiver.process.assert_no_panic();
}
