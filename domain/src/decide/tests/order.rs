//! The outcome does not depend on the order and number of deliveries.

use proptest::prelude::*;

use super::*;

/// What can happen to one payment, in an order in which it can happen.
fn history() -> impl Strategy<Value = Vec<PaymentEvent>> {
    (
        prop::collection::vec((0_u8..3, 1_i64..4), 0..4),
        prop::collection::vec(1_i64..50, 1..4),
        any::<bool>(),
        prop::collection::vec((1_i64..30, any::<bool>()), 0..4),
        prop::option::of((1_i64..20, 0_u8..3)),
        any::<bool>(),
    )
        .prop_map(|(reports, captures, told_twice, refunds, dispute, failed_first)| {
            let mut facts = Vec::new();
            add_reports(&mut facts, &reports);
            if failed_first {
                facts.push((3, vec![Fact::Failed { attempt: id("try_1") }]));
            }
            let total: i64 = captures.iter().sum();
            facts.push((4, vec![Fact::Authorised { amount: usd(total) }]));
            add_captures(&mut facts, &captures, told_twice);
            add_refunds(&mut facts, total, &refunds);
            add_dispute(&mut facts, dispute);
            let numbered = facts.into_iter().enumerate();
            numbered.map(|(n, (second, facts))| event(&format!("evt_{n}"), second, &facts)).collect()
        })
}

type Facts = Vec<(i64, Vec<Fact>)>;

fn add_reports(facts: &mut Facts, reports: &[(u8, i64)]) {
    let all = [Progress::Created, Progress::RequiresAction, Progress::Processing];
    for (progress, second) in reports {
        facts.push((*second, vec![progressed(all[usize::from(*progress)])]));
    }
}

fn add_captures(facts: &mut Facts, captures: &[i64], told_twice: bool) {
    let only = captures.len() == 1;
    for (index, amount) in captures.iter().enumerate() {
        let name = id(&format!("c_{index}"));
        let capture = Fact::Captured { capture: name.clone(), amount: usd(*amount), last: only };
        facts.push((5, vec![capture.clone(), Fact::Charged { fee: name, amount: usd(1) }]));
        if told_twice {
            facts.push((5, vec![capture]));
        }
    }
}

fn add_refunds(facts: &mut Facts, total: i64, refunds: &[(i64, bool)]) {
    let mut left = total;
    for (index, (amount, fails)) in refunds.iter().enumerate() {
        if *amount > left {
            continue;
        }
        let name = format!("re_{index}");
        facts.push((6, vec![refunded(&name, *amount)]));
        facts.push((7, vec![refunded(&name, *amount)]));
        if *fails {
            facts.push((8, vec![Fact::RefundFailed { refund: id(&name), amount: usd(*amount) }]));
        }
        left -= amount;
    }
}

fn add_dispute(facts: &mut Facts, dispute: Option<(i64, u8)>) {
    let Some((amount, end)) = dispute else { return };
    let (dispute, amount) = (id("dp_1"), usd(amount));
    facts.push((6, vec![Fact::DisputeOpened { dispute: dispute.clone(), amount }]));
    match end {
        0 => {}
        1 => facts.push((9, vec![Fact::DisputeWon { dispute, amount }])),
        _ => facts.push((9, vec![Fact::DisputeLost { dispute, amount }])),
    }
}

/// Delivers `events` in that order, and what waits again until it is applied.
fn deliver(events: &[PaymentEvent]) -> Books {
    let mut books = Books::default();
    let mut waiting: Vec<&PaymentEvent> = events.iter().collect();
    while !waiting.is_empty() {
        let before = waiting.len();
        waiting.retain(|event| matches!(books.take(event).expect("possible"), Decision::NotReady(_)));
        assert!(waiting.len() < before, "these wait for ever: {waiting:?}");
    }
    books
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn every_order_of_deliveries_ends_in_the_same_books(
        (in_order, shuffled) in history().prop_flat_map(|events| {
            let shuffled = Just(events.clone()).prop_shuffle();
            (Just(events), shuffled)
        })
    ) {
        prop_assert_eq!(deliver(&in_order).outcome(), deliver(&shuffled).outcome());
    }
}
