use std::os::unix::fs::PermissionsExt;

use application::testing::succeeded_payload;
use harness::embedded_world::EmbeddedWorld;
use harness::load::{deliver, payload};
use harness::process::Process;
use harness::world::wait_until_ready;

#[tokio::test(flavor = "multi_thread")]
async fn one_command_and_no_service_receives_queues_and_applies_once() {
    let world = EmbeddedWorld::create();
    let mut payonce = world.start().await;
    wait_until_ready(&payonce.ops).await;
    let body = succeeded_payload("evt_1", "pi_1", 4999);
    for _ in 0..3 {
        let answer = payonce.client.post(body.clone()).await.unwrap();
        assert_eq!(&answer.body[..], br#"{"status":"accepted","event_id":"evt_1"}"#);
    }
    payonce.process.wait_for_line("duplicate payment/evt_1").await;
    assert_eq!(world.audit(Some(1)).await["applied"], 1);
    payonce.process.assert_no_panic();
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_copies_at_the_same_moment_have_one_effect() {
    let world = EmbeddedWorld::create();
    let payonce = world.start().await;
    let mut senders = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let client = payonce.client.another();
        senders.spawn(async move { client.post(payload("copies", 0)).await.unwrap().status });
    }
    assert_eq!(senders.join_all().await, [200; 50]);
    assert_eq!(world.audit(Some(1)).await["applied"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_kinds_are_recorded_and_conflicts_are_dead_letters() {
    let world = EmbeddedWorld::create();
    let payonce = world.start().await;
    payonce.client.deliver(r#"{"id":"evt_odd","type":"galaxy.exploded","data":{}}"#).await;
    payonce.client.deliver(succeeded_payload("evt_1", "pi_1", 1000)).await;
    world.audit(Some(2)).await;
    payonce.client.deliver(succeeded_payload("evt_1", "pi_1", 9000)).await;
    let report = world.audit(Some(3)).await;
    assert_eq!(
        (&report["applied"], &report["recorded"], &report["dead_letters"]),
        (&1.into(), &1.into(), &1.into())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_deliveries_with_duplicates_are_each_applied_once() {
    let world = EmbeddedWorld::create();
    let payonce = world.start().await;
    deliver(&payonce.client, "volume", 7000, 30, 32).await;
    assert_eq!(world.audit(Some(7000)).await["applied"], 7000);
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_stops_cleanly_and_a_restart_goes_on_where_it_was() {
    let world = EmbeddedWorld::create();
    let mut first = world.start().await;
    for number in 0..300 {
        first.client.deliver(payload("restart", number)).await;
    }
    first.process.signal("INT").await;
    assert!(first.process.ended().await.success(), "{:#?}", first.process.log());
    let second = world.start().await;
    second.client.deliver(payload("restart", 0)).await;
    second.client.deliver(payload("restart", 300)).await;
    assert_eq!(world.audit(Some(301)).await["applied"], 301);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_instance_on_the_same_data_is_refused_and_the_first_goes_on() {
    let world = EmbeddedWorld::create();
    let first = world.start().await;
    let mut second = Process::start("payonce", &[], world.environment());
    assert!(!second.ended().await.success());
    let said = second.log().join("\n");
    assert!(said.contains("in use") || said.contains("another process"), "{said}");
    first.client.deliver(payload("first", 0)).await;
    world.audit(Some(1)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_data_is_for_this_user_alone() {
    let world = EmbeddedWorld::create();
    let payonce = world.start().await;
    payonce.client.deliver(payload("safe", 0)).await;
    world.audit(Some(1)).await;
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(world.folder.path()), 0o700);
    for entry in std::fs::read_dir(world.folder.path()).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path) & 0o077, 0, "{}", path.display());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_corrupt_queue_file_stops_the_start_with_its_name() {
    let world = EmbeddedWorld::create();
    std::fs::create_dir_all(world.folder.path()).unwrap();
    std::fs::write(world.folder.queue(), vec![0x5a; 8192]).unwrap();
    let mut payonce = Process::start("payonce", &[], world.environment());
    assert!(!payonce.ended().await.success());
    let said = payonce.log().join("\n");
    assert!(said.contains("queue.db"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_or_worker_alone_refuses_an_embedded_queue_and_says_what_to_do() {
    let world = EmbeddedWorld::create();
    for name in ["receiver", "worker"] {
        let mut process = Process::start(name, &[], world.environment());
        assert!(!process.ended().await.success());
        let said = process.log().join("\n");
        assert!(said.contains("Run `payonce`"), "{said}");
    }
}
