use application::testing::succeeded_payload;
use harness::load::{deliver, payload};
use harness::process::Process;
use harness::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn sigterm_lets_a_worker_finish_its_batch_and_give_the_rest_back() {
    let world = World::create().await;
    let receiver = world.receiver().await;
    for number in 0..2000 {
        receiver.client.deliver(payload("term", number)).await;
    }
    let mut first = world.worker().await;
    first.process.wait_for_line("consuming").await;
    first.process.signal("TERM").await;
    assert!(first.process.ended().await.success(), "{:#?}", first.process.log());
    first.process.assert_no_panic();
    let _second = world.worker().await;
    world.wait_until_settled(2000).await;
    assert_eq!(world.audit(2000).await["applied"], 2000);
}

#[tokio::test(flavor = "multi_thread")]
async fn sigterm_lets_a_receiver_answer_what_is_in_flight() {
    let world = World::create().await;
    let _worker = world.worker().await;
    let mut receiver = world.receiver().await;
    let mut senders = tokio::task::JoinSet::new();
    for sender in 0..8 {
        let client = receiver.client.another();
        senders.spawn(async move {
            let mut accepted = 0;
            for number in 0..10_000 {
                let body = payload("inflight", sender * 10_000 + number);
                match client.post(body).await {
                    Ok(answer) if answer.status == 200 => accepted += 1,
                    Ok(answer) => panic!("answered {answer:?}"),
                    // The listener is closed: refused, not answered.
                    Err(_) => break,
                }
            }
            accepted
        });
    }
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    receiver.process.signal("TERM").await;
    assert!(receiver.process.ended().await.success(), "{:#?}", receiver.process.log());
    let accepted: u64 = senders.join_all().await.into_iter().sum();
    assert!(accepted > 0);
    // An event whose connection broke before the answer may be there too; none that was answered is missing.
    let settled = async || {
        let client = world.database.client().await;
        client.query_one("SELECT count(*) FROM processed_events", &[]).await.unwrap().get::<_, i64>(0)
    };
    let accepted = i64::try_from(accepted).unwrap();
    while settled().await < accepted {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert!(settled().await <= accepted + 8);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_leaves_no_error_in_the_log() {
    let world = World::create().await;
    let (mut worker, mut receiver) = (world.worker().await, world.receiver().await);
    deliver(&receiver.client, "stopped", 50, 0, 4).await;
    world.wait_until_settled(50).await;
    for process in [&mut receiver.process, &mut worker.process] {
        let said_before = process.log().len();
        process.signal("TERM").await;
        assert!(process.ended().await.success(), "{:#?}", process.log());
        let said = process.log().into_iter().skip(said_before);
        let errors: Vec<String> = said.filter(|line| line.contains(r#""level":"ERROR""#)).collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_broker_is_away_the_receiver_answers_503_at_once_and_is_not_ready() {
    let mut world = World::create().await;
    world.set("PAYONCE__BROKER__URL", "amqp://guest:canary-password@127.0.0.1:1/%2f");
    let receiver = world.receiver_that_may_not_be_ready().await;
    let answer = receiver.client.post(succeeded_payload("evt_1", "pi_1", 1)).await.unwrap();
    assert_eq!(answer.status, 503);
    assert_eq!(answer.retry_after.as_deref(), Some("5"));
    let ops = harness::client::Client::new(receiver.ops.clone());
    assert_eq!(ops.get("/health/ready").await.unwrap().status, 503);
    assert_eq!(ops.get("/health/live").await.unwrap().status, 200);
    assert_eq!(receiver.client.get("/health").await.unwrap().status, 200);
    let log = receiver.process.log().join("\n");
    assert!(!log.contains("canary-password"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_workers_may_start_on_an_empty_database_at_once() {
    let world = World::create_unmigrated().await;
    let mut workers = Vec::new();
    for _ in 0..4 {
        workers.push(world.worker().await);
    }
    for worker in &mut workers {
        worker.process.wait_for_line("consuming").await;
    }
    let receiver = world.receiver().await;
    deliver(&receiver.client, "migrated", 100, 0, 4).await;
    world.wait_until_settled(100).await;
    world.audit(100).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_problem_of_a_configuration_is_told_before_anything_starts() {
    let settings = [
        ("PAYONCE__STORE__URL", "mysql://u:canary@h/d"),
        ("PAYONCE__HTTP__BIND", "nowhere"),
        ("PAYONCE__WORKER__TYPO", "1"),
    ];
    let settings: Vec<_> = settings.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let mut process = Process::start("payonce", &[], &settings);
    assert!(!process.ended().await.success());
    // The unknown key is told first and alone, since the rest cannot be read without knowing it.
    process.wait_for_line("worker.typo is not a setting").await;
    let mut process = Process::start("payonce", &[], &settings[..2]);
    assert!(!process.ended().await.success());
    process.wait_for_line("http.bind").await;
    process.wait_for_line("store.url").await;
    assert!(!process.log().join("\n").contains("canary"));
}

#[tokio::test(flavor = "multi_thread")]
async fn receiver_and_worker_run_in_one_process() {
    let world = World::create().await;
    let mut process = Process::start("payonce", &[], world.environment());
    let address = process.address_in("listening for webhooks").await;
    let client = harness::client::Client::new(address);
    client.deliver(succeeded_payload("evt_1", "pi_1", 1)).await;
    world.wait_until_settled(1).await;
    process.signal("INT").await;
    assert!(process.ended().await.success(), "{:#?}", process.log());
    world.audit(1).await;
}
