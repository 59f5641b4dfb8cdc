use application::dead_letter::LetterState;
use harness::embedded_world::EmbeddedWorld;
use sha2::{Digest, Sha256};

use super::page_world::PageWorld;

const ANN: &str = "payonce_ann-operates-here-00000000000000000000000000";
const BOB: &str = "payonce_bob-only-reads-here-000000000000000000000000";

/// A world that lets in who has a token: Ann may change things, Bob may look.
async fn with_tokens() -> PageWorld {
    let mut world = EmbeddedWorld::create();
    std::fs::create_dir_all(world.folder.path()).expect("a folder");
    let file = world.folder.path().join("tokens");
    let lines =
        [("ann", "operate", ANN), ("bob", "read", BOB)].map(|(name, scope, token)| line(name, scope, token));
    std::fs::write(&file, lines.concat()).expect("a file");
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600))
        .expect("a file of ours");
    world.set("PAYONCE__OPS__TOKENS_FILE", &file.display().to_string());
    PageWorld::start_in(world).await
}

fn line(name: &str, scope: &str, token: &str) -> String {
    let digest: Vec<String> = Sha256::digest(token).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{name} {scope} sha256:{}\n", digest.concat())
}

async fn log_in(world: &PageWorld, token: &str) {
    world.browser.fill("token", token).await;
    world.browser.click("Log in").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_a_token_logs_in_and_out_and_nobody_else_sees_anything() {
    let world = with_tokens().await;
    world.store_refused(1).await;
    world.open("/dead-letters?state=all").await;
    assert!(world.browser.place().await.starts_with("/login"));
    assert!(!world.browser.text().await.contains("evt_0"));
    log_in(&world, "payonce_wrong").await;
    world.browser.wait_for("This token is not known here").await;
    log_in(&world, ANN).await;
    world.browser.wait_for("evt_0").await;
    assert_eq!(world.browser.place().await, "/dead-letters?state=all", "it leads to what was asked for");
    world.browser.click("Log out").await;
    world.browser.wait_for("Token").await;
    world.open("/dead-letters").await;
    assert!(world.browser.place().await.starts_with("/login"));
    log_in(&world, ANN).await;
    world.open("/actions").await;
    let text = world.browser.text().await;
    assert!(text.contains("log in") && text.contains("log out") && text.contains("ann"), "{text}");
    assert!(world.browser.complaints().await.iter().all(|complaint| complaint.contains("401")));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_only_read_is_offered_no_change_and_can_make_none() {
    let world = with_tokens().await;
    world.store_refused(1).await;
    world.open("/dead-letters/1").await;
    log_in(&world, BOB).await;
    world.browser.wait_for("evt_0").await;
    let text = world.browser.text().await;
    assert!(
        text.contains("bob (may read)") && !text.contains("Replay it now") && !text.contains("Download"),
        "{text}"
    );
    let sent = "fetch('/dead-letters/discard', {method: 'POST', body: new URLSearchParams({id: 1, why: 'x', \
                csrf: document.querySelector('[name=csrf]').value})}).then(answer => answer.status)";
    assert_eq!(world.browser.value(sent).await, 403);
    world.open("/dead-letters/1/payload").await;
    world.open("/dead-letters/1/edit").await;
    assert!(world.browser.text().await.contains("scope operate"));
    assert_eq!(world.count(LetterState::Open).await, 1);
    assert!(world.browser.complaints().await.iter().all(|complaint| complaint.contains("403")));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_without_the_pages_own_token_changes_nothing() {
    let world = PageWorld::start().await;
    world.store_refused(1).await;
    world.open("/dead-letters/discard?id=1").await;
    world.browser.value("document.querySelector('[name=csrf]').value = 'forged'").await;
    world.browser.fill("why", "because I can").await;
    world.browser.click("Discard").await;
    world.browser.wait_for("not from this page").await;
    assert_eq!(world.count(LetterState::Open).await, 1);
    assert!(world.browser.complaints().await.iter().all(|complaint| complaint.contains("403")));
    world.end().await;
}
