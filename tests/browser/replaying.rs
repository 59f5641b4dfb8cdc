use application::dead_letter::LetterState;

use super::page_world::PageWorld;

#[tokio::test(flavor = "multi_thread")]
async fn a_letter_is_replayed_with_one_click() {
    let world = PageWorld::start().await;
    world.store_refused(1).await;
    world.open("/dead-letters/1").await;
    world.browser.click("Replay it now").await;
    world.browser.wait_for("Replay 1 is ordered: 1 letter (90.00 EUR)").await;
    assert_eq!(world.browser.place().await, "/replays/1");
    assert_eq!(world.count(LetterState::Open).await, 0);
    world.open("/actions").await;
    let text = world.browser.text().await;
    assert!(text.contains("the cause is mended") && text.contains("local"), "{text}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_is_previewed_and_replayed_and_the_replay_can_be_canceled() {
    let world = PageWorld::start().await;
    world.store_refused(12).await;
    world.open("/failures").await;
    world.browser.click("Replay all 12…").await;
    world.browser.wait_for("Replay 12 dead letters?").await;
    assert!(world.browser.text().await.contains("1,080.00 EUR"));
    assert_eq!(world.count(LetterState::Open).await, 12, "a preview changes nothing");
    world.browser.click("Replay 12").await;
    world.browser.wait_for("The reason is empty").await;
    assert_eq!(world.count(LetterState::Open).await, 12, "nothing is replayed without a reason");
    world.browser.fill("why", "release 2 knows refunds").await;
    world.browser.click("Replay 12").await;
    world.browser.wait_for("Replay 1 is ordered: 12 letters").await;
    assert_eq!(world.count(LetterState::Open).await, 0);
    world.browser.fill("why", "it fails again").await;
    world.browser.click("Cancel").await;
    world.browser.say_no().await;
    assert_eq!(world.count(LetterState::Open).await, 0, "nothing is canceled by a no");
    world.browser.click("Cancel").await;
    world.browser.say_yes().await;
    world.browser.wait_for("Replay 1 is canceled.").await;
    assert!(world.count(LetterState::Open).await > 0);
    assert_eq!(world.count(LetterState::Replaying).await, 0);
    world.open("/actions").await;
    let text = world.browser.text().await;
    assert!(text.contains("cancel replay") && text.contains("it fails again"), "{text}");
    assert!(world.browser.complaints().await.iter().all(|complaint| complaint.contains("422")));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_is_paused_and_goes_on() {
    let world = PageWorld::start().await;
    world.store_refused(12).await;
    world.open("/replays/new?everything=yes").await;
    world.browser.fill("why", "mended").await;
    world.browser.click("Replay 12").await;
    world.browser.wait_for("Replay 1 is ordered").await;
    world.browser.fill("why", "let us see").await;
    world.browser.click("Pause").await;
    world.browser.wait_for("Replay 1 is paused.").await;
    world.browser.fill("why", "it works").await;
    world.browser.click("Resume").await;
    world.browser.wait_for("Replay 1 is running.").await;
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn letters_are_selected_in_the_list_and_nothing_selected_is_told() {
    let world = PageWorld::start().await;
    world.store_refused(5).await;
    world.open("/dead-letters").await;
    for number in [2, 4] {
        world.browser.tick("id", &number.to_string()).await;
    }
    world.browser.click("Replay selected…").await;
    world.browser.wait_for("Replay 2 dead letters?").await;
    world.browser.fill("why", "mended").await;
    world.browser.click("Replay 2").await;
    world.browser.wait_for("2 letters").await;
    assert_eq!(world.count(LetterState::Open).await, 3);
    world.open("/replays/new").await;
    assert!(world.browser.text().await.contains("No letter is selected"));
    assert!(world.browser.complaints().await.iter().all(|complaint| complaint.contains("422")));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edited_letter_is_replayed_as_a_linked_copy() {
    let world = PageWorld::start().await;
    world.store_refused(1).await;
    world.open("/dead-letters/1").await;
    world.browser.click("Edit and replay…").await;
    let payload = r#"{"id":"evt_0","type":"payment_intent.succeeded","data":{"payment_intent":"pi_0","amount_cents":12,"currency":"eur","status":"succeeded"}}"#;
    world.browser.fill("why", "the amount was wrong").await;
    world.browser.fill("payload", "not json").await;
    world.browser.click("Replay this").await;
    world.browser.wait_for("Nothing was changed").await;
    world.browser.fill("payload", payload).await;
    world.browser.click("Replay this").await;
    world.browser.wait_for("Replay 1 is ordered: 1 letter (0.12 EUR)").await;
    world.open("/dead-letters/1").await;
    world.browser.wait_for("Edited").await;
    assert!(world.browser.text().await.contains("The copy, dead letter 2"));
    assert!(world.browser.complaints().await.iter().all(|complaint| complaint.contains("422")));
    world.end().await;
}
