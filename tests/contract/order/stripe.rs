//! What Stripe really sends of a payment, in every order in which it may come.
//!
//! Each order has a source of its own in one store, so that thousands of them are delivered together: no event of
//! one order touches another's payments, and one audit looks at them all.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::path::Path;
use std::sync::Arc;

use adapters::providers::settings::{Mode, SourceSettings, TOLERANCE};
use adapters::providers::stripe;
use application::envelope::{Envelope, TraceContext};
use application::ports::provider::{Provider, Sources, WebhookRequest};
use application::ports::seen_events::{MockSeenEvents, Seen};
use application::use_cases::ProcessEvents;
use application::{Disposition, RetryClass};
use bytes::Bytes;
use domain::{EventId, EventKey, SourceName, Timestamp};
use serde_json::Value;

use super::OrderedStore;
use super::chance::Chance;

/// Histories of more events than this are tried in [`SAMPLED_ORDERS`] orders, all others in every order.
const EVERY_ORDER_EVENTS_MAX: usize = 6;
/// How many orders of a longer history are tried.
const SAMPLED_ORDERS: usize = 200;
/// About how many events a batch has.
const BATCH: usize = 300;
/// How many rounds of batches there may be before the test gives up: far more than any order needs.
const ROUNDS_MAX: usize = 100;
/// When everything arrives.
const NOW: Timestamp = Timestamp::from_micros(1_746_100_000_000_000);

/// Histories, and what each of them ends in: how the payment stands, and the balances that are not zero.
const HISTORIES: [(&str, &[&str]); 9] = [
    (
        "paid_after_an_action",
        &["payment succeeded 2000 USD, 0 back, 0 disputed", "provider_clearing 2000", "merchant -2000"],
    ),
    (
        "refunded_in_two_parts",
        &["payment refunded 2000 USD, 2000 back, 0 disputed", "merchant -2000", "refunds 2000"],
    ),
    (
        "refund_that_failed",
        &["payment succeeded 2000 USD, 0 back, 0 disputed", "provider_clearing 2000", "merchant -2000"],
    ),
    (
        "dispute_won",
        &["payment dispute_won 2000 USD, 0 back, 0 disputed", "provider_clearing 2000", "merchant -2000"],
    ),
    (
        "dispute_lost_after_a_refund",
        &[
            "payment dispute_lost 2000 USD, 500 back, 1500 disputed",
            "merchant -2000",
            "refunds 500",
            "disputes 1500",
        ],
    ),
    (
        "captured_in_part",
        &["payment succeeded 1500 USD, 0 back, 0 disputed", "provider_clearing 1500", "merchant -1500"],
    ),
    (
        "paid_out",
        &["payment payout_paid 1100 USD, 0 back, 0 disputed", "provider_clearing -1100", "bank 1100"],
    ),
    ("payout_that_came_back", &["payment payout_failed 1100 USD, 0 back, 0 disputed"]),
    (
        "whole_life_of_a_connected_account",
        &[
            "payment partly_refunded 2000 USD, 500 back, 0 disputed",
            "provider_clearing 1500",
            "merchant -2000",
            "refunds 500",
        ],
    ),
];

/// A request body, and the id under which Stripe's pack accepts it.
struct Event {
    id: EventId,
    body: Bytes,
}

pub async fn every_order_of_a_stripe_history_ends_in_the_same_state<S: OrderedStore>() {
    let provider = provider();
    let mut chance = Chance::of(7);
    let store = S::create().await;
    let mut orders = 0;
    for (number, (name, expected)) in HISTORIES.iter().enumerate() {
        let events = read(&*provider, name);
        let deliveries = deliveries(events.len(), &mut chance);
        orders += deliveries.len();
        let queues: Vec<(SourceName, VecDeque<usize>)> = deliveries
            .into_iter()
            .enumerate()
            .map(|(order, places)| {
                (format!("h{number}-{order}").parse().expect("a valid name"), places.into())
            })
            .collect();
        let first = queues[0].0.clone();
        let process = process(&store, &provider, queues.iter().map(|(source, _)| source));
        deliver(&process, &events, queues, &mut chance).await;
        all_end_alike(&store, name, number, &first, expected).await;
    }
    assert!(orders > 2_000, "{orders} orders are too few");
    assert_eq!(store.audit().violations(10).await.unwrap(), []);
}

fn provider() -> Arc<dyn Provider> {
    let settings = SourceSettings {
        secrets: vec!["whsec_0f1e2d3c4b5a69788796a5b4c3d2e1f0".into()],
        tolerance: TOLERANCE,
        mode: Mode::Test,
        trust: None,
        production: true,
        options: serde_json::Map::new(),
    };
    stripe::build(&settings).expect("usable settings")
}

/// The events of a history, signed and taken in as they would be over HTTP.
fn read(provider: &dyn Provider, name: &str) -> Vec<Event> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../adapters/fixtures/histories/stripe");
    let text = std::fs::read(folder.join(format!("{name}.json"))).expect("the history is there");
    let events: Vec<Value> = serde_json::from_slice(&text).expect("a list of events");
    let event = |event: Value| {
        let body = event.to_string();
        let signed = provider.sign(body.as_bytes(), NOW).expect("there is a secret");
        let headers: Vec<(String, Vec<u8>)> =
            signed.headers.into_iter().map(|(name, value)| (name, value.into_bytes())).collect();
        let request = WebhookRequest { body: body.as_bytes(), headers: &headers, query: "" };
        let intake = provider.intake(&request, NOW).unwrap_or_else(|refusal| panic!("{name}: {refusal:?}"));
        let id = intake.events.into_iter().next().expect("one event");
        Event { id, body: body.into() }
    };
    events.into_iter().map(event).collect()
}

/// Places of the events, in the order of each delivery: first as they happened, each once; then every other
/// order, or some, with copies.
fn deliveries(events: usize, chance: &mut Chance) -> Vec<Vec<usize>> {
    let in_order: Vec<usize> = (0..events).collect();
    let mut deliveries = vec![in_order.clone()];
    let mut order = in_order;
    if events <= EVERY_ORDER_EVENTS_MAX {
        while next_permutation(&mut order) {
            deliveries.push(with_copies(&order, chance));
        }
    } else {
        for _ in 0..SAMPLED_ORDERS {
            chance.shuffle(&mut order);
            deliveries.push(with_copies(&order, chance));
        }
    }
    deliveries
}

/// The next greater order of the same places, as in a dictionary; false after the last.
fn next_permutation(order: &mut [usize]) -> bool {
    let Some(pivot) = order.windows(2).rposition(|pair| pair[0] < pair[1]) else { return false };
    let above = order.iter().rposition(|place| *place > order[pivot]).expect("the one after it is greater");
    order.swap(pivot, above);
    order[pivot + 1..].reverse();
    true
}

/// The same, with a copy of every third or so at some later place.
fn with_copies(order: &[usize], chance: &mut Chance) -> Vec<usize> {
    let mut deliveries = order.to_vec();
    for place in order {
        if chance.once_in(3) {
            let first = deliveries.iter().position(|other| other == place).expect("it is there");
            let later = first + 1 + chance.below(deliveries.len() - first);
            deliveries.insert(later, *place);
        }
    }
    deliveries
}

fn process<'a, S: OrderedStore>(
    store: &S,
    provider: &Arc<dyn Provider>,
    sources: impl Iterator<Item = &'a SourceName>,
) -> ProcessEvents {
    let sources: HashMap<SourceName, Arc<dyn Provider>> =
        sources.map(|source| (source.clone(), provider.clone())).collect();
    // A cache that has forgotten everything, so that the database alone decides.
    let mut seen = MockSeenEvents::new();
    seen.expect_look().returning(|keys| vec![Seen::Unknown; keys.len()]);
    seen.expect_mark_committed().return_const(());
    ProcessEvents::new(Sources::new(sources), store.unit_of_work(), Arc::new(seen))
}

/// Batches of the next one to three events of many sources. What is not ready goes to the end of its queue.
async fn deliver(
    process: &ProcessEvents,
    events: &[Event],
    mut queues: Vec<(SourceName, VecDeque<usize>)>,
    chance: &mut Chance,
) {
    for _ in 0..ROUNDS_MAX {
        queues.retain(|(_, queue)| !queue.is_empty());
        if queues.is_empty() {
            return;
        }
        for together in queues.chunks_mut(BATCH / 2) {
            let mut taken: Vec<(usize, usize)> = Vec::new();
            for (source, (_, queue)) in together.iter_mut().enumerate() {
                let count = (1 + chance.below(3)).min(queue.len());
                taken.extend(queue.drain(..count).map(|place| (source, place)));
            }
            let envelopes: Vec<Envelope> =
                taken.iter().map(|(source, place)| envelope(&together[*source].0, &events[*place])).collect();
            let dispositions = process.run(&envelopes).await;
            for ((source, place), disposition) in taken.into_iter().zip(dispositions) {
                match disposition {
                    Disposition::Applied | Disposition::Duplicate(_) | Disposition::Recorded(_) => {}
                    Disposition::Retry(RetryClass::NotReady | RetryClass::Transient, _) => {
                        together[source].1.push_back(place);
                    }
                    other => panic!("{} at {}: {other:?}", events[place].id, together[source].0),
                }
            }
        }
    }
    panic!("events come back for ever");
}

fn envelope(source: &SourceName, event: &Event) -> Envelope {
    Envelope {
        key: EventKey { source: source.clone(), event_id: event.id.clone() },
        received_at: NOW,
        queued_at: NOW,
        content_type: None,
        headers: Vec::new(),
        trace: TraceContext::default(),
        payload: event.body.clone(),
    }
}

async fn all_end_alike<S: OrderedStore>(
    store: &S,
    name: &str,
    number: usize,
    first: &SourceName,
    expected: &[&str],
) {
    let mut ends: HashMap<String, BTreeSet<String>> = HashMap::new();
    for line in store.lines(&ends_of(number)).await {
        let (source, line) = line.split_once('\t').expect("a source before each line");
        ends.entry(source.to_owned()).or_default().insert(line.to_owned());
    }
    let in_order = &ends[first.as_str()];
    let states: BTreeSet<&str> =
        in_order.iter().map(String::as_str).filter(|line| !line.starts_with("message ")).collect();
    assert_eq!(states, expected.iter().copied().collect(), "{name}, as it happened");
    assert!(in_order.len() > expected.len(), "{name} announces nothing");
    for (source, end) in &ends {
        let differs: Vec<_> = in_order.symmetric_difference(end).collect();
        assert!(differs.is_empty(), "{name}, {source}: {differs:#?}");
    }
}

/// Payments, balances and messages of the orders of a history, each after its source and a tab.
fn ends_of(number: usize) -> String {
    let tab = "'\t'";
    let account = format!(
        "CASE WHEN account LIKE '%:%' THEN substr(account, 1, length(account) - length('{CONNECTED}') - 1) \
         ELSE account END"
    );
    format!(
        "SELECT source || {tab} || 'payment ' || state || ' ' || amount_minor || ' ' || currency || ', ' \
           || refunded_minor || ' back, ' || disputed_minor || ' disputed' \
         FROM payments WHERE source LIKE 'h{number}-%' \
         UNION ALL \
         SELECT {account} || {tab} || ledger || ' ' || balance_minor \
         FROM account_balances WHERE account LIKE 'h{number}-%' AND balance_minor <> 0 \
         UNION ALL \
         SELECT source || {tab} || 'message ' || substr(id, length(source) + 1) || ' ' || kind || ' ' \
           || substr(account, length(source) + 1) || ' ' || coalesce(amount_minor, 0) \
         FROM outbox WHERE source LIKE 'h{number}-%'"
    )
}

/// The connected account of the last history.
const CONNECTED: &str = "acct_1032D82eZvKYlo2C";
