//! What every `EventPublisher` must do, and what can go wrong with a broker in between.
//!
//! A behaviour is a function over a [`Fixture`]; `event_publisher_contract!` stamps all of them for one
//! implementation.

use std::collections::BTreeSet;

use application::testing::envelope;
use bytes::Bytes;

use crate::event_queue::{Fixture, Setup, id, payload, subscribe, take};

pub async fn what_is_confirmed_is_in_the_queue_byte_for_byte<F: Fixture>() {
    let fixture = F::new(Setup::default()).await;
    let payloads = [
        Bytes::new(),
        Bytes::from_static(b"{\"amount\": 1.0e2 }\r\n"),
        Bytes::from_static(b"\x00\xff\xfe"),
        // More than one frame.
        Bytes::from(vec![b'x'; 300_000]),
    ];
    for (n, payload) in payloads.iter().enumerate() {
        let sent = vec![envelope(&format!("evt_{n}"), payload.clone())];
        fixture.publisher().publish(sent).await.remove(0).expect("published");
    }
    let mut subscription = subscribe(&fixture).await;
    for (n, delivery) in take(&mut *subscription, payloads.len()).await.into_iter().enumerate() {
        assert_eq!(id(&delivery), format!("evt_{n}"));
        assert_eq!(delivery.content.expect("readable").payload, payloads[n]);
    }
}

pub async fn every_envelope_of_a_call_is_answered_and_queued<F: Fixture>() {
    let fixture = F::new(Setup { unsettled_max: 1_000, ..Setup::default() }).await;
    let envelopes: Vec<_> = (0..600).map(|n| envelope(&format!("evt_{n}"), payload(n))).collect();
    let answers = fixture.publisher().publish(envelopes).await;
    assert_eq!(answers.len(), 600);
    assert!(answers.iter().all(Result::is_ok));
    let mut subscription = subscribe(&fixture).await;
    let taken = take(&mut *subscription, 600).await;
    assert_eq!(taken.iter().map(id).collect::<BTreeSet<_>>().len(), 600);
}

pub async fn many_callers_publish_at_once<F: Fixture>() {
    let fixture = F::new(Setup { unsettled_max: 1_000, ..Setup::default() }).await;
    let publisher = fixture.publisher();
    let calls = (0..500).map(|n| publisher.publish(vec![envelope(&format!("evt_{n}"), payload(n))]));
    for answers in futures::future::join_all(calls).await {
        assert!(matches!(answers.as_slice(), [Ok(())]), "{answers:?}");
    }
    let mut subscription = subscribe(&fixture).await;
    let taken = take(&mut *subscription, 500).await;
    assert_eq!(taken.iter().map(id).collect::<BTreeSet<_>>().len(), 500);
}

pub async fn one_event_published_twice_is_there_twice<F: Fixture>() {
    let fixture = F::new(Setup::default()).await;
    let twice = vec![envelope("evt_1", payload(1)), envelope("evt_1", payload(1))];
    let answers = fixture.publisher().publish(twice).await;
    assert!(answers.iter().all(Result::is_ok));
    let mut subscription = subscribe(&fixture).await;
    take(&mut *subscription, 2).await;
}

pub async fn nothing_to_publish_is_nothing_to_answer<F: Fixture>() {
    let fixture = F::new(Setup::default()).await;
    assert!(fixture.publisher().publish(vec![]).await.is_empty());
}

/// Stamps every behaviour for one implementation.
#[macro_export]
macro_rules! event_publisher_contract {
    ($module:ident, $fixture:ty) => {
        mod $module {
            $crate::event_publisher_contract!(@stamp $fixture:
                what_is_confirmed_is_in_the_queue_byte_for_byte
                every_envelope_of_a_call_is_answered_and_queued
                many_callers_publish_at_once
                one_event_published_twice_is_there_twice
                nothing_to_publish_is_nothing_to_answer
            );
        }
    };
    (@stamp $fixture:ty: $($behaviour:ident)*) => {$(
        #[tokio::test(flavor = "multi_thread")]
        async fn $behaviour() {
            $crate::event_publisher::$behaviour::<$fixture>().await;
        }
    )*};
}

event_publisher_contract!(amqp, crate::event_queue::amqp_fixture::AmqpFixture);

mod amqp_faults;
mod embedded;
