//! What every store must do as [`application::ports::store_audit::StoreAudit`].
// All of it is test code, also what is not itself a test.
#![cfg(test)]

mod behaviours;
pub mod books;
mod breaches;

/// Stamps every behaviour, and a breach of every invariant, for one store: `store_audit_contract!(name, Fixture)`.
macro_rules! store_audit_contract {
    ($store:ident, $fixture:ty) => {
        mod $store {
            crate::store_audit::store_audit_contract! { @stamp $fixture, behaviours:
                a_store_in_order_has_no_violation,
                violations_are_limited_for_each_invariant,
                totals_are_counted_by_outcome_and_by_prefix,
                an_event_that_is_given_up_is_counted_once,
                a_dead_letter_of_an_event_that_is_settled_is_not_counted_but_a_conflict_is,
                a_message_that_could_not_be_read_is_counted_where_no_id_is_asked_for,
                a_discarded_letter_is_still_accounted_for,
                another_consumers_events_are_not_looked_at,
                what_was_purged_by_age_is_not_missed,
                what_is_younger_than_a_purge_is_missed,
                a_broken_row_is_told_to_its_own_consumer_only,
            }
            crate::store_audit::store_audit_contract! { @stamp $fixture, breaches:
                an_event_that_is_processed_twice_is_found,
                an_applied_event_without_a_fact_is_found,
                an_applied_event_that_names_no_payment_is_found,
                a_fact_whose_event_is_not_processed_is_found,
                a_fact_whose_event_is_recorded_is_found,
                a_recorded_event_without_its_bytes_is_found,
                bytes_of_an_event_that_is_not_recorded_are_found,
                facts_without_their_payment_are_found,
                a_payment_that_another_ones_event_has_changed_is_found,
                a_lost_update_is_found,
                a_negative_amount_is_found,
                a_negative_amount_of_a_fact_is_found,
                a_payment_with_more_refunded_than_captured_is_found,
                a_dispute_that_ended_with_more_than_it_had_is_found,
                a_fact_in_another_currency_is_found,
                a_payment_that_went_back_is_found,
                a_payout_that_went_back_is_found,
                a_sum_that_is_not_that_of_the_facts_is_found,
                entries_of_an_event_that_do_not_sum_to_zero_are_found,
                entries_of_no_event_are_found,
                entries_in_another_account_are_found,
                entries_in_another_ledger_account_are_found,
                a_balance_that_is_not_the_sum_of_its_entries_is_found,
                a_balance_that_is_missing_is_found,
                a_balance_without_entries_is_found,
                a_fact_that_is_not_announced_is_found,
                a_message_that_says_another_amount_is_found,
            }
        }
    };
    (@stamp $fixture:ty, $module:ident: $($behaviour:ident,)*) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $behaviour() {
            crate::store_audit::$module::$behaviour(
                <$fixture as crate::unit_of_work::fixture::StoreFixture>::create().await,
            )
            .await;
        }
    )*};
}

use store_audit_contract;

store_audit_contract!(postgres, crate::unit_of_work::postgres::PostgresFixture);
store_audit_contract!(sqlite, crate::unit_of_work::sqlite::SqliteFixture);
