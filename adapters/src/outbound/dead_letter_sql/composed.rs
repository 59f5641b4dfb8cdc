//! A statement that is put together of text and values.
//!
//! What is asked for decides the text, so no connection keeps it prepared.

use std::time::Duration;

use bytes::Bytes;
use diesel::QueryResult;
use diesel::pg::Pg;
use diesel::pg::data_types::PgTimestamp;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{Array, BigInt, Binary, Nullable, Text, Timestamptz, Untyped};
use diesel::sqlite::{Sqlite, SqliteConnection};
use domain::Timestamp;

/// The moments that are stored: those of the years 1 to 9999, in microseconds since 1970. A message may claim
/// any other; it is stored as the nearest.
const MOMENTS: (i64, i64) = (-62_135_596_800_000_000, 253_402_300_799_999_999);

/// 2000-01-01T00:00:00Z, from which PostgreSQL counts.
const POSTGRES_EPOCH_MICROS: i64 = 946_684_800_000_000;

/// The SQLite expression for the moment now.
const SQLITE_NOW: &str = "CAST(unixepoch('subsec') * 1000000 AS INTEGER)";

/// A statement.
#[derive(Debug, Default)]
pub(in crate::outbound) struct Composed {
    parts: Vec<Part>,
}

#[derive(Debug)]
enum Part {
    Sql(&'static str),
    Text(Option<String>),
    Number(Option<i64>),
    Bytes(Bytes),
    Moment(Option<Moment>),
    OneOf(Numbers),
    Now,
    After(i64),
    Micros(&'static str),
    MicrosNow,
    Size(&'static str),
    Locked,
}

/// A moment, as each database binds it.
#[derive(Debug, Clone, Copy)]
struct Moment {
    postgres: PgTimestamp,
    micros: i64,
}

impl Moment {
    fn of(at: Timestamp) -> Self {
        let micros = at.as_micros().clamp(MOMENTS.0, MOMENTS.1);
        Self { postgres: PgTimestamp(micros - POSTGRES_EPOCH_MICROS), micros }
    }
}

/// Numbers, as each database binds them. JSON keeps whole numbers exact in SQLite.
#[derive(Debug)]
struct Numbers {
    array: Vec<i64>,
    json: String,
}

impl Composed {
    /// A statement that begins with `sql`.
    pub(in crate::outbound) fn new(sql: &'static str) -> Self {
        Self::default().sql(sql)
    }

    fn with(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// Fixed text.
    pub(in crate::outbound) fn sql(self, sql: &'static str) -> Self {
        self.with(Part::Sql(sql))
    }

    /// A text to bind.
    pub(in crate::outbound) fn text(self, text: &str) -> Self {
        self.with(Part::Text(Some(text.to_owned())))
    }

    /// A text to bind, or NULL.
    pub(in crate::outbound) fn optional_text(self, text: Option<&str>) -> Self {
        self.with(Part::Text(text.map(str::to_owned)))
    }

    /// A number to bind.
    pub(in crate::outbound) fn number(self, number: i64) -> Self {
        self.with(Part::Number(Some(number)))
    }

    /// A number to bind, or NULL.
    pub(in crate::outbound) fn optional_number(self, number: Option<i64>) -> Self {
        self.with(Part::Number(number))
    }

    /// Bytes to bind.
    pub(in crate::outbound) fn bytes(self, bytes: Bytes) -> Self {
        self.with(Part::Bytes(bytes))
    }

    /// A moment to bind.
    pub(in crate::outbound) fn moment(self, at: Timestamp) -> Self {
        self.optional_moment(Some(at))
    }

    /// A moment to bind, or NULL.
    pub(in crate::outbound) fn optional_moment(self, at: Option<Timestamp>) -> Self {
        self.with(Part::Moment(at.map(Moment::of)))
    }

    /// That what stands before it is one of these numbers.
    pub(in crate::outbound) fn one_of(self, numbers: Vec<i64>) -> Self {
        let texts: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        self.with(Part::OneOf(Numbers { json: format!("[{}]", texts.join(",")), array: numbers }))
    }

    /// The moment now, by the database's clock.
    pub(in crate::outbound) fn now(self) -> Self {
        self.with(Part::Now)
    }

    /// The moment that comes `wait` after now.
    pub(in crate::outbound) fn after(self, wait: Duration) -> Self {
        self.with(Part::After(i64::try_from(wait.as_micros()).unwrap_or(i64::MAX)))
    }

    /// A column or expression with a moment, as microseconds since 1970.
    pub(in crate::outbound) fn micros(self, moment: &'static str) -> Self {
        self.with(Part::Micros(moment))
    }

    /// The moment now, as microseconds since 1970.
    pub(in crate::outbound) fn micros_now(self) -> Self {
        self.with(Part::MicrosNow)
    }

    /// How many bytes a column has.
    pub(in crate::outbound) fn size(self, column: &'static str) -> Self {
        self.with(Part::Size(column))
    }

    /// At the end of a query: keeps its rows from everybody else until the transaction ends.
    pub(in crate::outbound) fn locked(self) -> Self {
        self.with(Part::Locked)
    }
}

impl QueryFragment<Pg> for Composed {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.unsafe_to_cache_prepared();
        for part in &self.parts {
            match part {
                Part::Sql(sql) => out.push_sql(sql),
                Part::Text(text) => out.push_bind_param::<Nullable<Text>, _>(text)?,
                Part::Number(number) => out.push_bind_param::<Nullable<BigInt>, _>(number)?,
                Part::Bytes(bytes) => out.push_bind_param::<Binary, [u8]>(bytes)?,
                Part::Moment(Some(moment)) => out.push_bind_param::<Timestamptz, _>(&moment.postgres)?,
                Part::Moment(None) => out.push_sql("NULL"),
                Part::OneOf(numbers) => {
                    out.push_sql(" = ANY(");
                    out.push_bind_param::<Array<BigInt>, _>(&numbers.array)?;
                    out.push_sql(")");
                }
                Part::Now => out.push_sql("clock_timestamp()"),
                Part::After(micros) => {
                    out.push_sql("(clock_timestamp() + ");
                    out.push_bind_param::<BigInt, _>(micros)?;
                    out.push_sql(" * interval '1 microsecond')");
                }
                Part::Micros(moment) => {
                    out.push_sql("(extract(epoch FROM ");
                    out.push_sql(moment);
                    out.push_sql(") * 1000000)::bigint");
                }
                Part::MicrosNow => out.push_sql("(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"),
                Part::Size(column) => {
                    out.push_sql("octet_length(");
                    out.push_sql(column);
                    out.push_sql(")::bigint");
                }
                Part::Locked => out.push_sql(" FOR UPDATE"),
            }
        }
        Ok(())
    }
}

impl QueryFragment<Sqlite> for Composed {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.unsafe_to_cache_prepared();
        for part in &self.parts {
            match part {
                Part::Sql(sql) => out.push_sql(sql),
                Part::Text(text) => out.push_bind_param::<Nullable<Text>, _>(text)?,
                Part::Number(number) => out.push_bind_param::<Nullable<BigInt>, _>(number)?,
                Part::Bytes(bytes) => out.push_bind_param::<Binary, [u8]>(bytes)?,
                Part::Moment(Some(moment)) => out.push_bind_param::<BigInt, _>(&moment.micros)?,
                Part::Moment(None) => out.push_sql("NULL"),
                Part::OneOf(numbers) => {
                    out.push_sql(" IN (SELECT value FROM json_each(");
                    out.push_bind_param::<Text, _>(&numbers.json)?;
                    out.push_sql("))");
                }
                Part::Now | Part::MicrosNow => out.push_sql(SQLITE_NOW),
                Part::After(micros) => {
                    out.push_sql("(");
                    out.push_sql(SQLITE_NOW);
                    out.push_sql(" + ");
                    out.push_bind_param::<BigInt, _>(micros)?;
                    out.push_sql(")");
                }
                Part::Micros(moment) => out.push_sql(moment),
                Part::Size(column) => {
                    out.push_sql("length(");
                    out.push_sql(column);
                    out.push_sql(")");
                }
                // The one who writes has the whole file.
                Part::Locked => {}
            }
        }
        Ok(())
    }
}

impl QueryId for Composed {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for Composed {
    type SqlType = Untyped;
}

impl diesel::RunQueryDsl<SqliteConnection> for Composed {}
