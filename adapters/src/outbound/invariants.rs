//! The invariants of a store, each a query for what breaks it, in words that both databases understand.
//!
//! - [`accounting`]: what is given up and not settled
//! - [`events`]: every event is settled once, and its effect is there
//! - [`payments`]: payments say what their facts say
//! - [`ledger`]: double entry
//! - [`outbox`]: what the rest of the company hears

use application::ports::store_audit::Violation;
use diesel::sql_types::Text;

pub(super) mod accounting;
mod events;
mod ledger;
mod outbox;
mod payments;

/// A rule that no row breaks.
pub(super) struct Invariant {
    /// What is true of every row.
    pub name: &'static str,
    /// What is not: each row is one text, `detail`. `$1` is the consumer, and stands before `$2`, the greatest
    /// number of rows: SQLite numbers parameters in the order in which they come.
    pub query: &'static str,
}

impl Invariant {
    /// What is said of a row that breaks it.
    pub(super) fn violation(&self, broken: Broken) -> Violation {
        Violation { invariant: self.name, detail: broken.detail }
    }
}

/// A row that breaks an invariant.
#[derive(diesel::QueryableByName)]
pub(super) struct Broken {
    #[diesel(sql_type = Text)]
    detail: String,
}

/// All of them.
pub(super) fn all() -> impl Iterator<Item = &'static Invariant> + Send {
    [events::INVARIANTS, payments::INVARIANTS, ledger::INVARIANTS, outbox::INVARIANTS].into_iter().flatten()
}
