//! How often an event is run, with the waits of a real broker in between.

use application::testing::succeeded_payload;

use super::rabbitmq::RabbitSite;
use super::site::Site;

/// A site with a payment whose row another session holds, so that every further event of it fails.
async fn site_with_a_held_payment(settings: &[(&str, &str)]) -> (RabbitSite, tokio_postgres::Client) {
    let quick = [("PAYONCE__STORE__LOCK_TIMEOUT_MS", "100"), ("PAYONCE__WORKER__RETRY_DELAY_MS", "100")];
    let site = RabbitSite::open_with_all(&[&quick, settings].concat()).await;
    site.deliver(succeeded_payload("evt_first", "pi_held", 1)).await;
    site.wait_for("SELECT count(*) FROM processed_events", 1).await;
    let holder = site.world.database.client().await;
    holder.batch_execute("BEGIN; SELECT * FROM payments FOR UPDATE").await.expect("the rows are held");
    (site, holder)
}

fn runs_that_failed(site: &RabbitSite) -> usize {
    site.worker.process.log().iter().filter(|line| line.contains("failed payment/evt_failing")).count()
}

async fn wait_for_failed_runs(site: &RabbitSite, wanted: usize) {
    for _ in 0..1200 {
        if runs_that_failed(site) >= wanted {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("it failed {} times, not {wanted}", runs_that_failed(site));
}

#[tokio::test(flavor = "multi_thread")]
async fn with_several_waits_an_event_is_run_exactly_as_often_as_is_set() {
    let (site, _holder) = site_with_a_held_payment(&[("PAYONCE__WORKER__ATTEMPTS_MAX", "5")]).await;
    site.deliver(succeeded_payload("evt_failing", "pi_held", 1)).await;
    site.wait_for_letters("open", 1).await;
    assert_eq!(runs_that_failed(&site), 5);
    let letter = &site.ask(&["show", &site.only_letter().await]).await["letter"];
    assert_eq!((&letter["reason"], &letter["failed_attempts"]), (&"attempts_exhausted".into(), &5.into()));
    site.audit(2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replayed_event_has_all_its_attempts_again() {
    // Time to let the payment go between the second run and the third.
    let slow = ("PAYONCE__WORKER__RETRY_DELAY_MS", "1500");
    let (site, holder) = site_with_a_held_payment(&[slow]).await;
    site.deliver(succeeded_payload("evt_failing", "pi_held", 1)).await;
    site.wait_for_letters("open", 1).await;
    assert_eq!(runs_that_failed(&site), 3);
    let id = site.only_letter().await;
    let order = ["--yes", "--actor", "ann", "--why", "again"];
    site.operate(&[&["replay", &id][..], &order].concat()).await;
    // Two more fail, and the third run succeeds.
    wait_for_failed_runs(&site, 5).await;
    holder.batch_execute("ROLLBACK").await.unwrap();
    site.wait_for("SELECT count(*) FROM processed_events", 2).await;
    assert_eq!(runs_that_failed(&site), 5);
    assert_eq!(site.ask(&["show", &id]).await["letter"]["state"], "replayed");
    let report = site.audit(2).await;
    assert_eq!(report["dead_letters"], 0);
}
