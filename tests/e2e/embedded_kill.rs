use std::time::Duration;

use harness::embedded_world::EmbeddedWorld;
use harness::load::deliver;

/// How often the process is killed. `PAYONCE_TEST_KILL_ROUNDS=100` for the long run.
fn rounds() -> u64 {
    std::env::var("PAYONCE_TEST_KILL_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(10)
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_random_moments_under_load_nothing_is_lost_and_nothing_doubled() {
    let mut world = EmbeddedWorld::create();
    let mut payonce = world.start().await;
    // The next process takes over the address.
    world.set("PAYONCE__HTTP__BIND", payonce.client.address());
    let rounds = rounds();
    let events = 300 * usize::try_from(rounds).unwrap_or(usize::MAX);
    let client = payonce.client.another();
    let load = tokio::spawn(async move { deliver(&client, "killed", events, 30, 8).await });
    for round in 0..rounds {
        // A different moment each time, spread over what one batch takes and more.
        tokio::time::sleep(Duration::from_millis(50 + (round * 37) % 211)).await;
        payonce.process.kill_9().await;
        payonce.process.assert_no_panic();
        payonce = world.start().await;
    }
    load.await.unwrap();
    let events = u64::try_from(events).unwrap();
    let report = world.audit(Some(events)).await;
    assert_eq!((&report["applied"], &report["dead_letters"]), (&events.into(), &0.into()));
    payonce.process.assert_no_panic();
}
