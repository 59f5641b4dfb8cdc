//! A store in which something of every kind has happened.

use application::testing::without_effect;
use domain::{Currency, Fact, Money, PaymentEvent, Progress};

use crate::unit_of_work::effects::{apply, captured, event, fact_id, of_merchant, usd};
use crate::unit_of_work::fixture::{CONSUMER, StoreFixture};

/// How many of [`events`] are applied.
pub const APPLIED: u64 = 12;
/// How many are recorded.
pub const RECORDED: u64 = 2;

/// A payment with a fee (`pi_1`), one that was pending first (`pi_2`), one that was refunded (`pi_3`), one of
/// which a part was captured and disputed (`pi_4`), one of a merchant in another currency (`pi_5`), a payout
/// (`po_1`), an event that tells a known fact, and one without effect.
pub fn events() -> Vec<PaymentEvent> {
    let part = Fact::Captured { capture: fact_id("c_1"), amount: usd(5), last: false };
    let dispute = || fact_id("dp_1");
    let euros = Money::new(7, Currency::parse("EUR").unwrap());
    vec![
        event("evt_1", "pi_1", &[captured(usd(5)), Fact::Charged { fee: fact_id("fee_1"), amount: usd(1) }]),
        event("evt_2", "pi_2", &[Fact::Progressed { progress: Progress::Processing }]),
        event("evt_3", "pi_2", &[captured(usd(6))]),
        event("evt_4", "pi_3", &[captured(usd(5))]),
        event("evt_5", "pi_3", &[Fact::Refunded { refund: fact_id("re_1"), amount: usd(5) }]),
        event("evt_6", "pi_4", &[Fact::Authorised { amount: usd(9) }]),
        event("evt_7", "pi_4", &[part]),
        event("evt_8", "pi_4", &[Fact::DisputeOpened { dispute: dispute(), amount: usd(5) }]),
        event("evt_9", "pi_4", &[Fact::DisputeLost { dispute: dispute(), amount: usd(5) }]),
        of_merchant("acct_1", event("evt_a", "pi_5", &[captured(euros)])),
        event("evt_b", "po_1", &[Fact::PayoutStarted { amount: usd(3) }]),
        event("evt_c", "po_1", &[Fact::PayoutPaid { amount: usd(3) }]),
        event("evt_d", "pi_1", &[captured(usd(5))]),
        without_effect("other_1"),
    ]
}

/// Fills a store.
pub async fn fill(store: &impl StoreFixture) {
    apply(&*store.unit_of_work_of(CONSUMER, 1), &events()).await;
}
