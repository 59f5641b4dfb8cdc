//! A borrowed session, which is given back only when it is known to be in order.

use std::future::Future;
use std::time::Duration;

use application::ports::unit_of_work::StoreError;
use diesel::QueryResult;
use diesel::deserialize::FromSqlRow;
use diesel::expression::QueryMetadata;
use diesel::pg::Pg;
use diesel::query_builder::{AsQuery, QueryFragment, QueryId};
use diesel::query_dsl::CompatibleType;
use diesel_async::pooled_connection::deadpool::Object;
use diesel_async::{
    AnsiTransactionManager, AsyncConnection, AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection,
    TransactionManager,
};

use super::classify::classify;

/// A pooled session. The transaction manager is named for this very type, or the calls do not type-check.
pub(super) type Connection = Object<AsyncPgConnection>;
type Transactions = <Connection as AsyncConnection>::TransactionManager;

/// A session that ends when this is dropped: the pool would keep it with whatever is open on it, and look at it
/// only when the next one asks for it. Only [`release`](Self::release) and [`commit`](Self::commit) give it back.
pub(super) struct Session {
    connection: Option<Connection>,
    answer_timeout: Duration,
    failed: bool,
}

impl Session {
    pub(super) fn new(connection: Connection, answer_timeout: Duration) -> Self {
        Self { connection: Some(connection), answer_timeout, failed: false }
    }

    /// Waits `answer_timeout` for each answer from now on.
    pub(super) fn wait_for_answers(&mut self, answer_timeout: Duration) {
        self.answer_timeout = answer_timeout;
    }

    /// Opens a transaction.
    pub(super) async fn begin(&mut self) -> Result<(), StoreError> {
        let timeout = self.answer_timeout;
        let result = answer(timeout, Transactions::begin_transaction(self.connection()?)).await;
        self.settle(result).await
    }

    /// Opens a transaction that reads one state of the whole database.
    pub(super) async fn begin_snapshot(&mut self) -> Result<(), StoreError> {
        let timeout = self.answer_timeout;
        let connection: &mut AsyncPgConnection = self.connection()?;
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
        let result = answer(timeout, AnsiTransactionManager::begin_transaction_sql(connection, begin)).await;
        self.settle(result).await
    }

    /// Runs a statement and gives its rows.
    pub(super) async fn rows<Q, T, Row>(&mut self, query: Q) -> Result<Vec<T>, StoreError>
    where
        Q: AsQuery + Send,
        Q::Query: QueryFragment<Pg> + QueryId + Send,
        Q::SqlType: CompatibleType<T, Pg, SqlType = Row>,
        Pg: QueryMetadata<Q::SqlType>,
        T: FromSqlRow<Row, Pg> + Send + 'static,
        Row: 'static,
    {
        let timeout = self.answer_timeout;
        let result = answer(timeout, query.load(self.connection()?)).await;
        self.settle(result).await
    }

    /// Runs a statement and gives the number of rows that it has changed.
    pub(super) async fn change<Q>(&mut self, query: Q) -> Result<usize, StoreError>
    where
        Q: QueryFragment<Pg> + QueryId + Send,
    {
        let timeout = self.answer_timeout;
        let result = answer(timeout, query.execute(self.connection()?)).await;
        self.settle(result).await
    }

    /// Runs fixed text.
    pub(super) async fn run(&mut self, sql: &str) -> Result<(), StoreError> {
        let timeout = self.answer_timeout;
        let result = answer(timeout, self.connection()?.batch_execute(sql)).await;
        self.settle(result).await
    }

    /// Makes the transaction durable and gives the session back. After a failed statement it fails: the server
    /// would answer COMMIT with a silent ROLLBACK, and the driver would take that for success.
    pub(super) async fn commit(mut self) -> Result<(), StoreError> {
        if self.failed {
            return Err(StoreError::Transient(
                "a statement of this transaction has failed, so it is rolled back".into(),
            ));
        }
        let timeout = self.answer_timeout;
        let result = answer(timeout, Transactions::commit_transaction(self.connection()?)).await;
        self.settle(result).await?;
        self.release();
        Ok(())
    }

    /// Gives the session back; for one that has no open transaction.
    pub(super) fn release(mut self) {
        if !self.failed {
            drop(self.connection.take());
        }
    }

    /// Notes that the unit must not be committed.
    pub(super) fn fail(&mut self, error: StoreError) -> StoreError {
        self.failed = true;
        error
    }

    /// Notes that another unit has been faster.
    pub(super) fn lost_race(&mut self, what: &'static str) -> StoreError {
        self.fail(StoreError::Transient(what.into()))
    }

    /// Notes that another unit has been faster where fewer rows were changed than `expected`.
    pub(super) fn expect_rows(
        &mut self,
        changed: usize,
        expected: usize,
        otherwise: &'static str,
    ) -> Result<(), StoreError> {
        if changed == expected { Ok(()) } else { Err(self.lost_race(otherwise)) }
    }

    fn connection(&mut self) -> Result<&mut Connection, StoreError> {
        self.connection.as_mut().ok_or_else(|| StoreError::Unavailable("the session is lost".into()))
    }

    /// Latches an error, and finds out whether it was the session that broke.
    async fn settle<T: Send>(&mut self, result: Result<QueryResult<T>, NoAnswer>) -> Result<T, StoreError> {
        let error = match result {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) => classify(error),
            Err(no_answer) => {
                self.end();
                StoreError::Unavailable(no_answer.into())
            }
        };
        self.failed = true;
        match error {
            // A server that shuts down says so by an error like any other. An empty statement is answered
            // even in a failed transaction, unless the session is gone.
            StoreError::Transient(cause) if !self.is_alive().await => Err(StoreError::Unavailable(cause)),
            error => Err(error),
        }
    }

    async fn is_alive(&mut self) -> bool {
        let timeout = self.answer_timeout;
        match self.connection() {
            Ok(connection) => matches!(answer(timeout, connection.batch_execute("")).await, Ok(Ok(()))),
            Err(_) => false,
        }
    }

    /// Ends the session, which rolls back what is open on it.
    fn end(&mut self) {
        if let Some(connection) = self.connection.take() {
            drop(Connection::take(connection));
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.end();
    }
}

/// The server has not answered in time, and may have done it or not.
#[derive(Debug, thiserror::Error)]
#[error("no answer from the database within {0:?}")]
struct NoAnswer(Duration);

async fn answer<T>(
    timeout: Duration,
    asked: impl Future<Output = QueryResult<T>> + Send,
) -> Result<QueryResult<T>, NoAnswer> {
    tokio::time::timeout(timeout, asked).await.map_err(|_| NoAnswer(timeout))
}
