//! What every store must do as [`application::ports::unit_of_work::UnitOfWork`].
// All of it is test code, also what is not itself a test.
#![cfg(test)]

mod atomicity;
mod claims;
mod consumers;
pub mod effects;
mod facts;
pub mod fixture;
mod ledger;
mod outbox;
mod payments;
pub mod postgres;
mod races;
pub mod sqlite;
mod steps;
mod upgrades;

/// Stamps every behaviour for one store: `unit_of_work_contract!(name, Fixture)`.
macro_rules! unit_of_work_contract {
    ($store:ident, $fixture:ty) => {
        mod $store {
            crate::unit_of_work::unit_of_work_contract! { @stamp $fixture:
                atomicity::{
                    a_committed_unit_is_stored,
                    a_dropped_unit_leaves_nothing_and_no_open_session,
                    a_unit_that_is_dropped_after_any_step_leaves_nothing,
                    a_unit_that_is_dropped_in_mid_statement_leaves_nothing,
                    the_commit_of_a_failed_unit_fails_and_stores_nothing,
                    a_cancelled_unit_costs_no_session,
                    a_change_that_is_cancelled_anywhere_is_stored_whole_or_not_at_all,
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
                    all_of_a_payment_comes_back_when_it_is_created_and_when_it_is_changed,
                    what_follows_from_the_sums_is_stored_with_them,
                    more_refunded_than_captured_is_refused_by_the_store,
                    amounts_are_exact_to_the_last_minor_unit,
                    only_existing_payments_are_loaded_in_key_order,
                    a_payment_that_was_created_meanwhile_is_not_overwritten,
                    a_payment_that_does_not_exist_is_not_changed,
                    a_stale_change_is_not_saved,
                    breaking_a_business_rule_is_permanent,
                }
                facts::{
                    only_what_is_established_is_known,
                    a_fact_is_known_in_its_own_unit_at_once,
                    amounts_of_facts_are_exact_and_zero_is_one,
                    many_facts_are_each_found,
                    a_fact_that_is_known_is_not_established_again,
                    an_event_may_establish_several_facts,
                }
                ledger::{
                    entries_are_kept_and_change_the_balances,
                    every_account_and_currency_has_a_balance_of_its_own,
                    balances_are_the_sums_of_many_entries,
                    balances_are_exact_to_the_last_minor_unit,
                    a_batch_that_does_not_fit_is_refused_for_good,
                    a_balance_that_does_not_fit_is_refused_for_good,
                    a_balance_may_go_to_either_end_of_64_bits,
                    an_event_posts_to_an_account_once,
                    an_entry_of_nothing_is_refused,
                    entries_that_cancel_out_are_kept_and_change_no_balance,
                    an_entry_is_never_changed_or_removed,
                    units_that_share_balances_lose_no_change_and_wait_in_no_circle,
                }
                outbox::{
                    a_message_is_there_only_after_the_commit,
                    a_message_keeps_all_that_it_says,
                    messages_are_numbered_as_they_were_enqueued,
                    a_message_is_not_stored_twice,
                }
                consumers::{
                    each_consumer_has_its_own_effects,
                    a_consumer_sees_nothing_of_another_ones_payments,
                }
                upgrades::{
                    payments_of_the_first_release_are_whole,
                    payments_of_the_first_release_go_on,
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
