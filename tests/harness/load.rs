//! Many events over many connections.

use std::sync::Arc;

use bytes::Bytes;

use crate::client::Client;

/// The native payload of event `evt_{tag}_{number}`.
pub fn payload(tag: &str, number: usize) -> Bytes {
    application::testing::succeeded_payload(
        &format!("evt_{tag}_{number}"),
        &format!("pi_{tag}_{number}"),
        4999,
    )
}

/// Delivers `events` over `connections` connections, each until it is accepted. Every tenth to third event
/// comes again, so that `duplicates_percent` of all deliveries are copies.
///
/// # Panics
/// An event is never accepted.
pub async fn deliver(
    client: &Client,
    tag: &str,
    events: usize,
    duplicates_percent: usize,
    connections: usize,
) {
    let order = Arc::new(deliveries(events, duplicates_percent));
    let mut senders = tokio::task::JoinSet::new();
    for connection in 0..connections {
        let (client, order, tag) = (client.another(), order.clone(), tag.to_owned());
        senders.spawn(async move {
            for number in order.iter().skip(connection).step_by(connections) {
                client.deliver(payload(&tag, *number)).await;
            }
        });
    }
    while let Some(sent) = senders.join_next().await {
        sent.expect("a sender does not panic");
    }
}

/// Each of `events` once and copies of some a little later, in a fixed order.
fn deliveries(events: usize, duplicates_percent: usize) -> Vec<usize> {
    let distinct = 100 - duplicates_percent;
    let mut order = Vec::new();
    let mut owed = 0;
    for number in 0..events {
        order.push(number);
        owed += duplicates_percent;
        while owed >= distinct {
            owed -= distinct;
            // Sometimes the event just sent, sometimes one of long ago.
            order.push(number - (number * 7919) % (number + 1).min(1000));
        }
    }
    order
}
