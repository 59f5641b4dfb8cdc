//! What may happen to some payments of three accounts, event by event.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use application::testing::event_key;
use domain::{
    Currency, Effect, EventId, EventKind, Fact, FactId, MerchantId, Money, PaymentChange, PaymentEvent,
    PaymentId, Progress, Timestamp,
};

use super::chance::Chance;

const ACCOUNTS: [&str; 3] = ["acct_1", "acct_2", "acct_3"];
const PAYMENTS: usize = 12;

/// Events in an order in which they can happen.
pub struct History {
    events: Vec<PaymentEvent>,
}

impl History {
    /// Payments with all that can follow: attempts, captures told twice, refunds, failed refunds, disputes,
    /// fees, payouts.
    pub fn generate(chance: &mut Chance) -> Self {
        let mut writer = Writer::default();
        for number in 0..PAYMENTS {
            let account = ACCOUNTS[chance.below(ACCOUNTS.len())];
            if chance.once_in(6) {
                writer.payout(chance, &format!("po_{number}"), account);
            } else {
                writer.payment(chance, &format!("pi_{number}"), account);
            }
        }
        Self { events: writer.events }
    }

    /// Single captures only, `count` of them.
    pub fn of_captures(chance: &mut Chance, count: usize) -> Self {
        let mut writer = Writer::default();
        for number in 0..count {
            let account = ACCOUNTS[chance.below(ACCOUNTS.len())];
            let capture = captured("single", chance.amount(500), true);
            writer.tell(&format!("pi_{number}"), account, 1, vec![capture]);
        }
        Self { events: writer.events }
    }

    pub fn by_id(&self) -> HashMap<EventId, PaymentEvent> {
        self.events.iter().map(|event| (event.key.event_id.clone(), event.clone())).collect()
    }

    pub fn in_order(&self) -> Vec<EventId> {
        self.events.iter().map(|event| event.key.event_id.clone()).collect()
    }

    /// Every event at least once, a third of them more than once, in any order.
    pub fn shuffled_with_copies(&self, chance: &mut Chance) -> Vec<EventId> {
        let mut deliveries = self.in_order();
        for id in self.in_order() {
            while chance.once_in(3) {
                deliveries.push(id.clone());
            }
        }
        chance.shuffle(&mut deliveries);
        deliveries
    }

    /// `account amount` for each account, of a history of captures.
    pub fn captured_by_account(&self) -> BTreeSet<String> {
        let mut sums: BTreeMap<String, i64> = BTreeMap::new();
        for change in self.events.iter().filter_map(PaymentEvent::change) {
            let account = change.merchant.as_ref().expect("every payment has an account");
            let amount = change.facts[0].amount().expect("a capture has an amount");
            *sums.entry(format!("payment:{account}")).or_default() += amount.minor_units();
        }
        sums.into_iter().map(|(account, sum)| format!("{account} {sum}")).collect()
    }
}

#[derive(Default)]
struct Writer {
    events: Vec<PaymentEvent>,
}

impl Writer {
    fn tell(&mut self, payment: &str, account: &str, second: i64, facts: Vec<Fact>) {
        let number = self.events.len();
        self.events.push(PaymentEvent {
            key: event_key(&format!("evt_{number}")),
            kind: EventKind::parse("generated").expect("a valid kind"),
            effect: Effect::Change(PaymentChange {
                payment: PaymentId::parse(payment).expect("a valid id"),
                merchant: Some(MerchantId::parse(account).expect("a valid id")),
                facts,
            }),
            occurred_at: Some(Timestamp::from_micros(second * 1_000_000)),
            received_at: Timestamp::from_micros(1_700_000_000_000_000),
        });
    }

    fn payment(&mut self, chance: &mut Chance, id: &str, account: &str) {
        for progress in [Progress::Created, Progress::RequiresAction, Progress::Processing] {
            if chance.once_in(2) {
                self.tell(id, account, chance.amount(3), vec![Fact::Progressed { progress }]);
            }
        }
        if chance.once_in(3) {
            self.tell(id, account, 3, vec![Fact::Failed { attempt: fact_id("try_1") }]);
        }
        let captures: Vec<i64> = (0..chance.below(4)).map(|_| chance.amount(400)).collect();
        let total: i64 = captures.iter().sum();
        if captures.is_empty() {
            return self.tell(id, account, 4, vec![Fact::Canceled]);
        }
        self.tell(id, account, 4, vec![Fact::Authorised { amount: usd(total) }]);
        for (index, amount) in captures.iter().enumerate() {
            let name = format!("c_{index}");
            let capture = captured(&name, *amount, captures.len() == 1);
            let fee = Fact::Charged { fee: fact_id(&name), amount: usd(1) };
            self.tell(id, account, 5, vec![capture.clone(), fee]);
            if chance.once_in(2) {
                self.tell(id, account, 5, vec![capture]);
            }
        }
        self.refunds(chance, id, account, total);
        self.dispute(chance, id, account);
    }

    fn refunds(&mut self, chance: &mut Chance, id: &str, account: &str, mut left: i64) {
        for number in 0..chance.below(4) {
            let amount = chance.amount(200);
            if amount > left {
                continue;
            }
            left -= amount;
            let refund = fact_id(&format!("re_{number}"));
            let told = Fact::Refunded { refund: refund.clone(), amount: usd(amount) };
            self.tell(id, account, 6, vec![told.clone()]);
            if chance.once_in(2) {
                self.tell(id, account, 7, vec![told]);
            }
            if chance.once_in(3) {
                self.tell(id, account, 8, vec![Fact::RefundFailed { refund, amount: usd(amount) }]);
            }
        }
    }

    fn dispute(&mut self, chance: &mut Chance, id: &str, account: &str) {
        if !chance.once_in(3) {
            return;
        }
        let (dispute, amount) = (fact_id("dp_1"), usd(chance.amount(50)));
        self.tell(id, account, 6, vec![Fact::DisputeOpened { dispute: dispute.clone(), amount }]);
        match chance.below(3) {
            0 => self.tell(id, account, 9, vec![Fact::DisputeWon { dispute, amount }]),
            1 => self.tell(id, account, 9, vec![Fact::DisputeLost { dispute, amount }]),
            _ => {}
        }
    }

    fn payout(&mut self, chance: &mut Chance, id: &str, account: &str) {
        let amount = usd(chance.amount(300));
        self.tell(id, account, 1, vec![Fact::PayoutStarted { amount }]);
        self.tell(id, account, 2, vec![Fact::PayoutPaid { amount }]);
        if chance.once_in(2) {
            self.tell(id, account, 3, vec![Fact::PayoutFailed { amount }]);
        }
    }
}

fn usd(minor_units: i64) -> Money {
    Money::new(minor_units, Currency::parse("USD").expect("a listed currency"))
}

fn fact_id(text: &str) -> FactId {
    FactId::parse(text).expect("a valid id")
}

fn captured(capture: &str, minor_units: i64, last: bool) -> Fact {
    Fact::Captured { capture: fact_id(capture), amount: usd(minor_units), last }
}
