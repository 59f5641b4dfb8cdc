//! What an adapter brings: a connection in a transaction.

use std::future::Future;

use application::ports::unit_of_work::StoreError;
use diesel::QueryableByName;
use diesel::pg::Pg;
use diesel::sqlite::Sqlite;

use super::composed::Composed;

/// A row that either database can give, by the names of its columns.
pub(in crate::outbound) trait Row:
    QueryableByName<Pg> + QueryableByName<Sqlite> + Send + 'static
{
}

impl<T> Row for T where T: QueryableByName<Pg> + QueryableByName<Sqlite> + Send + 'static {}

/// Runs statements one after the other, all of them in one transaction.
pub(in crate::outbound) trait Statements: Send {
    /// Runs a statement and gives its rows.
    fn rows<T: Row>(
        &mut self,
        statement: Composed,
    ) -> impl Future<Output = Result<Vec<T>, StoreError>> + Send;

    /// Runs a statement and gives the number of rows that it has changed.
    fn change(&mut self, statement: Composed) -> impl Future<Output = Result<usize, StoreError>> + Send;
}
