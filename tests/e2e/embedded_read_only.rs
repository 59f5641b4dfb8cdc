use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt;

use harness::embedded_world::{EmbeddedWorld, Payonce};
use harness::load::payload;
use harness::process::Process;
use harness::world::wait_until_ready;

/// A world in which `payonce` has run once, and whose file `name` was made read-only afterwards, with a new
/// process on it.
async fn on_a_read_only(name: &str) -> (EmbeddedWorld, Payonce) {
    let world = EmbeddedWorld::create();
    let mut first = world.start().await;
    first.client.deliver(payload("before", 0)).await;
    world.audit(Some(1)).await;
    first.process.signal("INT").await;
    assert!(first.process.ended().await.success());
    set_mode(&world, name, 0o400);
    let process = Process::start_without_privileges("payonce", world.folder.path(), world.environment());
    let payonce = EmbeddedWorld::listening(process).await;
    (world, payonce)
}

/// Of the file and those that SQLite keeps beside it, which it gives the same permissions.
fn set_mode(world: &EmbeddedWorld, name: &str, mode: u32) {
    for entry in std::fs::read_dir(world.folder.path()).expect("a folder") {
        let path = entry.expect("an entry").path();
        let file = path.file_name().map(|file| file.to_string_lossy().into_owned()).unwrap_or_default();
        if ["", "-wal", "-shm"].iter().any(|ending| file == format!("{name}{ending}")) {
            set_permissions(&path, Permissions::from_mode(mode)).expect("the owner may change it");
        }
    }
}

async fn readiness(payonce: &Payonce) -> u16 {
    let ops = harness::client::Client::new(payonce.ops.clone());
    ops.get("/health/ready").await.expect("an answer").status
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_queue_is_read_only_senders_get_503_and_after_a_restart_are_accepted() {
    let (world, mut payonce) = on_a_read_only("queue.db").await;
    for number in 1..20 {
        assert_eq!(payonce.client.post(payload("refused", number)).await.unwrap().status, 503);
    }
    payonce.process.wait_for_line("queue.db cannot be written: the file or its folder is read-only").await;
    assert_eq!(readiness(&payonce).await, 503);
    payonce.process.assert_no_panic();
    payonce.process.kill_9().await;
    set_mode(&world, "queue.db", 0o600);
    let again = world.start().await;
    again.client.deliver(payload("accepted", 1)).await;
    // Of what was refused nothing is there: the one from before, and the one that was accepted.
    assert_eq!(world.audit(Some(2)).await["applied"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_store_is_read_only_events_are_kept_and_afterwards_applied() {
    let (world, mut payonce) = on_a_read_only("payonce.db").await;
    payonce.client.deliver(payload("kept", 1)).await;
    payonce.process.wait_for_line("the store is away; processing is paused").await;
    // While the worker's own probe has the turn to write, readiness only sees that the file can be read.
    let told = async {
        while readiness(&payonce).await != 503 {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(30), told).await.expect("readiness says 503");
    set_mode(&world, "payonce.db", 0o600);
    payonce.process.wait_for_line("the store is back; processing goes on").await;
    wait_until_ready(&payonce.ops).await;
    payonce.process.signal("INT").await;
    assert!(payonce.process.ended().await.success());
    assert_eq!(world.audit(Some(2)).await["applied"], 2);
}
