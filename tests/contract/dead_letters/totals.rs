//! Counts and sums.

use application::dead_letter::{
    FailureGroup, LetterFilter, LetterReason, LetterState, MoneyTotal, NewDeadLetter, StateTotals,
};
use application::testing::dead_letters::{consumer, new_letter, order, unreadable_letter};
use application::testing::source_name;
use domain::{Currency, Money, Timestamp};

use super::fixture::LettersFixture;

fn with_amount(event_id: &str, micros: i64, minor_units: i64, currency: &str) -> NewDeadLetter {
    let mut letter = new_letter(event_id, micros);
    letter.subject.amount = Some(Money::new(minor_units, Currency::parse(currency).unwrap()));
    letter
}

fn with_detail(event_id: &str, micros: i64, detail: &str) -> NewDeadLetter {
    let mut letter = new_letter(event_id, micros);
    letter.cause.detail = detail.to_owned();
    letter.group = FailureGroup::of(&consumer(), Some(&source_name()), LetterReason::Refused, detail);
    letter
}

fn total(currency: &str, minor_units: i128) -> MoneyTotal {
    MoneyTotal { currency: Currency::parse(currency).unwrap(), minor_units }
}

fn state(state: LetterState, letters: u64, money: Vec<MoneyTotal>) -> StateTotals {
    StateTotals { state, letters, money }
}

pub async fn alike_failures_are_one_group(fixture: impl LettersFixture) {
    let store = fixture.store();
    let ids = store
        .keep(&[
            with_amount("evt_1", 10, 100, "usd"),
            with_amount("evt_2", 30, 250, "usd"),
            with_amount("evt_3", 20, 7, "jpy"),
            with_detail("evt_4", 40, "another failure"),
        ])
        .await;
    store.letters.discard(&ids[..1], &order("ann")).await.unwrap();
    let groups = store.letters.groups(&LetterFilter::default(), 10).await.unwrap();
    assert_eq!(groups.len(), 2);
    let alike = &groups[0];
    assert_eq!(alike.message, "payment <id> is not known");
    assert_eq!((alike.source.as_ref(), alike.reason), (Some(&source_name()), LetterReason::Refused));
    assert_eq!((alike.letters, alike.newest), (3, ids[2]));
    assert_eq!((alike.first_seen, alike.last_seen), (Timestamp::from_micros(10), Timestamp::from_micros(30)));
    let mut by_state = alike.by_state.clone();
    by_state.sort_by_key(|totals| totals.state.as_str());
    let open = state(LetterState::Open, 2, vec![total("jpy", 7), total("usd", 250)]);
    assert_eq!(by_state, [state(LetterState::Discarded, 1, vec![total("usd", 100)]), open]);
    assert_eq!((groups[1].message.as_str(), groups[1].letters), ("another failure", 1));
}

pub async fn the_most_numerous_groups_come_first(fixture: impl LettersFixture) {
    let store = fixture.store();
    let mut letters = vec![unreadable_letter("x", 9)];
    for (detail, count) in [("one", 1), ("three", 3), ("two", 2)] {
        letters
            .extend((0..count).map(|number| with_detail(&format!("evt_{detail}_{number}"), number, detail)));
    }
    store.keep(&letters).await;
    let filter = LetterFilter { source: Some(source_name()), ..LetterFilter::default() };
    let groups = store.letters.groups(&filter, 2).await.unwrap();
    let told: Vec<(&str, u64)> = groups.iter().map(|group| (group.message.as_str(), group.letters)).collect();
    assert_eq!(told, [("three", 3), ("two", 2)]);
}

pub async fn letters_are_counted_by_state_with_their_money(fixture: impl LettersFixture) {
    let store = fixture.store();
    let none = LetterFilter::default();
    let empty: Vec<StateTotals> = LetterState::ALL.into_iter().map(|of| state(of, 0, Vec::new())).collect();
    assert_eq!(store.letters.counts(&none).await.unwrap(), empty);
    store.keep(&[with_amount("evt_1", 1, 5, "eur"), unreadable_letter("x", 2)]).await;
    store.replayed().await;
    let ids = store.keep(&[with_amount("evt_3", 3, -2, "usd"), with_amount("evt_4", 4, 9, "usd")]).await;
    store.letters.discard(&ids[1..], &order("ann")).await.unwrap();
    let counts = store.letters.counts(&none).await.unwrap();
    let expected = [
        state(LetterState::Open, 2, vec![total("usd", -2)]),
        state(LetterState::Replaying, 0, Vec::new()),
        state(LetterState::Replayed, 1, vec![total("eur", 5)]),
        state(LetterState::Discarded, 1, vec![total("usd", 9)]),
    ];
    assert_eq!(counts, expected);
}

pub async fn sums_beyond_64_bits_are_exact(fixture: impl LettersFixture) {
    let store = fixture.store();
    let amounts = [i64::MAX, i64::MAX, 9_007_199_254_740_993, -3, i64::MIN, i64::MAX];
    let letters: Vec<_> = (1..)
        .zip(amounts)
        .map(|(micros, minor_units)| with_amount(&format!("evt_{micros}"), micros, minor_units, "usd"))
        .collect();
    store.keep(&letters).await;
    let expected = total("usd", amounts.into_iter().map(i128::from).sum());
    let counts = store.letters.counts(&LetterFilter::default()).await.unwrap();
    assert_eq!(counts[0].money, [expected]);
    let groups = store.letters.groups(&LetterFilter::default(), 10).await.unwrap();
    assert_eq!(groups[0].by_state[0].money, [expected]);
}
