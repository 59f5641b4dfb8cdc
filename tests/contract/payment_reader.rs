//! What every store must do as [`application::ports::payment_reader::PaymentReader`].
// All of it is test code, also what is not itself a test.
#![cfg(test)]

mod behaviours;

/// Stamps every behaviour for one store: `payment_reader_contract!(name, Fixture)`.
macro_rules! payment_reader_contract {
    ($store:ident, $fixture:ty) => {
        mod $store {
            crate::payment_reader::payment_reader_contract! { @stamp $fixture:
                a_payment_that_nobody_has_heard_of_is_not_there,
                a_payment_is_read_as_it_is_now,
                a_payment_was_created_by_its_first_event_and_changed_by_its_last,
                what_is_not_committed_is_not_seen,
                a_history_tells_facts_and_what_had_no_effect_the_latest_first,
                a_history_is_limited_to_the_latest,
                balances_are_read_in_order_and_by_account,
                another_consumers_payments_are_not_seen,
                reading_holds_nobody_up_and_leaves_nothing_open,
            }
        }
    };
    (@stamp $fixture:ty: $($behaviour:ident,)*) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $behaviour() {
            crate::payment_reader::behaviours::$behaviour(
                <$fixture as crate::unit_of_work::fixture::StoreFixture>::create().await,
            )
            .await;
        }
    )*};
}

use payment_reader_contract;

payment_reader_contract!(postgres, crate::unit_of_work::postgres::PostgresFixture);
payment_reader_contract!(sqlite, crate::unit_of_work::sqlite::SqliteFixture);
