//! What one event has done.

use application::dead_letter::LetterState;
use application::ports::event_reader::{DeliveryState, EventOutcome, EventPath};
use application::ports::outbox::Verdict;
use application::testing::dead_letters::new_letter;
use application::testing::event_key;
use domain::{EstablishedFact, Fact, LedgerAccount};

use super::searching::paid;
use crate::outbox::fixture::{LONG, again, failed, lease, settle_next};
use crate::unit_of_work::effects::{apply, captured, event, fact_id, of_merchant, usd};
use crate::unit_of_work::fixture::{CONSUMER, StoreFixture, begin, payment_key};

async fn path(store: &impl StoreFixture, event_id: &str) -> EventPath {
    store.events_of(CONSUMER).path(&event_key(event_id)).await.unwrap().expect("the event is there")
}

fn fact(fact: &Fact) -> EstablishedFact {
    EstablishedFact { key: fact.key(None), amount: fact.amount() }
}

pub async fn an_event_that_nobody_has_heard_of_has_no_path(store: impl StoreFixture) {
    apply(&*store.unit_of_work(1), &[paid("evt_1", "pi_1")]).await;
    let reader = store.events_of(CONSUMER);
    let mut elsewhere = event_key("evt_1");
    elsewhere.source = "elsewhere".parse().unwrap();
    for key in [event_key("evt_2"), elsewhere] {
        assert_eq!(reader.path(&key).await.unwrap(), None, "{key}");
    }
}

pub async fn an_applied_event_shows_its_facts_entries_and_messages(store: impl StoreFixture) {
    let fee = Fact::Charged { fee: fact_id("fee_1"), amount: usd(1) };
    let told = event("evt_1", "pi/1", &[captured(usd(5)), fee.clone()]);
    apply(&*store.unit_of_work(1), &[of_merchant("acct:1", told)]).await;
    let path = path(&store, "evt_1").await;
    assert_eq!(path.event.outcome, EventOutcome::Applied);
    assert_eq!(path.facts, [fact(&captured(usd(5))), fact(&fee)]);
    let entries: Vec<(String, LedgerAccount, i64)> = path
        .entries
        .iter()
        .map(|entry| (entry.account.to_string(), entry.ledger, entry.amount.minor_units()))
        .collect();
    let of = |ledger, amount| ("payment:acct:1".to_owned(), ledger, amount);
    let expected =
        [of(LedgerAccount::ProviderClearing, 4), of(LedgerAccount::Merchant, -5), of(LedgerAccount::Fees, 1)];
    assert_eq!(entries, expected);
    assert!(
        path.entries
            .iter()
            .all(|entry| { entry.payment == payment_key("pi/1") && entry.event == event_key("evt_1") })
    );
    assert_eq!(path.messages.len(), 1);
    let message = &path.messages[0];
    assert_eq!(
        (message.id.as_str(), message.kind.as_str()),
        ("payment/pi%2F1/captured:single", "payment.succeeded")
    );
    assert!(message.deliveries.is_empty(), "there is no destination: {message:?}");
    assert_eq!((path.letters.len(), path.payload_bytes), (0, None));
}

pub async fn each_destination_shows_how_far_a_message_has_come(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    apply(&*unit_of_work, &[paid("evt_1", "pi_1"), paid("evt_2", "pi_2"), paid("evt_3", "pi_3")]).await;
    let outbox = store.outbox_of(CONSUMER);
    let (mut shop, _books) = (lease(&*outbox, "shop").await, lease(&*outbox, "books").await);
    settle_next(&mut *shop, |payment| match payment {
        "pi_1" => again(LONG),
        "pi_2" => failed(),
        _ => Verdict::Done,
    })
    .await;
    apply(&*unit_of_work, &[paid("evt_4", "pi_4")]).await;
    // Another consumer's destinations are of no concern.
    lease(&*store.outbox_of("other"), "elsewhere").await.release().await.unwrap();
    for event_id in ["evt_1", "evt_2", "evt_3", "evt_4"] {
        let path = path(&store, event_id).await;
        let deliveries = &path.messages[0].deliveries;
        let names: Vec<&str> = deliveries.iter().map(|delivery| delivery.destination.as_str()).collect();
        assert_eq!(names, ["books", "shop"], "{event_id}");
        assert_eq!(deliveries[0].state, DeliveryState::Queued, "{event_id}");
        let shop = &deliveries[1].state;
        let is_right = match (event_id, shop) {
            ("evt_1", DeliveryState::Waiting { attempts, next_at, error }) => {
                (*attempts, next_at.is_some(), error.as_deref()) == (1, true, Some("HTTP 500"))
            }
            ("evt_2", DeliveryState::Failed { attempts, error }) => {
                (*attempts, error.as_deref()) == (3, Some("HTTP 400"))
            }
            ("evt_3", DeliveryState::Done) | ("evt_4", DeliveryState::Queued) => true,
            _ => false,
        };
        assert!(is_right, "{event_id}: {shop:?}");
    }
}

pub async fn an_event_shows_nothing_of_another_ones_facts(store: impl StoreFixture) {
    let refund = Fact::Refunded { refund: fact_id("re_1"), amount: usd(2) };
    let refunded = event("evt_2", "pi_1", std::slice::from_ref(&refund));
    apply(&*store.unit_of_work(1), &[paid("evt_1", "pi_1"), refunded]).await;
    let path = path(&store, "evt_2").await;
    assert_eq!(path.facts, [fact(&refund)]);
    assert_eq!(path.entries.len(), 2);
    let ids: Vec<&str> = path.messages.iter().map(|message| message.id.as_str()).collect();
    assert_eq!(ids, ["payment/pi_1/refunded:re_1"]);
}

pub async fn a_recorded_event_shows_how_much_of_it_is_kept(store: impl StoreFixture) {
    apply(&*store.unit_of_work(1), &[paid("evt_1", "pi_1"), paid("evt_2", "pi_1")]).await;
    let path = path(&store, "evt_2").await;
    assert!(matches!(path.event.outcome, EventOutcome::Recorded { .. }), "{path:?}");
    assert_eq!(path.payload_bytes, Some(2));
    // It established nothing, although there are facts, entries and messages of its payment.
    assert_eq!((path.facts.len(), path.entries.len(), path.messages.len()), (0, 0, 0));
}

pub async fn an_event_shows_its_dead_letters_the_newest_first(store: impl StoreFixture) {
    let letters = vec![new_letter("evt_1", 7), new_letter("evt_1", 9), new_letter("evt_2", 8)];
    store.letters_of(CONSUMER).store(letters).await.unwrap();
    let given_up = path(&store, "evt_1").await;
    let moments = |path: &EventPath| -> Vec<i64> {
        path.letters.iter().map(|letter| letter.cause.dead_lettered_at.as_micros()).collect()
    };
    assert_eq!(moments(&given_up), [9, 7]);
    let last = EventOutcome::GivenUp {
        letter: given_up.letters[0].id,
        state: LetterState::Open,
        reason: given_up.letters[0].cause.reason,
        kind: given_up.letters[0].subject.kind.clone(),
    };
    assert_eq!(given_up.event.outcome, last);
    apply(&*store.unit_of_work(1), &[paid("evt_1", "pi_evt_1")]).await;
    let applied = path(&store, "evt_1").await;
    assert_eq!(applied.event.outcome, EventOutcome::Applied);
    assert_eq!(moments(&applied), [9, 7]);
    assert_eq!(applied.facts.len(), 1);
}

pub async fn another_consumers_events_have_no_path(store: impl StoreFixture) {
    apply(&*store.unit_of_work_of("other", 1), &[paid("evt_1", "pi_1")]).await;
    assert_eq!(store.events_of(CONSUMER).path(&event_key("evt_1")).await.unwrap(), None);
    // Nor is what another one has done shown with one's own.
    apply(&*store.unit_of_work(1), &[paid("evt_2", "pi_1"), paid("evt_1", "pi_1")]).await;
    let own = path(&store, "evt_1").await;
    assert!(matches!(own.event.outcome, EventOutcome::Recorded { .. }), "{own:?}");
    assert_eq!((own.facts.len(), own.entries.len(), own.messages.len()), (0, 0, 0));
}

pub async fn reading_holds_nobody_up_and_leaves_nothing_open(store: impl StoreFixture) {
    let unit_of_work = store.unit_of_work(1);
    apply(&*unit_of_work, &[paid("evt_1", "pi_1")]).await;
    let mut unit = begin(&*unit_of_work).await;
    unit.lock_payments(&[payment_key("pi_1")]).await.unwrap();
    path(&store, "evt_1").await;
    unit.commit().await.unwrap();
    assert_eq!(store.open_transactions().await, 0);
}
