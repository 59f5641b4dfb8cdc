//! What every store must do as [`application::ports::unit_of_work::UnitOfWork`].
// All of it is test code, also what is not itself a test.
#![cfg(test)]

mod atomicity;
mod claims;
mod fixture;
mod payments;
mod postgres;
mod races;
mod sqlite;

/// Stamps every behaviour for one store: `unit_of_work_contract!(name, Fixture)`.
macro_rules! unit_of_work_contract {
    ($store:ident, $fixture:ty) => {
        mod $store {
            crate::unit_of_work::unit_of_work_contract! { @stamp $fixture:
                atomicity::{
                    a_committed_unit_is_stored,
                    a_dropped_unit_leaves_nothing_and_no_open_session,
                    a_unit_that_is_dropped_in_mid_statement_leaves_nothing,
                    the_commit_of_a_failed_unit_fails_and_stores_nothing,
                    a_cancelled_unit_costs_no_session,
                    a_store_in_order_can_be_written_to,
                }
                claims::{
                    an_event_is_fresh_once_and_a_duplicate_ever_after,
                    the_same_key_with_another_meaning_is_a_conflict,
                    claims_answer_in_the_order_of_the_events,
                    an_event_is_a_duplicate_only_in_its_own_source,
                    a_second_claim_in_one_unit_is_a_duplicate,
                    ids_are_kept_byte_for_byte,
                    a_recorded_event_keeps_its_reason_and_bytes,
                    an_applied_event_that_turns_out_to_have_no_effect_is_recorded,
                    an_empty_batch_is_claimed,
                }
                payments::{
                    a_payment_comes_back_as_it_was_saved,
                    amounts_are_exact_to_the_last_minor_unit,
                    only_existing_payments_are_loaded_in_key_order,
                    a_payment_that_was_created_meanwhile_is_not_overwritten,
                    a_stale_change_is_not_saved,
                    breaking_a_business_rule_is_permanent,
                }
                races::{
                    of_two_units_that_race_for_an_event_one_gets_it,
                    a_claim_waits_for_the_unit_that_holds_the_key,
                    a_claim_that_waited_for_a_dropped_unit_is_fresh,
                    racing_creations_of_a_payment_lose_no_update,
                    batches_in_reverse_order_lose_no_event,
                }
            }
        }
    };
    (@stamp $fixture:ty: $($module:ident::{$($behaviour:ident,)*})*) => {$($(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $behaviour() {
            crate::unit_of_work::$module::$behaviour(
                <$fixture as crate::unit_of_work::fixture::StoreFixture>::create().await,
            )
            .await;
        }
    )*)*};
}

use unit_of_work_contract;
