//! `SeenEvents`: may forget, must not lie.

use std::sync::Arc;
use std::time::Duration;

use adapters::clock::SystemClock;
use adapters::outbound::memory::{MemorySeenEvents, NoSeenEvents};
use adapters::outbound::redis::RedisSeenEvents;
use application::ports::seen_events::{Seen, SeenEvents};
use application::testing::{event_key, succeeded};
use domain::{EventKey, Fingerprint, SourceName};
use harness::redis::TestRedis;

mod proxy;
mod redis_only;

fn fingerprint(minor_units: i64) -> Fingerprint {
    succeeded("evt", "pi", minor_units).fingerprint()
}

fn of_other_source(event_id: &str) -> EventKey {
    EventKey { source: SourceName::parse("other").expect("a valid name"), ..event_key(event_id) }
}

/// Makes caches with a given lifetime of marks.
trait Kind {
    fn cache(mark_ttl: Duration) -> impl SeenEvents;
}

struct Redis;
struct Memory;
struct Nothing;

impl Kind for Redis {
    fn cache(mark_ttl: Duration) -> impl SeenEvents {
        let settings = adapters::outbound::redis::RedisSettings { mark_ttl, ..TestRedis::new().settings() };
        RedisSeenEvents::new(&settings, Arc::new(SystemClock)).expect("usable settings")
    }
}

impl Kind for Memory {
    fn cache(mark_ttl: Duration) -> impl SeenEvents {
        MemorySeenEvents::new(10_000, mark_ttl, Arc::new(SystemClock))
    }
}

impl Kind for Nothing {
    fn cache(_: Duration) -> impl SeenEvents {
        NoSeenEvents
    }
}

const LONG: Duration = Duration::from_mins(1);
const SHORT: Duration = Duration::from_millis(60);

async fn what_nobody_marked_is_unknown_in_order_and_number<K: Kind>() {
    let cache = K::cache(LONG);
    assert_eq!(cache.look(&[]).await, []);
    cache.mark_committed(&[]).await;
    let keys: Vec<_> = (0..500).map(|n| event_key(&format!("evt_{n}"))).collect();
    assert_eq!(cache.look(&keys).await, vec![Seen::Unknown; 500]);
}

async fn a_look_leaves_nothing_behind<K: Kind>() {
    let cache = K::cache(LONG);
    let key = event_key("evt_1");
    for _ in 0..3 {
        assert_eq!(cache.look(&[key.clone(), key.clone()]).await, [Seen::Unknown, Seen::Unknown]);
    }
}

async fn a_mark_is_answered_with_its_meaning_in_its_place<K: Kind>() {
    let cache = K::cache(LONG);
    let (first, second, third) = (event_key("evt_1"), event_key("evt_2"), event_key("evt_3"));
    cache.mark_committed(&[(third.clone(), fingerprint(3)), (first.clone(), fingerprint(1))]).await;
    for _ in 0..2 {
        assert_eq!(
            cache.look(&[first.clone(), second.clone(), third.clone()]).await,
            [Seen::Committed(fingerprint(1)), Seen::Unknown, Seen::Committed(fingerprint(3)),]
        );
    }
}

async fn a_mark_expires<K: Kind>() {
    let cache = K::cache(SHORT);
    let marked = event_key("evt_1");
    cache.mark_committed(&[(marked.clone(), fingerprint(1))]).await;
    tokio::time::sleep(SHORT * 2).await;
    assert_eq!(cache.look(&[marked]).await, [Seen::Unknown]);
}

async fn the_same_id_of_another_source_is_another_event<K: Kind>() {
    let cache = K::cache(LONG);
    cache.mark_committed(&[(event_key("evt_1"), fingerprint(1))]).await;
    assert_eq!(cache.look(&[of_other_source("evt_1")]).await, [Seen::Unknown]);
}

async fn a_mark_is_not_believed_where_there_is_no_memory<K: Kind>() {
    let cache = K::cache(LONG);
    cache.mark_committed(&[(event_key("evt_1"), fingerprint(1))]).await;
    assert_eq!(cache.look(&[event_key("evt_1")]).await, [Seen::Unknown]);
}

macro_rules! stamp {
    ($implementation:ident, $kind:ty: $($behaviour:ident),+ $(,)?) => {
        mod $implementation {
            use super::*;

            $(#[tokio::test]
            async fn $behaviour() {
                super::$behaviour::<$kind>().await;
            })+
        }
    };
}

macro_rules! stamp_remembering {
    ($implementation:ident, $kind:ty) => {
        stamp!(
            $implementation, $kind:
            what_nobody_marked_is_unknown_in_order_and_number,
            a_look_leaves_nothing_behind,
            a_mark_is_answered_with_its_meaning_in_its_place,
            a_mark_expires,
            the_same_id_of_another_source_is_another_event,
        );
    };
}

stamp_remembering!(redis, Redis);
stamp_remembering!(memory, Memory);
stamp!(
    none, Nothing:
    what_nobody_marked_is_unknown_in_order_and_number,
    a_look_leaves_nothing_behind,
    a_mark_is_not_believed_where_there_is_no_memory,
);
