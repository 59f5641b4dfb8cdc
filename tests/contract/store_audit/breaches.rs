//! A breach of every invariant. Each breaks nothing else, and exactly that one is told.

use std::collections::BTreeSet;

use super::books::fill;
use crate::unit_of_work::fixture::{CONSUMER, StoreFixture};

/// Has the balances be the sums of the entries again.
const ADD_UP: &str = "DELETE FROM account_balances; \
    INSERT INTO account_balances (consumer, account, ledger, currency, balance_minor) \
    SELECT consumer, account, ledger, currency, sum(amount_minor) FROM ledger_entries \
    GROUP BY consumer, account, ledger, currency";

/// Breaks a store in order, and expects that invariant to be told, with that detail, and no other.
async fn expect(store: impl StoreFixture, invariant: &str, detail: &str, broken_by: &str) {
    fill(&store).await;
    store.tamper(broken_by).await;
    let violations = store.audit_of(CONSUMER).violations(10).await.unwrap();
    let told: BTreeSet<&str> = violations.iter().map(|violation| violation.invariant).collect();
    assert_eq!(told, BTreeSet::from([invariant]), "{violations:?}");
    assert!(violations.iter().any(|violation| violation.detail.contains(detail)), "{violations:?}");
}

macro_rules! breaches {
    ($($name:ident: $invariant:literal, $detail:literal, $broken_by:expr;)*) => {$(
        pub async fn $name(store: impl StoreFixture) {
            expect(store, $invariant, $detail, $broken_by).await;
        }
    )*};
}

breaches! {
    an_event_that_is_processed_twice_is_found:
        "no event is processed twice", "payment/evt_1 is processed 2 times",
        "INSERT INTO processed_events SELECT * FROM processed_events WHERE event_id = 'evt_1'";
    an_applied_event_without_a_fact_is_found:
        "every applied event has established a fact", "payment/evt_x",
        "INSERT INTO processed_events \
           (event_id, source, consumer, fingerprint, outcome, payment_id, received_at, processed_at) \
         SELECT 'evt_x', source, consumer, fingerprint, outcome, payment_id, received_at, processed_at \
         FROM processed_events WHERE event_id = 'evt_1'";
    an_applied_event_that_names_no_payment_is_found:
        "every applied event has established a fact", "(none named)",
        "INSERT INTO processed_events \
           (event_id, source, consumer, fingerprint, outcome, received_at, processed_at) \
         SELECT 'evt_x', source, consumer, fingerprint, outcome, received_at, processed_at \
         FROM processed_events WHERE event_id = 'evt_1'";
    a_fact_whose_event_is_not_processed_is_found:
        "every fact was established by an applied event", "payment/pi_1 has captured:single from evt_1",
        "DELETE FROM processed_events WHERE event_id = 'evt_1'";
    a_fact_whose_event_is_recorded_is_found:
        "every fact was established by an applied event", "payment/pi_1 has captured:single from evt_1",
        "UPDATE processed_events SET outcome = 2 WHERE event_id = 'evt_1'; \
         INSERT INTO recorded_events (event_id, source, consumer, kind, reason, payload) \
         SELECT event_id, source, consumer, 'some.kind', 'no_effect', fingerprint \
         FROM processed_events WHERE event_id = 'evt_1'";
    a_recorded_event_without_its_bytes_is_found:
        "every recorded event has its bytes", "payment/other_1",
        "DELETE FROM recorded_events";
    bytes_of_an_event_that_is_not_recorded_are_found:
        "bytes are kept of recorded events only", "payment/evt_1",
        "INSERT INTO recorded_events (event_id, source, consumer, kind, reason, payload) \
         SELECT event_id, source, consumer, 'some.kind', 'no_effect', fingerprint \
         FROM processed_events WHERE event_id = 'evt_1'";
    facts_without_their_payment_are_found:
        "every fact has its payment", "payment/pi_1 has captured:single, but there is no such payment",
        "DELETE FROM payments WHERE payment_id = 'pi_1'";
    a_payment_that_another_ones_event_has_changed_is_found:
        "every payment was last changed by an event that established a fact of it",
        "payment/pi_1 was last changed by evt_2",
        "UPDATE payments SET last_event_id = 'evt_2' WHERE payment_id = 'pi_1'";
    a_lost_update_is_found:
        "every payment has as many revisions as events that established facts of it",
        "payment/pi_3 has revision 1 and 2 events",
        "UPDATE payments SET revision = 1 WHERE payment_id = 'pi_3'";
    a_negative_amount_is_found:
        "no amount is negative", "payment/pi_1 has -5 USD",
        "UPDATE payments SET amount_minor = -5 WHERE payment_id = 'pi_1'";
    a_negative_amount_of_a_fact_is_found:
        "no amount is negative", "payment/pi_2 has -1 USD",
        "UPDATE payment_facts SET amount_minor = -1, currency = 'USD' WHERE fact LIKE 'progress:%'";
    a_payment_with_more_refunded_than_captured_is_found:
        "no more is refunded than was captured", "payment/pi_3 has 5 refunded and 4 captured",
        &format!(
            "UPDATE payments SET captured_minor = 4 WHERE payment_id = 'pi_3'; \
             UPDATE payment_facts SET amount_minor = 4 WHERE event_id = 'evt_4'; \
             UPDATE outbox SET amount_minor = 4 WHERE event_id = 'evt_4'; \
             UPDATE ledger_entries SET amount_minor = amount_minor * 4 / 5 WHERE event_id = 'evt_4'; {ADD_UP}"
        );
    a_dispute_that_ended_with_more_than_it_had_is_found:
        "no refund fails and no dispute ends that had not begun",
        "4 of disputes opened and 0 won and 5 lost",
        &format!(
            "UPDATE payments SET disputes_opened_minor = 4 WHERE payment_id = 'pi_4'; \
             UPDATE payment_facts SET amount_minor = 4 WHERE event_id = 'evt_8'; \
             UPDATE outbox SET amount_minor = 4 WHERE event_id = 'evt_8'; \
             UPDATE ledger_entries SET amount_minor = amount_minor * 4 / 5 WHERE event_id = 'evt_8'; {ADD_UP}"
        );
    a_fact_in_another_currency_is_found:
        "every fact is in its payment's currency", "payment/pi_1 is in USD, but charged:fee_1 is in EUR",
        "UPDATE payment_facts SET currency = 'EUR' WHERE fact = 'charged:fee_1'";
    a_payment_that_went_back_is_found:
        "no payment went backwards", "payment/pi_1 stands at stage 30, but has come to 100",
        "UPDATE payments SET standing_stage = 30 WHERE payment_id = 'pi_1'";
    a_payout_that_went_back_is_found:
        "no payment went backwards", "payment/po_1 stands at stage 110, but has come to 120",
        &format!(
            "UPDATE payments SET standing_stage = 110 WHERE payment_id = 'po_1'; \
             DELETE FROM ledger_entries WHERE payment_id = 'po_1'; {ADD_UP}"
        );
    a_sum_that_is_not_that_of_the_facts_is_found:
        "every payment's sums are those of its facts",
        "payment/pi_1 has 0/5/1/0/0/0/0/0/0, and its facts say 0/5/2/0/0/0/0/0/0",
        "UPDATE payment_facts SET amount_minor = 2 WHERE fact = 'charged:fee_1'";
    entries_of_an_event_that_do_not_sum_to_zero_are_found:
        "the entries of every event sum to zero", "payment/evt_4 has entries that sum to 1 USD",
        "UPDATE ledger_entries SET amount_minor = 6 WHERE event_id = 'evt_4' AND ledger = 'provider_clearing'; \
         UPDATE ledger_entries SET amount_minor = -6 WHERE event_id = 'evt_5' AND ledger = 'provider_clearing'";
    entries_of_no_event_are_found:
        "every entry was posted by an event that established a fact",
        "payment/evt_x has an entry of 1 USD to provider_clearing",
        "INSERT INTO ledger_entries \
           (consumer, source, event_id, account, ledger, currency, amount_minor, payment_id) \
         VALUES ('payments', 'payment', 'evt_x', 'payment', 'provider_clearing', 'USD', 1, 'pi_1'), \
           ('payments', 'payment', 'evt_x', 'payment', 'merchant', 'USD', -1, 'pi_1'), \
           ('payments', 'payment', 'evt_y', 'payment', 'provider_clearing', 'USD', -1, 'pi_1'), \
           ('payments', 'payment', 'evt_y', 'payment', 'merchant', 'USD', 1, 'pi_1')";
    entries_in_another_account_are_found:
        "every entry is in its payment's account and currency",
        "payment/pi_5 is of payment:acct_1 in EUR, but an entry of evt_a is of payment:acct_2 in EUR",
        &format!("UPDATE ledger_entries SET account = 'payment:acct_2' WHERE event_id = 'evt_a'; {ADD_UP}");
    entries_in_another_ledger_account_are_found:
        "every payment's entries are those of its sums",
        "payment/pi_1 stands at 4/-5/0/0/1/0 by its sums, and at 4/-5/0/0/0/1 by its entries",
        &format!(
            "UPDATE ledger_entries SET ledger = 'bank' WHERE event_id = 'evt_1' AND ledger = 'fees'; {ADD_UP}"
        );
    a_balance_that_is_not_the_sum_of_its_entries_is_found:
        "every balance is the sum of its entries", "payment has 2 USD in fees, and its entries sum to 1",
        "UPDATE account_balances SET balance_minor = 2 WHERE ledger = 'fees'";
    a_balance_that_is_missing_is_found:
        "every balance is the sum of its entries", "payment has 0 USD in fees, and its entries sum to 1",
        "DELETE FROM account_balances WHERE ledger = 'fees'";
    a_balance_without_entries_is_found:
        "every balance is the sum of its entries", "payment:gone has 8 USD in fees, and its entries sum to 0",
        "INSERT INTO account_balances (consumer, account, ledger, currency, balance_minor) \
         VALUES ('payments', 'payment:gone', 'fees', 'USD', 8)";
    a_fact_that_is_not_announced_is_found:
        "every announced fact has its message", "payment/pi_1 has captured:single, and no message says so",
        "DELETE FROM outbox WHERE event_id = 'evt_1'";
    a_message_that_says_another_amount_is_found:
        "every message says what is known", "of evt_1 says 4 USD",
        "UPDATE outbox SET amount_minor = 4 WHERE event_id = 'evt_1'";
}
