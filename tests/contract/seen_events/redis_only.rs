//! What only a cache behind a network has to show.

use std::time::Instant;

use adapters::outbound::redis::{RedisSettings, RedisSetupError};
use application::ports::readiness::ReadinessCheck;

use super::proxy::{Proxy, dead_server, silent_server};
use super::*;

fn connect(settings: &RedisSettings) -> RedisSeenEvents {
    RedisSeenEvents::new(settings, Arc::new(SystemClock)).expect("usable settings")
}

fn key_of(server: &TestRedis, event_id: &str) -> String {
    format!("payonce:{}:payment:{event_id}", server.namespace)
}

#[tokio::test]
async fn marks_survive_the_process_that_wrote_them() {
    let server = TestRedis::new();
    let mark = [(event_key("evt_1"), fingerprint(1))];
    connect(&server.settings()).mark_committed(&mark).await;
    let looked = connect(&server.settings()).look(&[event_key("evt_1")]).await;
    assert_eq!(looked, [Seen::Committed(fingerprint(1))]);
}

#[tokio::test]
async fn after_a_flush_everything_is_unknown() {
    let server = TestRedis::new();
    let cache = connect(&server.settings());
    cache.mark_committed(&[(event_key("evt_1"), fingerprint(1))]).await;
    server.forget_all().await;
    assert_eq!(cache.look(&[event_key("evt_1")]).await, [Seen::Unknown]);
}

#[tokio::test]
async fn a_mark_of_another_namespace_is_not_believed() {
    let (ours, theirs) = (TestRedis::new(), TestRedis::new());
    connect(&theirs.settings()).mark_committed(&[(event_key("evt_1"), fingerprint(1))]).await;
    let looked = connect(&ours.settings()).look(&[event_key("evt_1")]).await;
    assert_eq!(looked, [Seen::Unknown]);
}

#[tokio::test]
async fn a_namespace_that_would_make_keys_ambiguous_is_refused() {
    for namespace in ["", "a:", "a b", "A", "a.b"] {
        let settings = RedisSettings { namespace: namespace.to_owned(), ..TestRedis::new().settings() };
        let refused = RedisSeenEvents::new(&settings, Arc::new(SystemClock));
        assert!(matches!(refused, Err(RedisSetupError::Namespace(_))), "{namespace}");
    }
}

#[tokio::test]
async fn a_value_that_is_no_mark_is_never_committed() {
    let server = TestRedis::new();
    let cache = connect(&server.settings());
    let fingerprint = fingerprint(1);
    for value in [
        "committed".to_owned(),
        "1".to_owned(),
        String::new(),
        "c:".to_owned(),
        fingerprint.to_string(),
        format!("c:{fingerprint}0"),
        format!("C:{fingerprint}"),
    ] {
        server.run("SET", &[key_of(&server, "evt_1"), value.clone()]).await;
        let looked = cache.look(&[event_key("evt_1")]).await;
        assert_eq!(looked, [Seen::Unknown], "{value:?}");
    }
}

#[tokio::test]
async fn a_key_of_another_type_spoils_neither_its_neighbours_nor_the_breaker() {
    let server = TestRedis::new();
    let cache = connect(&server.settings());
    cache.mark_committed(&[(event_key("evt_2"), fingerprint(2))]).await;
    server.run("RPUSH", &[key_of(&server, "evt_1"), "x".to_owned()]).await;
    let keys = [event_key("evt_1"), event_key("evt_2")];
    for _ in 0..2 {
        assert_eq!(cache.look(&keys).await, [Seen::Unknown, Seen::Committed(fingerprint(2))]);
    }
    server.forget_all().await;
}

#[tokio::test]
async fn only_marks_are_kept_and_each_expires() {
    let server = TestRedis::new();
    let settings = server.settings();
    let cache = connect(&settings.clone());
    cache.look(&[event_key("evt_1"), event_key("evt_2")]).await;
    cache.mark_committed(&[(event_key("evt_2"), fingerprint(2))]).await;
    let mark = key_of(&server, "evt_2");
    assert_eq!(server.keys().await, std::slice::from_ref(&mark));
    assert!(server.time_to_live(&mark).await.unwrap() <= settings.mark_ttl);
}

#[tokio::test]
async fn a_look_at_many_keys_is_one_round_trip() {
    let server = TestRedis::new();
    let proxy = Proxy::to(&server.url).await;
    let cache = connect(&RedisSettings { url: proxy.url.clone().into(), ..server.settings() });
    let keys: Vec<_> = (0..100).map(|n| event_key(&format!("evt_{n}"))).collect();
    cache.look(&keys).await;
    let before = proxy.requests();
    cache.look(&keys).await;
    assert_eq!(proxy.requests() - before, 1);
    assert_eq!(proxy.connections(), 1);
}

#[tokio::test]
async fn a_dead_or_silent_server_costs_one_time_out_and_is_then_left_alone() {
    for address in [dead_server().await, silent_server().await] {
        let timeout = Duration::from_millis(200);
        let cache = connect(&RedisSettings {
            url: format!("redis://:s3cret@{address}/0").into(),
            timeout,
            breaker_open: LONG,
            ..TestRedis::new().settings()
        });
        let keys = [event_key("evt_1"), event_key("evt_2")];
        let started = Instant::now();
        assert_eq!(cache.look(&keys).await, [Seen::Unknown, Seen::Unknown]);
        assert!(started.elapsed() < timeout * 3, "{:?}", started.elapsed());

        let started = Instant::now();
        for _ in 0..100 {
            assert_eq!(cache.look(&keys).await, [Seen::Unknown, Seen::Unknown]);
            cache.mark_committed(&[(event_key("evt_1"), fingerprint(1))]).await;
        }
        assert!(started.elapsed() < timeout, "{:?}", started.elapsed());

        assert!(!cache.required());
        let why = cache.check().await.unwrap_err();
        assert!(!why.contains("s3cret"), "{why}");
    }
}

#[tokio::test]
async fn it_is_used_again_once_it_answers() {
    let server = TestRedis::new();
    let proxy = Proxy::to(&server.url).await;
    let cache = connect(&RedisSettings {
        url: proxy.url.clone().into(),
        timeout: Duration::from_millis(200),
        breaker_open: Duration::from_millis(50),
        ..server.settings()
    });
    let mark = [(event_key("evt_1"), fingerprint(1))];
    cache.mark_committed(&mark).await;
    proxy.hold();
    assert_eq!(cache.look(&[event_key("evt_1")]).await, [Seen::Unknown]);
    proxy.release();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(cache.look(&[event_key("evt_1")]).await, [Seen::Committed(fingerprint(1))]);
    assert_eq!(cache.check().await, Ok(()));
}

#[tokio::test]
async fn a_late_answer_is_never_taken_for_the_next_questions() {
    let server = TestRedis::new();
    let proxy = Proxy::to(&server.url).await;
    let cache = connect(&RedisSettings {
        url: proxy.url.clone().into(),
        timeout: Duration::from_millis(100),
        breaker_open: Duration::from_millis(1),
        pool_max: 1,
        ..server.settings()
    });
    cache.mark_committed(&[(event_key("committed"), fingerprint(1))]).await;
    proxy.hold();
    assert_eq!(cache.look(&[event_key("committed")]).await, [Seen::Unknown]);
    proxy.release();
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(cache.look(&[event_key("fresh")]).await, [Seen::Unknown]);
    assert_eq!(proxy.connections(), 2, "the connection in doubt is not used again");
}

#[tokio::test]
async fn a_look_that_is_dropped_half_way_leaves_nothing_behind() {
    let server = TestRedis::new();
    let proxy = Proxy::to(&server.url).await;
    let cache = connect(&RedisSettings { url: proxy.url.clone().into(), pool_max: 1, ..server.settings() });
    cache.mark_committed(&[(event_key("committed"), fingerprint(1))]).await;
    proxy.hold();
    let keys = [event_key("committed")];
    let dropped = tokio::time::timeout(Duration::from_millis(50), cache.look(&keys)).await;
    assert!(dropped.is_err());
    proxy.release();
    assert_eq!(cache.look(&[event_key("fresh")]).await, [Seen::Unknown]);
    assert_eq!(cache.look(&keys).await, [Seen::Committed(fingerprint(1))]);
    assert_eq!(proxy.connections(), 2);
}

#[tokio::test]
async fn a_connection_that_was_closed_while_idle_costs_no_answer() {
    let server = TestRedis::new();
    let proxy = Proxy::to(&server.url).await;
    let cache =
        connect(&RedisSettings { url: proxy.url.clone().into(), breaker_open: LONG, ..server.settings() });
    cache.mark_committed(&[(event_key("evt_1"), fingerprint(1))]).await;
    proxy.cut();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(cache.look(&[event_key("evt_1")]).await, [Seen::Committed(fingerprint(1))]);
    assert_eq!(proxy.connections(), 2);
}

#[test]
fn tls_is_built_in() {
    let settings = |url: &str| RedisSettings {
        url: url.to_owned().into(),
        namespace: "ns".to_owned(),
        timeout: LONG,
        mark_ttl: LONG,
        pool_max: 1,
        breaker_open: LONG,
    };
    let open = |url| RedisSeenEvents::new(&settings(url), Arc::new(SystemClock));
    assert!(open("rediss://:pw@cache.example:6380/0").is_ok());
    let refused = open("http://user:s3cret@cache.example").err().unwrap();
    assert!(!format!("{refused} {refused:?}").contains("s3cret"));
}
