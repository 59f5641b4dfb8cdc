use application::testing::succeeded_payload;
use harness::embedded_world::EmbeddedWorld;
use harness::world::wait_until_ready;

/// Room for some hundred events with their padding, in each file.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
const PADDING: usize = 8 * 1024;

/// A native event that takes some room.
fn padded(number: usize) -> String {
    let event = succeeded_payload(&format!("evt_{number}"), &format!("pi_{number}"), 1);
    let event = std::str::from_utf8(&event).expect("JSON is text").trim_end_matches('}');
    format!("{event},\"padding\":\"{}\"}}}}", "x".repeat(PADDING))
}

#[tokio::test(flavor = "multi_thread")]
async fn when_the_disk_is_full_senders_get_503_and_nothing_that_was_accepted_is_lost() {
    let world = EmbeddedWorld::create();
    // Makes the files first, while there is room.
    let mut payonce = world.start().await;
    wait_until_ready(&payonce.ops).await;
    payonce.process.signal("INT").await;
    assert!(payonce.process.ended().await.success());

    let mut payonce = world.start_with_file_limit(FILE_BYTES_MAX).await;
    let (mut accepted, mut refused) = (0, 0);
    for number in 0..2000 {
        match payonce.client.post(padded(number)).await.unwrap().status {
            200 => accepted += 1,
            503 => refused += 1,
            other => panic!("answered {other}"),
        }
        if refused >= 20 {
            break;
        }
    }
    assert!(accepted > 0, "nothing was accepted while there was room");
    assert!(refused > 0, "{accepted} accepted and none refused: the limit was never met");
    assert_eq!(payonce.client.get("/health").await.unwrap().status, 200);
    payonce.process.assert_no_panic();
    payonce.process.kill_9().await;

    // There is room again: whatever was answered 200 is applied, and nothing that was refused is half there.
    let _payonce = world.start().await;
    let report = world.audit(None).await;
    let applied = report["applied"].as_u64().unwrap();
    assert!(applied >= accepted && applied <= accepted + refused, "{accepted} accepted: {report:#}");
}
