//! What every store must do as [`application::ports::outbox::Outbox`].
// All of it is test code, also what is not itself a test.
#![cfg(test)]

mod batches;
pub mod fixture;
mod leases;
mod postgres;
mod purging;
mod relays;
mod retries;
mod sqlite;

/// Stamps every behaviour for one store: `outbox_contract!(name, Fixture)`.
macro_rules! outbox_contract {
    ($store:ident, $fixture:ty) => {
        mod $store {
            crate::outbox::outbox_contract! { @stamp $fixture:
                leases::{
                    one_relay_has_the_lease_and_the_others_stand_by,
                    a_lease_that_is_over_is_given_to_whoever_asks,
                    a_lease_that_was_given_back_is_free_at_once,
                    its_owner_has_a_lease_again_at_once,
                    a_renewed_lease_holds_on,
                    whoever_has_lost_the_lease_changes_nothing,
                    destinations_and_consumers_have_leases_of_their_own,
                }
                batches::{
                    messages_come_in_order_and_each_once,
                    what_is_not_settled_comes_again_and_to_the_next_relay,
                    a_message_comes_as_it_was_stored,
                    another_consumers_messages_are_passed_over,
                    a_new_destination_begins_where_it_is_told_to,
                    a_batch_that_was_cut_says_that_there_is_more,
                    how_far_a_destination_has_come_is_told,
                }
                retries::{
                    a_message_that_was_not_taken_comes_again_after_its_time_and_counts,
                    messages_of_a_payment_wait_behind_one_that_was_not_taken,
                    what_waited_behind_comes_at_once_and_in_order_when_the_first_is_delivered,
                    what_waited_behind_comes_when_the_first_is_given_up,
                    a_message_that_was_given_up_is_kept_and_comes_no_more,
                    a_destination_with_too_many_that_wait_is_handed_nothing_new,
                    each_destination_has_retries_of_its_own,
                }
                purging::{
                    old_messages_that_everybody_has_are_removed_and_it_is_noted,
                    messages_that_a_destination_has_not_had_are_kept,
                    messages_that_wait_or_have_failed_are_kept,
                    a_destination_that_nobody_relays_to_any_more_keeps_nothing,
                    places_are_not_used_again_after_a_purge,
                }
                relays::{
                    two_relays_deliver_each_message_once_and_a_payments_in_order,
                    when_a_relay_is_killed_another_goes_on_and_nothing_is_lost,
                    a_destination_that_takes_nothing_holds_back_no_other,
                    a_message_that_is_refused_holds_back_its_payment_alone,
                }
            }
        }
    };
    (@stamp $fixture:ty: $($module:ident::{$($behaviour:ident,)*})*) => {$($(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $behaviour() {
            crate::outbox::$module::$behaviour(
                <$fixture as crate::outbox::fixture::OutboxFixture>::create().await,
            )
            .await;
        }
    )*)*};
}

use outbox_contract;
