//! Whoever archives or replays is killed in the middle of it.

use application::dead_letter::NewDeadLetter;
use application::testing::dead_letters::new_letter;
use application::testing::succeeded_payload;

use super::site::{Site, consumer};

/// As many as one job can have.
const LETTERS: usize = 50_000;
/// How many are stored together.
const STORED_TOGETHER: usize = 1_000;

fn letter(number: usize) -> NewDeadLetter {
    let event = format!("evt_{number}");
    let mut letter = new_letter(&event, i64::try_from(number).expect("a small number"));
    letter.consumer = consumer();
    letter.content.payload = succeeded_payload(&event, &format!("pi_{event}"), 100);
    letter
}

pub async fn a_replay_that_is_killed_twice_is_finished_and_applies_each_event_once(mut site: impl Site) {
    let store = site.letters();
    let letters: Vec<NewDeadLetter> = (0..LETTERS).map(letter).collect();
    for together in letters.chunks(STORED_TOGETHER) {
        store.store(together.to_vec()).await.expect("they are stored");
    }
    let fast = ["replay", "--everything", "--yes", "--no-wait", "--ramp", "500", "--rate", "10000"];
    let job = site.ask(&[&fast[..], &["--actor", "ann", "--why", "mended"]].concat()).await;
    assert_eq!(job["members"], LETTERS);
    let replayed = "SELECT count(*) FROM dead_letters WHERE state = 'replayed'";
    for killed_at in [LETTERS / 5, LETTERS / 2] {
        while site.count(replayed).await < i64::try_from(killed_at).expect("a small number") {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        site.kill_worker().await;
        assert!(
            site.count(replayed).await < i64::try_from(LETTERS).expect("a small number"),
            "the kill came too late"
        );
        site.start_worker().await;
    }
    let job = site.ask(&["job", &job["job"].to_string(), "--follow"]).await;
    assert_eq!((&job["state"], &job["progress"]["replayed"]), (&"finished".into(), &LETTERS.into()));
    let report = site.audit(u64::try_from(LETTERS).expect("a small number")).await;
    assert_eq!((&report["applied"], &report["dead_letters"]), (&LETTERS.into(), &0.into()));
}

pub async fn what_is_being_archived_when_the_worker_dies_is_kept_and_accounted_for_once(mut site: impl Site) {
    site.execute("CREATE UNIQUE INDEX no_amount_twice ON payments (captured_minor)").await;
    site.deliver(succeeded_payload("evt_first", "pi_first", 100)).await;
    site.wait_for("SELECT count(*) FROM processed_events", 1).await;
    for round in 0..5 {
        for number in 0..20 {
            let event = format!("evt_{round}_{number}");
            site.deliver(succeeded_payload(&event, &format!("pi_{event}"), 100)).await;
        }
        site.kill_worker().await;
        site.start_worker().await;
    }
    site.wait_for("SELECT count(DISTINCT event_id) FROM dead_letters", 100).await;
    // An event that was given up and not yet acknowledged at the kill may have been given up once more: that is
    // another letter, of the same event.
    let report = site.audit(101).await;
    assert_eq!((&report["applied"], &report["dead_letters"]), (&1.into(), &100.into()));
}
