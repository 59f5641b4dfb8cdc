//! An event that kills the process.

use std::collections::BTreeSet;

use adapters::outbound::embedded::{ALONE_AFTER_UNCLEAN_STOPS, UNCLEAN_STOPS_MAX};
use application::ports::event_queue::{Action, QueueInspector};

use super::super::{Fixture, Setup, id, ids, next, payload, publish, settle, subscribe, take};
use super::EmbeddedFixture;

#[tokio::test(flavor = "multi_thread")]
async fn it_becomes_a_dead_letter_and_nothing_else_does() {
    let mut fixture = EmbeddedFixture::new(Setup::default()).await;
    publish(&fixture, 0..6).await;
    let mut kills = 0;
    let mut done = BTreeSet::new();
    while fixture.inspector.dead_letters(0, 1).await.expect("read").is_empty() {
        let mut subscription = subscribe(&fixture).await;
        loop {
            let batch = next(&mut *subscription).await;
            let batch_ids = ids(&batch);
            if batch_ids.contains(&"evt_2".to_owned()) {
                assert!(kills < ALONE_AFTER_UNCLEAN_STOPS || batch_ids.len() == 1, "{batch_ids:?}");
                break;
            }
            done.extend(batch_ids);
            settle(&mut *subscription, batch, &Action::Acknowledge).await;
        }
        kills += 1;
        fixture = fixture.killed().await;
    }
    let mut subscription = subscribe(&fixture).await;
    while done.len() < 5 {
        let batch = next(&mut *subscription).await;
        done.extend(ids(&batch));
        settle(&mut *subscription, batch, &Action::Acknowledge).await;
    }
    assert!(!done.contains("evt_2"));
    assert_eq!(fixture.inspector.depths().await.expect("counted").main, 0);
    assert_eq!(kills, UNCLEAN_STOPS_MAX);
    let letters = fixture.inspector.dead_letters(0, 10).await.expect("read");
    assert_eq!(letters.len(), 1);
    assert_eq!((letters[0].event_id.as_str(), &letters[0].payload), ("evt_2", &payload(2)));
    assert_eq!(letters[0].reason, "delivery_limit");
    assert!(letters[0].detail.contains("20 times"), "{}", letters[0].detail);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_end_in_order_is_not_held_against_anybody() {
    let mut fixture = EmbeddedFixture::new(Setup::default()).await;
    publish(&fixture, 0..2).await;
    for _ in 0..=UNCLEAN_STOPS_MAX {
        let mut subscription = subscribe(&fixture).await;
        let taken = take(&mut *subscription, 2).await;
        assert_eq!(id(&taken[0]), "evt_0");
        drop(subscription);
        fixture = fixture.restart().await;
    }
    assert!(fixture.inspector.dead_letters(0, 10).await.expect("read").is_empty());
}
