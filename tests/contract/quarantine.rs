//! What every quarantine must do as [`application::ports::quarantine::Quarantine`].
// All of it is test code, also what is not itself a test.
#![cfg(test)]

use std::path::PathBuf;
use std::time::Duration;

use adapters::outbound::quarantine::{FileQuarantine, MemoryQuarantine, QuarantineLimits};
use application::ports::quarantine::{Quarantine, RejectedRequest};
use application::testing::source_name;
use bytes::Bytes;
use domain::Timestamp;

const LIMITS: QuarantineLimits = QuarantineLimits { entries_max: 5, bytes_max: 1_000_000 };

fn request(number: i64) -> RejectedRequest {
    RejectedRequest {
        source: source_name(),
        received_at: Timestamp::from_micros(number),
        reason: "wrong_signature".to_owned(),
        headers: vec![("x-odd".to_owned(), vec![0xff, 0x00, b'\n'])],
        query: "a=%20b".to_owned(),
        body: Bytes::from(vec![0, 0xff, b'{']),
    }
}

fn of_bytes(number: i64, bytes: usize) -> RejectedRequest {
    RejectedRequest { body: Bytes::from(vec![b'x'; bytes]), ..request(number) }
}

/// The arrival of what is kept, newest first, once the newest is `newest`.
async fn arrivals(quarantine: &dyn Quarantine, newest: i64) -> Vec<i64> {
    for _ in 0..1_000 {
        let kept = quarantine.list(None, 100).await.unwrap();
        if kept.first().is_some_and(|one| one.request.received_at.as_micros() == newest) {
            return kept.iter().map(|one| one.request.received_at.as_micros()).collect();
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the newest request is not kept");
}

async fn a_request_comes_back_byte_for_byte(quarantine: impl Quarantine) {
    quarantine.keep(request(1));
    arrivals(&quarantine, 1).await;
    let kept = quarantine.list(None, 1).await.unwrap().remove(0);
    assert_eq!(kept.request, request(1));
    assert_eq!(quarantine.get(kept.id).await.unwrap(), Some(kept));
}

async fn the_newest_win_by_count(quarantine: impl Quarantine) {
    for number in 1..=12 {
        quarantine.keep(request(number));
    }
    assert_eq!(arrivals(&quarantine, 12).await, [12, 11, 10, 9, 8]);
}

async fn the_newest_win_by_bytes(quarantine: impl Quarantine) {
    for number in 1..=4 {
        quarantine.keep(of_bytes(number, 400_000));
    }
    assert_eq!(arrivals(&quarantine, 4).await, [4, 3]);
}

async fn a_request_that_is_too_large_costs_none_that_is_kept(quarantine: impl Quarantine) {
    quarantine.keep(request(1));
    quarantine.keep(of_bytes(2, 1_000_001));
    quarantine.keep(request(3));
    assert_eq!(arrivals(&quarantine, 3).await, [3, 1]);
}

async fn pages_follow_each_other(quarantine: impl Quarantine) {
    for number in 1..=4 {
        quarantine.keep(request(number));
    }
    arrivals(&quarantine, 4).await;
    let first = quarantine.list(None, 3).await.unwrap();
    let second = quarantine.list(Some(first[2].id), 3).await.unwrap();
    assert_eq!((first.len(), second.len()), (3, 1));
    assert_eq!(second[0].request.received_at.as_micros(), 1);
}

async fn what_is_removed_is_gone_and_its_number_is_not_used_again(quarantine: impl Quarantine) {
    quarantine.keep(request(1));
    arrivals(&quarantine, 1).await;
    let id = quarantine.list(None, 1).await.unwrap()[0].id;
    assert!(quarantine.remove(id).await.unwrap());
    assert!(!quarantine.remove(id).await.unwrap());
    assert_eq!(quarantine.get(id).await.unwrap(), None);
    quarantine.keep(request(2));
    arrivals(&quarantine, 2).await;
    assert!(quarantine.list(None, 1).await.unwrap()[0].id > id);
}

/// Stamps every behaviour for one quarantine, made by `$create`.
macro_rules! quarantine_contract {
    ($name:ident, $create:path) => {
        mod $name {
            crate::quarantine::quarantine_contract! { @stamp $create;
                a_request_comes_back_byte_for_byte
                the_newest_win_by_count
                the_newest_win_by_bytes
                a_request_that_is_too_large_costs_none_that_is_kept
                pages_follow_each_other
                what_is_removed_is_gone_and_its_number_is_not_used_again
            }
        }
    };
    (@stamp $create:path; $($behaviour:ident)*) => {$(
        #[tokio::test]
        async fn $behaviour() {
            crate::quarantine::$behaviour($create()).await;
        }
    )*};
}
use quarantine_contract;

quarantine_contract!(memory, crate::quarantine::in_memory);
quarantine_contract!(file, crate::quarantine::in_a_file);

fn in_memory() -> MemoryQuarantine {
    MemoryQuarantine::new(LIMITS)
}

fn in_a_file() -> FileQuarantine {
    open(&folder())
}

fn folder() -> PathBuf {
    let name = format!("payonce-quarantine-{}-{:?}", std::process::id(), std::thread::current().id());
    let folder = std::env::temp_dir().join(name);
    // What an earlier run has left.
    std::fs::remove_dir_all(&folder).ok();
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn open(folder: &std::path::Path) -> FileQuarantine {
    FileQuarantine::open(folder.join("quarantine.db"), LIMITS).unwrap()
}

#[tokio::test]
async fn a_file_is_there_again_after_a_restart_and_for_another_process() {
    let folder = folder();
    let first = open(&folder);
    first.keep(request(1));
    arrivals(&first, 1).await;
    let other = open(&folder);
    assert_eq!(arrivals(&other, 1).await, [1]);
    drop(first);
    assert_eq!(arrivals(&open(&folder), 1).await, [1]);
}
