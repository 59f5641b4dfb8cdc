use harness::embedded_world::EmbeddedWorld;
use harness::load::deliver;
use harness::process::Process;
use harness::world::{World, audit_once};

#[tokio::test(flavor = "multi_thread")]
async fn the_embedded_queue_works_with_postgres_and_redis() {
    let services = World::create().await;
    let mut world = EmbeddedWorld::create();
    for (key, value) in services.environment() {
        if key == "PAYONCE__STORE__URL" || key == "PAYONCE__CACHE__URL" {
            world.set(key, value);
        }
    }
    let payonce = world.start().await;
    deliver(&payonce.client, "mixed", 500, 30, 8).await;
    assert_eq!(world.audit(Some(500)).await["applied"], 500);
    services.wait_until_settled(500).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rabbitmq_works_with_the_sqlite_store() {
    let mut services = World::create().await;
    let folder = EmbeddedWorld::create();
    let store = format!("sqlite:{}/payonce.db", folder.folder.path().display());
    services.set("PAYONCE__STORE__URL", &store);
    let receiver = services.receiver().await;
    let _worker = services.worker().await;
    deliver(&receiver.client, "mixed", 500, 30, 8).await;
    assert_eq!(services.audit(500).await["applied"], 500);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_audit_before_the_first_start_says_that_there_is_nothing_yet() {
    let world = EmbeddedWorld::create();
    let audit = audit_once(world.environment(), None).await;
    assert!(!audit.clean);
    assert!(audit.stderr.contains("payonce.db") || audit.stderr.contains("queue.db"), "{}", audit.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn check_tells_what_it_found() {
    let world = EmbeddedWorld::create();
    let _payonce = world.start().await;
    let mut check = Process::start("payonce", &["check"], world.environment());
    assert!(check.ended().await.success(), "{:#?}", check.log());
}
