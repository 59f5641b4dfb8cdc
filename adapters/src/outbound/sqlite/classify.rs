//! What an error means to the caller.
//!
//! diesel does not pass SQLite's result code on, except for constraints; but unlike a server's, the texts of
//! the codes are never translated, and they are those of the version that is built in. So they are compared
//! here, and a test provokes the errors one by one.

use application::ports::unit_of_work::StoreError;
use diesel::result::{DatabaseErrorKind, Error};

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Another connection holds a lock.
    Busy,
    /// A constraint refuses it.
    Refused,
    /// No room.
    Full,
    /// Reading or writing fails.
    Io,
    /// Writing is not allowed.
    ReadOnly,
    /// The file is not as SQLite has written it.
    Damaged,
    /// There is no file, or it may not be opened.
    CannotOpen,
    /// A table or column is missing.
    NoSchema,
    /// Anything else.
    Other,
}

impl Class {
    /// What to do about it, to be put behind what has failed.
    pub(super) const fn advice(self) -> &'static str {
        match self {
            Self::Busy => ": another connection has locked the file for too long",
            Self::Full => ": no room is left on the disk; make room, and the work goes on",
            Self::Io => ": the file cannot be read or written; look at the disk and the file system",
            Self::ReadOnly => ": the file or its folder is read-only; let this user write to both",
            Self::Damaged => ": the file is damaged or not of SQLite; restore it from a backup",
            Self::CannotOpen => {
                ": there is no such file yet (the first start makes it), or this user may not open it"
            }
            Self::NoSchema => ": the schema is not that of this release; run `payonce migrate`",
            Self::Refused | Self::Other => "",
        }
    }
}

/// A statement that has failed, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[error("SQLite has failed{advice}")]
struct Failure {
    advice: &'static str,
    #[source]
    source: Error,
}

/// What `error` means.
pub(super) fn classify(error: Error) -> StoreError {
    let class = class(&error);
    let advice = class.advice();
    match class {
        Class::Refused => StoreError::Permanent(error.into()),
        Class::Busy | Class::Other => StoreError::Transient(error.into()),
        Class::Full | Class::Io | Class::ReadOnly | Class::Damaged | Class::CannotOpen | Class::NoSchema => {
            StoreError::Unavailable(Failure { advice, source: error }.into())
        }
    }
}

/// What is wrong, by an error of a statement.
pub(super) fn class(error: &Error) -> Class {
    match error {
        Error::DatabaseError(kind, information) => match kind {
            DatabaseErrorKind::UniqueViolation
            | DatabaseErrorKind::ForeignKeyViolation
            | DatabaseErrorKind::NotNullViolation
            | DatabaseErrorKind::CheckViolation => Class::Refused,
            _ => class_of_text(information.message()),
        },
        _ => Class::Other,
    }
}

/// What to do about an error whose text starts with SQLite's own words, to be put behind what has failed.
pub(crate) fn advice_for(text: &str) -> &'static str {
    class_of_text(text).advice()
}

/// What is wrong, by SQLite's own words.
pub(super) fn class_of_text(text: &str) -> Class {
    const TEXTS: [(&str, Class); 14] = [
        ("database is locked", Class::Busy),
        ("database table is locked", Class::Busy),
        ("database schema is locked", Class::Busy),
        ("database or disk is full", Class::Full),
        ("disk I/O error", Class::Io),
        ("large file support is disabled", Class::Io),
        ("attempt to write a readonly database", Class::ReadOnly),
        ("database disk image is malformed", Class::Damaged),
        ("malformed database schema", Class::Damaged),
        ("file is not a database", Class::Damaged),
        ("unable to open database file", Class::CannotOpen),
        ("no such table", Class::NoSchema),
        ("no such column", Class::NoSchema),
        // What a strict table says of a value of another type.
        ("cannot store ", Class::Refused),
    ];
    TEXTS.iter().find(|(start, _)| text.starts_with(start)).map_or(Class::Other, |(_, class)| *class)
}

#[cfg(test)]
mod tests {
    use diesel::connection::SimpleConnection;
    use diesel::{Connection, SqliteConnection};

    use super::*;

    fn error(setup: &str, statement: &str) -> Error {
        let mut connection = SqliteConnection::establish(":memory:").unwrap();
        connection.batch_execute("PRAGMA foreign_keys = ON").unwrap();
        connection.batch_execute(setup).unwrap();
        connection.batch_execute(statement).unwrap_err()
    }

    #[test]
    fn what_a_constraint_refuses_is_permanent() {
        let setup = "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER NOT NULL UNIQUE CHECK (n > 0)) STRICT;\
                     CREATE TABLE u (t INTEGER REFERENCES t (id)) STRICT;\
                     INSERT INTO t VALUES (1, 1)";
        for statement in [
            "INSERT INTO t VALUES (1, 2)",
            "INSERT INTO t VALUES (2, 1)",
            "INSERT INTO t VALUES (2, 0)",
            "INSERT INTO t VALUES (2, NULL)",
            "INSERT INTO t VALUES (2, 'two')",
            "INSERT INTO u VALUES (7)",
        ] {
            let refused = classify(error(setup, statement));
            assert!(matches!(refused, StoreError::Permanent(_)), "{statement}: {refused:?}");
        }
    }

    #[test]
    fn no_room_makes_the_store_unavailable_and_says_so() {
        let setup = "CREATE TABLE t (b BLOB) STRICT; PRAGMA max_page_count = 3";
        let full = error(setup, "INSERT INTO t VALUES (zeroblob(100000))");
        assert_eq!(class(&full), Class::Full);
        let StoreError::Unavailable(full) = classify(full) else {
            panic!("not unavailable");
        };
        assert!(full.to_string().contains("make room"), "{full}");
    }

    #[test]
    fn a_missing_table_or_column_is_a_schema_that_is_not_there() {
        let missing = error("", "INSERT INTO payments VALUES (1)");
        assert_eq!(class(&missing), Class::NoSchema);
        let missing = error("CREATE TABLE t (n)", "SELECT m FROM t");
        assert_eq!(class(&missing), Class::NoSchema);
    }

    #[test]
    fn writing_where_only_reading_is_allowed_is_read_only() {
        let refused = error("CREATE TABLE t (n); PRAGMA query_only = ON", "INSERT INTO t VALUES (1)");
        assert_eq!(class(&refused), Class::ReadOnly);
    }

    #[test]
    fn what_is_not_known_is_transient() {
        assert!(matches!(classify(error("", "nonsense")), StoreError::Transient(_)));
    }
}
