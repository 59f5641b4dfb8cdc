//! What a unit of work does to the tables, on a connection that is in a transaction: a statement for each
//! table and verb, over any number of rows. Blocks its thread.
//!
//! - [`claims`]: the idempotency keys, and what had no effect
//! - [`payments`], [`facts`], [`ledger`], [`outbox`]: what events change
//!
//! A conflict is let pass only on the table's own key: any other unique rule is somebody's business rule, and
//! breaking it is an error. `CROSS JOIN` has SQLite look up the given rows one by one, in any version and
//! whatever it believes to know of the sizes of the tables.

use application::ports::unit_of_work::StoreError;

pub(super) mod claims;
pub(super) mod facts;
pub(super) mod ledger;
pub(super) mod outbox;
pub(super) mod payments;

/// Another unit has been faster where fewer rows were changed than `expected`.
fn expect_rows(changed: usize, expected: usize, otherwise: &'static str) -> Result<(), StoreError> {
    if changed == expected { Ok(()) } else { Err(lost_race(otherwise)) }
}

fn lost_race(what: &'static str) -> StoreError {
    StoreError::Transient(what.into())
}
