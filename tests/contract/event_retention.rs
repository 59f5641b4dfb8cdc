//! What every store must do as [`application::ports::event_retention::EventRetention`].
// All of it is test code, also what is not itself a test.
#![cfg(test)]

mod behaviours;

/// Stamps every behaviour for one store: `event_retention_contract!(name, Fixture)`.
macro_rules! event_retention_contract {
    ($store:ident, $fixture:ty) => {
        mod $store {
            crate::event_retention::event_retention_contract! { @stamp $fixture:
                old_events_are_removed_the_oldest_first_and_a_few_at_a_time,
                what_events_have_done_stays,
                everything_that_was_accepted_stays_accounted_for,
                nothing_is_missed_that_was_removed_on_purpose,
                what_is_lost_is_missed_all_the_same,
                an_event_that_comes_again_after_that_has_no_second_effect,
                another_consumers_events_are_kept,
                a_purge_beside_workers_removes_each_event_once,
            }
        }
    };
    (@stamp $fixture:ty: $($behaviour:ident,)*) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $behaviour() {
            crate::event_retention::behaviours::$behaviour(
                <$fixture as crate::unit_of_work::fixture::StoreFixture>::create().await,
            )
            .await;
        }
    )*};
}

use event_retention_contract;

event_retention_contract!(postgres, crate::unit_of_work::postgres::PostgresFixture);
event_retention_contract!(sqlite, crate::unit_of_work::sqlite::SqliteFixture);
