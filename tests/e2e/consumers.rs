//! Several consumers of the same events: each has a queue, attempts, dead letters and effects of its own.

use harness::load::deliver;
use harness::world::World;

async fn world() -> World {
    let mut world = World::create().await;
    world.set("PAYONCE__BROKER__CONSUMERS", "payonce,analytics");
    world
}

fn as_analytics(world: &mut World) {
    world.set("PAYONCE__WORKER__CONSUMER", "analytics");
}

async fn settled_by(world: &World, consumer: &str, count: i64) {
    let query = format!("SELECT count(*) FROM processed_events WHERE consumer = '{consumer}'");
    world.wait_for_count(&query, count).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_consumer_processes_each_event_once_by_itself() {
    let mut world = world().await;
    let receiver = world.receiver().await;
    let _first = world.worker().await;
    deliver(&receiver.client, "many", 300, 20, 8).await;
    settled_by(&world, "payonce", 300).await;
    // The second consumer's events have waited for it since the receiver declared its queue.
    as_analytics(&mut world);
    let _second = world.worker().await;
    settled_by(&world, "analytics", 300).await;
    for (table, each) in [("payments", 300), ("payment_facts", 300), ("ledger_entries", 600), ("outbox", 300)]
    {
        for consumer in ["payonce", "analytics"] {
            let query = format!("SELECT count(*) FROM {table} WHERE consumer = '{consumer}'");
            world.wait_for_count(&query, each).await;
        }
    }
    let report = world.audit(300).await;
    assert_eq!(report["applied"], 300, "{report}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_consumers_dead_letter_is_no_business_of_the_other() {
    let mut world = world().await;
    let receiver = world.receiver().await;
    let first = world.worker().await;
    let client = world.database.client().await;
    // Only for the second consumer.
    client
        .batch_execute(
            "ALTER TABLE payments ADD CONSTRAINT none_for_analytics CHECK (consumer <> 'analytics')",
        )
        .await
        .expect("the rule can be added");
    as_analytics(&mut world);
    let second = world.worker().await;
    deliver(&receiver.client, "one", 1, 0, 1).await;
    settled_by(&world, "payonce", 1).await;
    let given_up = |consumer| format!("SELECT count(*) FROM dead_letters WHERE consumer = '{consumer}'");
    world.wait_for_count(&given_up("analytics"), 1).await;
    world.wait_for_count(&given_up("payonce"), 0).await;
    assert_eq!(world.vhost.depth("events.dlq").await, 0);
    settled_by(&world, "analytics", 0).await;
    first.process.assert_no_panic();
    second.process.assert_no_panic();
}
