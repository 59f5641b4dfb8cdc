//! What must be true in every world.

use application::testing::succeeded_payload;
use bytes::Bytes;

use super::site::Site;

/// Who orders it, and why.
const BY_ANN: [&str; 4] = ["--actor", "ann", "--why", "the rule is gone"];

/// A payment of the amount that the rule of [`forbid`] allows once.
fn payload(event: &str) -> Bytes {
    succeeded_payload(event, &format!("pi_{event}"), 77)
}

/// A rule of the store that is not payonce's own: no amount twice.
async fn forbid(site: &impl Site) {
    site.execute("CREATE UNIQUE INDEX no_amount_twice ON payments (captured_minor)").await;
}

async fn allow(site: &impl Site) {
    site.execute("DROP INDEX no_amount_twice").await;
}

/// An event that is applied, and others that the store refuses because of it.
async fn give_up(site: &impl Site, refused: &[&str]) {
    site.deliver(payload("evt_first")).await;
    site.wait_for("SELECT count(*) FROM processed_events", 1).await;
    forbid(site).await;
    for event in refused {
        site.deliver(payload(event)).await;
    }
    site.wait_for_letters("open", i64::try_from(refused.len()).expect("a small number")).await;
}

async fn replay(site: &impl Site, arguments: &[&str]) -> serde_json::Value {
    let pace = ["--yes", "--ramp", "100", "--rate", "1000"];
    site.ask(&[&["replay"], arguments, &pace, &BY_ANN].concat()).await
}

pub async fn what_is_given_up_is_kept_whole_in_the_store(site: impl Site) {
    give_up(&site, &["evt_bad"]).await;
    let id = site.only_letter().await;
    let whole = site.ask(&["show", &id]).await;
    let letter = &whole["letter"];
    assert_eq!(
        (&letter["reason"], &letter["event"]["event_id"]),
        (&"store_refused".into(), &"evt_bad".into())
    );
    assert_eq!(
        (&letter["amount"]["decimal"], &letter["amount"]["currency"]),
        (&"0.77".into(), &"USD".into())
    );
    for known in
        ["detail", "received_at", "dead_lettered_at", "worker", "release", "group", "kind", "payment"]
    {
        assert!(letter[known].is_string(), "{known} is missing: {letter:#}");
    }
    assert_eq!(site.operate(&["show", &id, "--payload"]).await, payload("evt_bad"));
    assert_eq!(site.audit(2).await["dead_letters_in_the_queue"], 0);
}

pub async fn a_letter_is_replayed_once_its_cause_is_mended(site: impl Site) {
    give_up(&site, &["evt_bad"]).await;
    allow(&site).await;
    let id = site.only_letter().await;
    let job = replay(&site, &[&id]).await;
    assert_eq!(
        (&job["state"], &job["progress"]["replayed"], &job["actor"]),
        (&"finished".into(), &1.into(), &"ann".into())
    );
    site.wait_for("SELECT count(*) FROM processed_events WHERE outcome = 1", 2).await;
    let report = site.audit(2).await;
    assert_eq!((&report["applied"], &report["dead_letters"]), (&2.into(), &0.into()));
    assert_eq!(site.ask(&["show", &id]).await["letter"]["state"], "replayed");
    site.wait_for(
        "SELECT count(*) FROM operator_actions WHERE actor = 'ann' AND why = 'the rule is gone'",
        1,
    )
    .await;
}

pub async fn a_letter_of_what_was_applied_meanwhile_changes_nothing_when_it_is_replayed(site: impl Site) {
    give_up(&site, &["evt_bad"]).await;
    allow(&site).await;
    // The provider sends it once more.
    site.deliver(payload("evt_bad")).await;
    site.wait_for("SELECT count(*) FROM processed_events WHERE outcome = 1", 2).await;
    let books = "SELECT count(*) FROM ledger_entries";
    let entries = site.count(books).await;
    replay(&site, &["--reason", "store_refused"]).await;
    assert_eq!(site.audit(2).await["applied"], 2);
    assert_eq!(site.count(books).await, entries);
    site.wait_for_letters("open", 0).await;
}

pub async fn what_fails_again_is_a_new_letter_that_knows_of_the_replay(site: impl Site) {
    give_up(&site, &["evt_bad"]).await;
    replay(&site, &["--event", "evt_bad"]).await;
    site.wait_for_letters("open", 1).await;
    site.wait_for("SELECT count(*) FROM dead_letters WHERE state = 'open' AND replays = 1", 1).await;
    assert_eq!(site.audit(2).await["dead_letters"], 1);
    let often = ["replay", "--event", "evt_bad", "--replays-max", "1", "--yes"];
    let (done, printed, _) = site.try_to_operate(&[&often[..], &BY_ANN].concat()).await;
    let printed = String::from_utf8(printed).expect("text");
    assert!(!done && printed.contains("1 were replayed too often"), "{printed}");
}

pub async fn a_group_is_previewed_with_its_money_and_replayed_together(site: impl Site) {
    give_up(&site, &["evt_1", "evt_2", "evt_3"]).await;
    allow(&site).await;
    let groups = site.ask(&["groups"]).await;
    assert_eq!(
        (groups["groups"].as_array().expect("a list").len(), &groups["groups"][0]["letters"]),
        (1, &3.into()),
        "{groups:#}"
    );
    let group = groups["groups"][0]["group"].as_str().expect("a text");
    let preview = [&["replay", "--group", group, "--dry-run"][..], &BY_ANN].concat();
    let told = String::from_utf8(site.operate(&preview).await).expect("text");
    assert!(told.contains("3 dead letters, 2.31 USD"), "{told}");
    site.wait_for_letters("open", 3).await;
    assert_eq!(replay(&site, &["--group", group]).await["progress"]["replayed"], 3);
    assert_eq!(site.audit(4).await["applied"], 4);
}

pub async fn nothing_is_replayed_by_an_empty_filter(site: impl Site) {
    give_up(&site, &["evt_bad"]).await;
    let (done, _, complaint) = site.try_to_operate(&[&["replay", "--yes"][..], &BY_ANN].concat()).await;
    assert!(!done && complaint.contains("--everything"), "{complaint}");
    let (done, _, complaint) =
        site.try_to_operate(&[&["replay", "--everything"][..], &BY_ANN].concat()).await;
    assert!(!done && complaint.contains("--yes"), "{complaint}");
    site.wait_for_letters("open", 1).await;
    assert_eq!(replay(&site, &["--everything"]).await["progress"]["replayed"], 1);
}

pub async fn a_discard_asks_for_a_reason_and_the_letter_stays_accounted_for(site: impl Site) {
    give_up(&site, &["evt_bad"]).await;
    let id = site.only_letter().await;
    for without in [&["discard", &id, "--yes"][..], &["discard", &id, "--yes", "--why", " "]] {
        assert!(!site.try_to_operate(without).await.0, "{without:?}");
    }
    site.wait_for_letters("open", 1).await;
    let discarded = site.ask(&["discard", &id, "--yes", "--actor", "ann", "--why", "refunded by hand"]).await;
    assert_eq!(discarded["ids"].to_string(), format!("[{id}]"));
    let whole = site.ask(&["show", &id]).await;
    let letter = &whole["letter"];
    assert_eq!(
        (&letter["state"], &letter["discard_reason"]),
        (&"discarded".into(), &"refunded by hand".into())
    );
    assert_eq!(site.operate(&["show", &id, "--payload"]).await, payload("evt_bad"));
    assert_eq!(site.audit(2).await["dead_letters"], 1);
    // What is discarded is not replayed.
    let (done, _, _) = site.try_to_operate(&[&["replay", &id, "--yes"][..], &BY_ANN].concat()).await;
    assert!(!done);
}

pub async fn an_edited_copy_is_applied_in_place_of_the_letter(site: impl Site) {
    give_up(&site, &["evt_bad"]).await;
    let id = site.only_letter().await;
    let file = std::env::temp_dir().join(format!("payonce-edit-{}-{id}.json", std::process::id()));
    let file_name = file.to_str().expect("a path of text");
    let edit = [&["edit", &id, "--payload", file_name][..], &BY_ANN].concat();
    // Another event: that would go round the idempotency key.
    std::fs::write(&file, succeeded_payload("evt_other", "pi_evt_bad", 78)).expect("the file is written");
    assert!(!site.try_to_operate(&edit).await.0);
    std::fs::write(&file, succeeded_payload("evt_bad", "pi_evt_bad", 78)).expect("the file is written");
    assert_eq!(site.ask(&edit).await["progress"]["replayed"], 1);
    std::fs::remove_file(&file).ok();
    let amount = "SELECT count(*) FROM payments WHERE captured_minor = 78";
    site.wait_for(amount, 1).await;
    let report = site.audit(2).await;
    assert_eq!((&report["applied"], &report["dead_letters"]), (&2.into(), &0.into()));
    assert_eq!(site.ask(&["show", &id]).await["letter"]["state"], "replayed");
}

pub async fn a_job_can_be_halted_and_ended(site: impl Site) {
    give_up(&site, &["evt_1", "evt_2", "evt_3"]).await;
    allow(&site).await;
    // One letter, and after that five seconds in which to look.
    let slow = ["replay", "--everything", "--ramp", "1,1,1", "--rate", "1", "--yes", "--no-wait"];
    let job = site.ask(&[&slow[..], &BY_ANN].concat()).await["job"].to_string();
    site.wait_for_letters("replayed", 1).await;
    site.operate(&[&["pause", &job][..], &BY_ANN].concat()).await;
    assert_eq!(site.ask(&["job", &job]).await["state"], "paused");
    site.operate(&[&["resume", &job][..], &BY_ANN].concat()).await;
    site.operate(&[&["cancel", &job][..], &BY_ANN].concat()).await;
    let job = site.ask(&["job", &job]).await;
    assert_eq!(
        (&job["state"], &job["progress"]["replayed"], &job["progress"]["released"]),
        (&"canceled".into(), &1.into(), &2.into()),
        "{job:#}"
    );
    site.wait_for_letters("open", 2).await;
    let report = site.audit(4).await;
    assert_eq!((&report["applied"], &report["dead_letters"]), (&2.into(), &2.into()));
}
