//! What only a broker of its own can show.

use application::testing::succeeded_payload;
use lapin::BasicProperties;

use super::rabbitmq::RabbitSite;
use super::site::Site;

#[tokio::test(flavor = "multi_thread")]
async fn bytes_that_are_no_envelope_are_kept_as_they_came() {
    let site = RabbitSite::open().await;
    let bytes = b"\x00\xff not an envelope \x80".as_slice();
    site.world.vhost.put("events.main", BasicProperties::default(), bytes).await;
    site.wait_for_letters("open", 1).await;
    let id = site.only_letter().await;
    assert_eq!(site.ask(&["show", &id]).await["letter"]["reason"], "unreadable");
    assert_eq!(site.operate(&["show", &id, "--payload"]).await, bytes);
    site.world.vhost.wait_for_depth("events.dlq", 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreadable_message_is_replayed_only_once_somebody_says_which_event_it_is() {
    let site = RabbitSite::open().await;
    let payload = succeeded_payload("evt_1", "pi_1", 5);
    site.world.vhost.put("events.main", BasicProperties::default(), &payload).await;
    site.wait_for_letters("open", 1).await;
    let id = site.only_letter().await;
    let file = std::env::temp_dir().join(format!("payonce-unreadable-{}.json", std::process::id()));
    std::fs::write(&file, &payload).expect("the file is written");
    let order = ["--actor", "ann", "--why", "published by hand"];
    let edit = [&["edit", &id, "--payload", file.to_str().expect("a path of text")][..], &order].concat();
    assert!(!site.try_to_operate(&edit).await.0);
    site.operate(&[&edit[..], &["--event", "payment/evt_1"]].concat()).await;
    std::fs::remove_file(&file).ok();
    site.wait_for("SELECT count(*) FROM processed_events WHERE outcome = 1", 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_does_not_archive_leaves_them_in_the_queue() {
    let site = RabbitSite::open_with("PAYONCE__DEAD_LETTERS__ARCHIVE", "false").await;
    site.deliver(succeeded_payload("evt_1", "pi_1", 5)).await;
    site.wait_for("SELECT count(*) FROM processed_events", 1).await;
    site.deliver(succeeded_payload("evt_1", "pi_1", 6)).await;
    site.world.vhost.wait_for_depth("events.dlq", 1).await;
    let report = site.audit(2).await;
    assert_eq!((&report["dead_letters"], &report["dead_letters_in_the_queue"]), (&1.into(), &1.into()));
    assert_eq!(site.count("SELECT count(*) FROM dead_letters").await, 0);
    site.worker.process.assert_no_panic();
}
