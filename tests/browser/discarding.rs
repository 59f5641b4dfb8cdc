use application::dead_letter::LetterState;
use application::testing::succeeded_payload;
use harness::embedded_world::EmbeddedWorld;

use super::page_world::PageWorld;

#[tokio::test(flavor = "multi_thread")]
async fn a_letter_is_discarded_with_a_reason_and_not_without() {
    let world = PageWorld::start().await;
    world.store_refused(2).await;
    world.open("/dead-letters/1").await;
    world.browser.click("Discard…").await;
    world.browser.wait_for("Discard 1 dead letter?").await;
    world.browser.click("Discard").await;
    world.browser.wait_for("The reason is empty").await;
    assert_eq!(world.count(LetterState::Discarded).await, 0);
    world.browser.fill("why", "refunded by hand, ticket 123").await;
    world.browser.click("Discard").await;
    world.browser.wait_for("1 dead letter is discarded (90.00 EUR)").await;
    assert_eq!(world.count(LetterState::Discarded).await, 1);
    assert_eq!(world.count(LetterState::Open).await, 1);
    assert!(world.browser.text().await.contains("refunded by hand, ticket 123"));
    assert!(!world.browser.has("form button.button-main").await, "there is nothing to replay any more");
    // What was said is said once.
    world.open("/dead-letters/1").await;
    assert!(!world.browser.text().await.contains("is discarded (90.00 EUR)"));
    assert!(world.browser.complaints().await.iter().all(|complaint| complaint.contains("422")));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn several_letters_are_discarded_from_the_list_without_any_script() {
    let world = PageWorld::start().await;
    world.store_refused(3).await;
    world.browser.use_scripts(false).await;
    world.open("/dead-letters").await;
    for number in [1, 3] {
        world.browser.tick("id", &number.to_string()).await;
    }
    world.browser.click("Discard selected…").await;
    world.browser.fill("why", "test events").await;
    world.browser.click("Discard").await;
    world.browser.find(".flash").await;
    assert_eq!(world.count(LetterState::Discarded).await, 2);
    world.browser.use_scripts(true).await;
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_was_refused_is_looked_at_and_let_go_with_a_reason() {
    let mut world = EmbeddedWorld::create();
    world.set("PAYONCE__SOURCES__PAYMENT__SECRETS", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    let world = PageWorld::start_in(world).await;
    let forged = succeeded_payload("evt_forged", "pi_1", 1);
    assert_eq!(world.payonce.client.post(forged).await.expect("an answer").status, 401);
    for _ in 0..100 {
        world.open("/quarantine").await;
        if world.browser.has("a[href='/quarantine/1']").await {
            break;
        }
    }
    world.browser.click("Request 1").await;
    world.browser.wait_for("Its source does not take it").await;
    assert!(!world.browser.text().await.contains("Take it in"));
    assert!(world.browser.text().await.contains("evt_forged"));
    world.browser.click("Discard").await;
    world.browser.say_yes().await;
    world.browser.wait_for("The reason is empty").await;
    world.browser.fill("why", "not from our provider").await;
    world.browser.click("Discard").await;
    world.browser.say_yes().await;
    world.browser.wait_for("Rejected request 1 is gone.").await;
    world.open("/actions").await;
    assert!(world.browser.text().await.contains("not from our provider"));
    assert!(world.browser.complaints().await.iter().all(|complaint| complaint.contains("422")));
    world.end().await;
}
