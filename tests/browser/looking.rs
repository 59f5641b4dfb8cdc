use application::dead_letter::LetterReason;
use application::testing::succeeded_payload;

use super::letters::{after_attempts, because, carrying, refused, unreadable};
use super::page_world::{PageWorld, ago};

#[tokio::test(flavor = "multi_thread")]
async fn the_overview_says_first_whether_money_is_stuck_how_much_and_why() {
    let world = PageWorld::start().await;
    world.open("/").await;
    assert!(world.browser.text().await.contains("No money is stuck"));
    world.store_refused(3).await;
    // Without a reload: the script asks again.
    world.browser.wait_for("3 events are stuck").await;
    let text = world.browser.text().await;
    assert!(text.contains("270.00 EUR"), "{text}");
    assert!(text.contains("The event is impossible for its payment"), "{text}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_was_given_up_is_told_whether_it_is_in_the_store_yet_or_not() {
    let world = PageWorld::start().await;
    // The same id with another meaning.
    world.payonce.client.deliver(succeeded_payload("evt_twice", "pi_1", 1)).await;
    world.wait_until_settled("evt_twice").await;
    world.payonce.client.deliver(succeeded_payload("evt_twice", "pi_1", 2)).await;
    world.open("/").await;
    let told = ["1 given up, and not in the store yet", "1 event is stuck"];
    for _ in 0..200 {
        if !world.browser.text().await.contains("No money is stuck") {
            break;
        }
        world.open("/").await;
    }
    let text = world.browser.text().await;
    assert!(told.iter().any(|told| text.contains(told)), "{text}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn from_a_group_of_failures_the_way_leads_to_each_letter_and_its_whole_story() {
    let world = PageWorld::start().await;
    let broken = because(
        "evt_9",
        ago(1),
        LetterReason::AttemptsExhausted,
        "the store failed: lock time-out",
        ("JPY", 500),
    );
    let broken = after_attempts(
        broken,
        &["the store failed: lock time-out", "the store failed: deadlock", "the store failed: lock time-out"],
    );
    world.store(vec![refused("evt_1", ago(9)), refused("evt_2", ago(8)), broken]).await;
    world.open("/").await;
    world.browser.click("Why, and what to do").await;
    world.browser.wait_for("What to do:").await;
    assert_eq!(world.browser.place().await, "/failures");
    world.browser.find("a[href*='group=']").await.click().await.expect("a link");
    world.browser.click("evt_2").await;
    world.browser.wait_for("Waits for a decision").await;
    world.open("/dead-letters?event_id=evt_9").await;
    world.browser.click("evt_9").await;
    world.browser.wait_for("Attempt 3 failed").await;
    let text = world.browser.text().await;
    for told in
        ["Received", "Attempt 1 failed", "deadlock", "Given up", "worker-7d9f-2", "500 JPY", "payment_intent"]
    {
        assert!(text.contains(told), "{told}: {text}");
    }
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_came_from_outside_does_nothing_on_any_page() {
    let world = PageWorld::start().await;
    let hostile = r#"{"x":"<script>window.hit=1</script>","y":"\"><img src=x onerror=window.hit=1>"}"#;
    let id = "\"><img src=x onerror=window.hit=1>";
    let detail = "<script>window.hit=1</script> \"><svg onload=window.hit=1>";
    let letter = carrying(because(id, ago(1), LetterReason::Untranslatable, detail, ("EUR", 1)), hostile);
    let raw = unreadable(b"<script>window.hit=1</script>\x00\xff", ago(2));
    world.store(vec![letter, raw]).await;
    world.payonce.client.deliver(succeeded_payload("evt_<b>", "pi_<script>window.hit=1</script>", 1)).await;
    world.wait_until_settled("evt_<b>").await;
    for path in [
        "/",
        "/failures",
        "/dead-letters",
        "/dead-letters/1",
        "/dead-letters/1?bytes=shown",
        "/dead-letters/1/edit",
        "/dead-letters/2",
        "/dead-letters/2?bytes=shown",
        "/dead-letters/discard?id=1",
        "/replays/new?id=1",
        "/events",
        "/events?q=%3Cscript%3Ewindow.hit%3D1%3C%2Fscript%3E",
        "/dead-letters?kind=%22%3E%3Cscript%3Ewindow.hit%3D1%3C%2Fscript%3E",
        "/payments/payment/pi_%3Cscript%3Ewindow.hit%3D1%3C%2Fscript%3E",
        "/login?next=%22%3E%3Cscript%3Ewindow.hit%3D1%3C%2Fscript%3E",
    ] {
        world.open(path).await;
        assert!(world.browser.value("window.hit === undefined").await.as_bool().unwrap(), "{path}");
        assert!(!world.browser.has("main script, main img, main svg[onload]").await, "{path}");
    }
    world.open("/dead-letters/1").await;
    assert!(world.browser.text().await.contains("<script>window.hit=1</script>"), "it is shown as text");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_is_found_by_its_id_or_its_payment_and_shows_the_path_that_it_took() {
    let world = PageWorld::start().await;
    world.payonce.client.deliver(succeeded_payload("evt_1", "pi_1", 4_999)).await;
    world.wait_until_settled("evt_1").await;
    world.browser.fill("q", "pi_1").await;
    world.browser.click("Search").await;
    world.browser.find("input[name='q'][value='pi_1']").await;
    world.browser.click("evt_1").await;
    world.browser.wait_for("Applied").await;
    let text = world.browser.text().await;
    for told in ["Received", "Queued", "Booked", "provider clearing", "49.99 USD"] {
        assert!(text.contains(told), "{told}: {text}");
    }
    world.browser.click("Payment pi_1").await;
    world.browser.wait_for("Where its money stands").await;
    world.browser.click("payment").await;
    world.browser.wait_for("What the provider holds").await;
    assert_eq!(world.browser.place().await, "/accounts/payment");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_says_so_and_what_to_do() {
    let world = PageWorld::start().await;
    for (path, told) in [
        ("/nowhere", "There is no such page"),
        ("/dead-letters/77", "there is no dead letter 77"),
        ("/replays/77", "there is no replay 77"),
        ("/events/payment/evt_none", "may still be in the queue"),
        ("/quarantine/77", "there is no rejected request 77"),
    ] {
        world.open(path).await;
        let text = world.browser.text().await;
        assert!(text.contains(told) && text.contains("Overview"), "{path}: {text}");
    }
    // The answers say 404, which is what the browser complains of.
    let complaints = world.browser.complaints().await;
    assert!(complaints.iter().all(|complaint| complaint.contains("404")), "{complaints:?}");
    world.end().await;
}
