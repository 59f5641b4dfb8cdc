//! An event that kills every worker that has it in hand.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use application::testing::succeeded_payload;
use harness::world::{Worker, World};
use tokio_postgres::Client;

/// More deaths than the broker allows.
const DEATHS_MAX: usize = 25;

/// How long a worker may take until it has the event in hand, on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_mins(1);

/// Kills the worker as soon as one of its sessions waits for the held payment; `false` when the event is a dead
/// letter.
async fn dies_of_it(worker: &mut Worker, observer: &Client) -> bool {
    let waiting = "SELECT pid FROM pg_stat_activity \
                   WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let since = Instant::now();
    loop {
        let letters = observer.query_one("SELECT count(*) FROM dead_letters", &[]).await.expect("a number");
        if letters.get::<_, i64>(0) > 0 {
            return false;
        }
        let sessions = observer.query(waiting, &[]).await.expect("the sessions");
        if !sessions.is_empty() {
            worker.process.kill_9().await;
            // The server would keep the dead worker's transaction until the lock's time-out.
            for session in sessions {
                observer
                    .execute("SELECT pg_terminate_backend($1)", &[&session.get::<_, i32>(0)])
                    .await
                    .expect("the session ends");
            }
            return true;
        }
        assert!(since.elapsed() < PATIENCE, "the event does not come:\n{:#?}", worker.process.log());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_kills_every_worker_becomes_one_dead_letter_and_all_others_are_applied() {
    let world = World::create().await;
    let receiver = world.receiver().await;
    let (holder, observer) = (world.database.client().await, world.database.client().await);
    let mut worker = world.worker().await;
    receiver.client.deliver(succeeded_payload("evt_first", "pi_held", 1)).await;
    world.wait_until_settled(1).await;
    worker.process.kill_9().await;
    // Whoever comes to this payment can neither go on nor fail.
    holder.batch_execute("BEGIN; SELECT * FROM payments FOR UPDATE").await.unwrap();
    for n in 0..40 {
        receiver
            .client
            .deliver(succeeded_payload(&format!("evt_before_{n}"), &format!("pi_before_{n}"), 1))
            .await;
    }
    receiver.client.deliver(succeeded_payload("evt_culprit", "pi_held", 1)).await;
    for n in 0..40 {
        receiver
            .client
            .deliver(succeeded_payload(&format!("evt_after_{n}"), &format!("pi_after_{n}"), 1))
            .await;
    }
    let mut deaths = 0;
    loop {
        worker = world.worker().await;
        if !dies_of_it(&mut worker, &observer).await {
            break;
        }
        deaths += 1;
        assert!(deaths <= DEATHS_MAX, "the event is never given up");
    }
    holder.batch_execute("ROLLBACK").await.unwrap();
    world.wait_until_settled(81).await;
    let report = world.audit(82).await;
    assert_eq!((report["applied"].as_u64(), report["dead_letters"].as_u64()), (Some(81), Some(1)));
    let letters = observer.query("SELECT event_id, reason FROM dead_letters", &[]).await.unwrap();
    let letters: BTreeSet<(String, String)> =
        letters.iter().map(|row| (row.get("event_id"), row.get("reason"))).collect();
    assert_eq!(letters, BTreeSet::from([("evt_culprit".to_owned(), "delivery_limit".to_owned())]));
    worker.process.assert_no_panic();
}
