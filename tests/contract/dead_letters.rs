//! What every store must do as [`application::ports::dead_letters::DeadLetters`],
//! [`application::ports::replay_jobs::ReplayJobs`], [`application::ports::alert_log::AlertLog`] and
//! [`application::ports::operator_actions::OperatorActions`].
// All of it is test code, also what is not itself a test.
#![cfg(test)]

mod actions;
mod alerting;
mod coming_back;
mod discarding;
mod editing;
mod fixture;
mod freezing;
mod listing;
mod marking;
mod members;
mod postgres;
mod sqlite;
mod storing;
mod totals;

/// Stamps every behaviour for one store: `dead_letters_contract!(name, Fixture)`.
macro_rules! dead_letters_contract {
    ($store:ident, $fixture:ty) => {
        mod $store {
            crate::dead_letters::dead_letters_contract! { @stamp $fixture:
                storing::{
                    a_letter_comes_back_as_it_was_stored,
                    a_letter_is_stored_once,
                    any_bytes_are_kept,
                    texts_with_nul_are_stored,
                    a_message_that_could_not_be_read_is_stored,
                    moments_that_make_no_sense_are_stored,
                    many_letters_are_stored_at_once,
                    two_archives_that_store_the_same_letters_store_each_once,
                    letters_of_other_consumers_are_not_seen,
                }
                coming_back::{
                    a_letter_that_comes_back_after_its_replay_is_open_again,
                    a_letter_that_comes_back_while_it_is_replayed_is_open_afterwards,
                    a_letter_that_comes_back_after_a_cancel_is_open_whatever_is_marked,
                    a_discarded_letter_stays_discarded,
                    an_event_that_fails_again_is_a_new_letter_and_its_replays_are_counted,
                }
                listing::{
                    the_newest_letters_come_first,
                    pages_neither_repeat_nor_skip_while_letters_are_stored,
                    a_filter_leaves_out_what_is_not_asked_for,
                    letters_are_listed_by_state,
                }
                totals::{
                    alike_failures_are_one_group,
                    the_most_numerous_groups_come_first,
                    letters_are_counted_by_state_with_their_money,
                    sums_beyond_64_bits_are_exact,
                }
                discarding::{
                    a_discarded_letter_keeps_its_bytes_and_says_why,
                    only_open_letters_are_discarded,
                    the_store_refuses_to_discard_without_a_reason,
                    discarding_is_written_down,
                }
                freezing::{
                    what_comes_later_belongs_to_no_job,
                    a_job_tells_its_letters_and_their_money,
                    where_there_is_nothing_to_replay_there_is_no_job,
                    what_is_not_taken_is_told_by_reason,
                    what_keeps_coming_back_is_left_out,
                    a_preview_changes_nothing,
                    two_jobs_that_race_never_share_a_letter,
                    a_job_and_a_discard_that_race_never_share_a_letter,
                    the_store_refuses_a_letter_in_two_jobs,
                    jobs_are_listed_by_state_and_page,
                }
                members::{
                    letters_are_handed_out_from_the_oldest_on_and_once,
                    letters_are_handed_out_up_to_a_number_of_bytes_but_always_one,
                    a_lease_that_is_over_goes_to_whoever_asks,
                    a_pause_is_kept_whoever_asks,
                    a_job_that_does_not_run_hands_out_nothing,
                    what_failed_least_is_handed_out_first,
                    the_jobs_of_other_consumers_are_out_of_reach,
                }
                marking::{
                    a_job_ends_with_its_last_letter,
                    a_letter_that_cannot_be_published_is_open_again,
                    a_canceled_job_gives_its_letters_back,
                    what_was_published_is_replayed_even_if_the_job_was_canceled,
                    a_letter_of_another_job_meanwhile_stays_there,
                    a_failure_counts_only_from_the_one_who_has_the_letter,
                    marking_twice_changes_nothing,
                    what_is_ordered_is_written_down_and_what_changes_nothing_is_not,
                }
                editing::{
                    an_edited_copy_is_replayed_in_place_of_its_letter,
                    a_canceled_copy_is_discarded_and_its_letter_open_again,
                    copies_are_counted_and_listed_nowhere_else,
                    only_an_open_letter_is_copied,
                }
                alerting::{
                    where_nothing_failed_there_is_nothing_to_tell,
                    each_group_has_an_alert_of_its_own_from_the_oldest_on,
                    of_several_who_ask_at_once_one_has_the_alert,
                    a_lease_that_is_over_is_given_to_whoever_asks_and_the_alert_is_the_same,
                    what_was_told_is_not_told_again_and_what_is_new_waits_for_the_window,
                    after_the_window_only_what_is_new_is_told_under_another_id,
                    what_failed_is_tried_again_after_its_wait_and_counted,
                    what_failed_keeps_its_id_and_takes_what_is_new_along,
                    what_was_given_up_is_told_with_the_next_window,
                    who_has_lost_the_lease_fails_for_nobody_else,
                    letters_that_somebody_has_dealt_with_are_not_told,
                    the_letters_of_other_consumers_are_told_by_their_own,
                    several_workers_send_one_signed_alert_for_a_group,
                    an_alert_that_is_not_taken_comes_again_under_its_id,
                }
                actions::{
                    actions_come_back_the_newest_first,
                    the_store_refuses_to_change_or_remove_an_action,
                    the_store_refuses_an_action_without_actor_or_reason,
                }
            }
        }
    };
    (@stamp $fixture:ty: $($module:ident::{$($behaviour:ident,)*})*) => {$($(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $behaviour() {
            crate::dead_letters::$module::$behaviour(
                <$fixture as crate::dead_letters::fixture::LettersFixture>::create().await,
            )
            .await;
        }
    )*)*};
}

use dead_letters_contract;
