//! What every store must do as [`application::ports::event_reader::EventReader`].
// All of it is test code, also what is not itself a test.
#![cfg(test)]

mod paging;
mod paths;
mod searching;

/// Stamps every behaviour for one store: `event_reader_contract!(name, Fixture)`.
macro_rules! event_reader_contract {
    ($store:ident, $fixture:ty) => {
        mod $store {
            crate::event_reader::event_reader_contract! { @stamp $fixture:
                searching::{
                    an_applied_event_is_found_by_all_that_is_known_of_it,
                    a_recorded_event_says_why_it_had_no_effect,
                    an_event_that_was_given_up_says_why,
                    an_event_that_was_given_up_and_applied_later_is_applied,
                    an_event_that_was_given_up_again_is_there_once,
                    a_message_that_could_not_be_read_is_no_event,
                    an_edited_copy_is_no_event_of_its_own,
                    a_payment_or_an_id_is_looked_for_in_every_source,
                    all_that_is_asked_for_must_be_true,
                    what_is_not_committed_is_not_found,
                    another_consumers_events_are_not_found,
                }
                paging::{
                    the_newest_events_come_first_whatever_became_of_them,
                    pages_neither_repeat_nor_skip_events_of_one_moment,
                    events_of_a_time_are_those_from_its_begin_and_before_its_end,
                    a_page_has_at_least_one_event_and_at_most_as_many_as_it_may,
                }
                paths::{
                    an_event_that_nobody_has_heard_of_has_no_path,
                    an_applied_event_shows_its_facts_entries_and_messages,
                    each_destination_shows_how_far_a_message_has_come,
                    an_event_shows_nothing_of_another_ones_facts,
                    a_recorded_event_shows_how_much_of_it_is_kept,
                    an_event_shows_its_dead_letters_the_newest_first,
                    another_consumers_events_have_no_path,
                    reading_holds_nobody_up_and_leaves_nothing_open,
                }
            }
        }
    };
    (@stamp $fixture:ty: $($module:ident::{$($behaviour:ident,)*})*) => {$($(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $behaviour() {
            crate::event_reader::$module::$behaviour(
                <$fixture as crate::unit_of_work::fixture::StoreFixture>::create().await,
            )
            .await;
        }
    )*)*};
}

use event_reader_contract;

event_reader_contract!(postgres, crate::unit_of_work::postgres::PostgresFixture);
event_reader_contract!(sqlite, crate::unit_of_work::sqlite::SqliteFixture);
