use harness::load::{deliver, payload};
use harness::proxy::Proxy;
use harness::service;
use harness::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_killed_after_the_claim_and_before_the_commit_loses_and_doubles_nothing() {
    let world = World::create().await;
    let receiver = world.receiver().await;
    let mut first = world.worker().await;
    harness::world::wait_until_ready(&first.ops).await;
    // The worker has claimed the events in the cache and in its transaction, and cannot go on.
    let client = world.database.client().await;
    client.batch_execute("BEGIN; LOCK TABLE payments IN ACCESS EXCLUSIVE MODE").await.unwrap();
    for number in 0..200 {
        receiver.client.deliver(payload("claimed", number)).await;
    }
    let observer = world.database.client().await;
    let waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'payments'::regclass";
    while observer.query_one(waiting, &[]).await.unwrap().get::<_, i64>(0) == 0 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    first.process.kill_9().await;
    client.batch_execute("ROLLBACK").await.unwrap();
    let _second = world.worker().await;
    world.wait_until_settled(200).await;
    assert_eq!(world.audit(200).await["applied"], 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_killed_after_the_commit_and_before_the_ack_doubles_nothing() {
    let mut world = World::create().await;
    let receiver = world.receiver().await;
    let direct = world.vhost.url();
    let authority = service("PAYONCE_TEST_AMQP_URL");
    let broker = url::Url::parse(&authority).unwrap();
    let upstream = format!("{}:{}", broker.host_str().unwrap(), broker.port().unwrap());
    let proxy = Proxy::to(upstream).await;
    let mut through_proxy = url::Url::parse(&direct).unwrap();
    through_proxy.set_port(Some(proxy.port)).unwrap();
    world.set("PAYONCE__BROKER__URL", through_proxy.as_str());
    world.set("PAYONCE__WORKER__CONCURRENCY", "1");
    let mut first = world.worker().await;
    harness::world::wait_until_ready(&first.ops).await;
    // With its first event the subscription takes as many as it may.
    receiver.client.deliver(payload("committed", 0)).await;
    world.wait_until_settled(1).await;
    // From here on no acknowledgement reaches the broker; deliveries that are under way still arrive.
    proxy.swallow_requests();
    for number in 1..200 {
        receiver.client.deliver(payload("committed", number)).await;
    }
    world.wait_until_settled(200).await;
    first.process.kill_9().await;
    world.set("PAYONCE__BROKER__URL", &direct);
    let mut second = world.worker().await;
    second.process.wait_for_line("duplicate payment/evt_committed_").await;
    let report = world.audit(200).await;
    assert_eq!(report["applied"], 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_killed_again_and_again_in_mid_run_lose_and_double_nothing() {
    let world = World::create().await;
    let receiver = world.receiver().await;
    let steady = world.worker().await;
    let load = async {
        deliver(&receiver.client, "killed", 3000, 30, 8).await;
    };
    let killing = async {
        for round in 0..8 {
            let mut victim = world.worker().await;
            tokio::time::sleep(std::time::Duration::from_millis(100 + 70 * round)).await;
            victim.process.kill_9().await;
        }
    };
    tokio::join!(load, killing);
    world.wait_until_settled(3000).await;
    let report = world.audit(3000).await;
    assert_eq!(report["applied"], 3000);
    steady.process.assert_no_panic();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_is_killed_in_mid_run_loses_nothing_that_it_accepted() {
    let mut world = World::create().await;
    let _worker = world.worker().await;
    let mut first = world.receiver().await;
    // The next receiver takes over the address, as behind a balancer.
    let address = first.client.address().to_owned();
    world.set("PAYONCE__HTTP__BIND", &address);
    let client = first.client.another();
    let load = tokio::spawn(async move { deliver(&client, "receiver", 2000, 30, 8).await });
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    first.process.kill_9().await;
    let _second = world.receiver().await;
    load.await.unwrap();
    world.wait_until_settled(2000).await;
    assert_eq!(world.audit(2000).await["applied"], 2000);
}
