use application::testing::succeeded_payload;
use harness::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn fifty_copies_at_the_same_moment_have_one_effect() {
    let world = World::create().await;
    let receiver = world.receiver().await;
    let _workers = (world.worker().await, world.worker().await);
    let mut senders = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let client = receiver.client.another();
        senders
            .spawn(async move { client.post(succeeded_payload("evt_1", "pi_1", 100)).await.unwrap().status });
    }
    assert_eq!(senders.join_all().await, [200; 50]);
    world.wait_until_settled(1).await;
    let report = world.audit(1).await;
    assert_eq!(report["applied"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_burst_of_retries_has_one_effect_and_holds_nothing_fresh_back() {
    let world = World::create().await;
    let receiver = world.receiver().await;
    let _workers = (world.worker().await, world.worker().await);
    let mut senders = tokio::task::JoinSet::new();
    for sender in 0..50 {
        let client = receiver.client.another();
        senders.spawn(async move {
            for number in 0..20 {
                client.deliver(succeeded_payload("evt_burst", "pi_burst", 100)).await;
                client.deliver(harness::load::payload("fresh", sender * 20 + number)).await;
            }
        });
    }
    senders.join_all().await;
    world.wait_until_settled(1001).await;
    assert_eq!(world.audit(1001).await["applied"], 1001);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_id_with_two_meanings_is_applied_once_and_the_other_is_a_dead_letter() {
    let world = World::create().await;
    let receiver = world.receiver().await;
    let _worker = world.worker().await;
    receiver.client.deliver(succeeded_payload("evt_1", "pi_1", 1000)).await;
    world.wait_until_settled(1).await;
    receiver.client.deliver(succeeded_payload("evt_1", "pi_1", 9000)).await;
    // The event that was applied, and the conflict, which is no event of its own but has its bytes kept.
    let report = world.audit(2).await;
    assert_eq!((report["applied"].as_u64(), report["dead_letters"].as_u64()), (Some(1), Some(1)));
    let amount = world.database.client().await.query_one("SELECT amount_minor FROM payments", &[]).await;
    assert_eq!(amount.unwrap().get::<_, i64>(0), 1000);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_cache_the_database_alone_decides() {
    let mut world = World::create().await;
    world.set("PAYONCE__CACHE__URL", "none:");
    let receiver = world.receiver().await;
    let _workers = (world.worker().await, world.worker().await);
    harness::load::deliver(&receiver.client, "nocache", 500, 50, 8).await;
    world.wait_until_settled(500).await;
    assert_eq!(world.audit(500).await["applied"], 500);
}
