//! What an error means to the caller.
//!
//! diesel-async does not pass the SQLSTATE on: lock and statement time-outs, deadlocks and a server that shuts
//! down are all [`Unknown`](DatabaseErrorKind::Unknown) and told apart only by a translated text. So only what
//! is known to be refused for good is permanent, and the rest is tried again, a bounded number of times.

use application::ports::unit_of_work::StoreError;
use diesel::result::{DatabaseErrorKind, Error};

/// Keys under which rows are stored without letting a conflict pass, since the lock of their payment keeps other
/// units away. Should another one have been faster all the same, this one finds it when it is run again.
const RACED_KEYS: [&str; 2] = ["payment_facts_pkey", "outbox_id_key"];

/// The class of `error`.
pub(super) fn classify(error: Error) -> StoreError {
    match class(&error) {
        Class::Unavailable => StoreError::Unavailable(error.into()),
        Class::Transient => StoreError::Transient(error.into()),
        Class::Permanent => StoreError::Permanent(error.into()),
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Class {
    Unavailable,
    Transient,
    Permanent,
}

fn class(error: &Error) -> Class {
    match error {
        Error::DatabaseError(DatabaseErrorKind::UniqueViolation, violation)
            if violation.constraint_name().is_some_and(|key| RACED_KEYS.contains(&key)) =>
        {
            Class::Transient
        }
        Error::DatabaseError(kind, _) => match kind {
            DatabaseErrorKind::UniqueViolation
            | DatabaseErrorKind::ForeignKeyViolation
            | DatabaseErrorKind::RestrictViolation
            | DatabaseErrorKind::ExclusionViolation
            | DatabaseErrorKind::NotNullViolation
            | DatabaseErrorKind::CheckViolation => Class::Permanent,
            // Read-only is a server that has stopped being the primary.
            DatabaseErrorKind::UnableToSendCommand
            | DatabaseErrorKind::ClosedConnection
            | DatabaseErrorKind::ReadOnlyTransaction => Class::Unavailable,
            _ => Class::Transient,
        },
        Error::BrokenTransactionManager => Class::Unavailable,
        Error::RollbackErrorOnCommit { commit_error, .. } => class(commit_error),
        _ => Class::Transient,
    }
}

#[cfg(test)]
mod tests {
    use diesel::result::DatabaseErrorInformation;

    use super::*;

    fn of(kind: DatabaseErrorKind) -> Class {
        class(&Error::DatabaseError(kind, Box::new(String::from("some text"))))
    }

    /// A unique key that was violated.
    struct Violated(&'static str);

    impl DatabaseErrorInformation for Violated {
        fn message(&self) -> &str {
            self.0
        }

        fn details(&self) -> Option<&str> {
            None
        }

        fn hint(&self) -> Option<&str> {
            None
        }

        fn table_name(&self) -> Option<&str> {
            None
        }

        fn column_name(&self) -> Option<&str> {
            None
        }

        fn constraint_name(&self) -> Option<&str> {
            Some(self.0)
        }

        fn statement_position(&self) -> Option<i32> {
            None
        }
    }

    #[test]
    fn a_unique_key_is_transient_only_where_another_unit_can_have_been_faster() {
        let of_key =
            |key| class(&Error::DatabaseError(DatabaseErrorKind::UniqueViolation, Box::new(Violated(key))));
        for key in RACED_KEYS {
            assert_eq!(of_key(key), Class::Transient, "{key}");
        }
        for key in ["payments_pkey", "ledger_entries_pkey", "somebodys_business_rule"] {
            assert_eq!(of_key(key), Class::Permanent, "{key}");
        }
    }

    #[test]
    fn what_a_constraint_refuses_is_permanent() {
        for kind in [
            DatabaseErrorKind::UniqueViolation,
            DatabaseErrorKind::ForeignKeyViolation,
            DatabaseErrorKind::NotNullViolation,
            DatabaseErrorKind::CheckViolation,
        ] {
            assert_eq!(of(kind), Class::Permanent);
        }
    }

    #[test]
    fn a_lost_session_and_a_read_only_server_are_unavailable() {
        for kind in [
            DatabaseErrorKind::UnableToSendCommand,
            DatabaseErrorKind::ClosedConnection,
            DatabaseErrorKind::ReadOnlyTransaction,
        ] {
            assert_eq!(of(kind), Class::Unavailable);
        }
    }

    #[test]
    fn what_is_not_told_apart_is_transient() {
        assert_eq!(of(DatabaseErrorKind::Unknown), Class::Transient);
        assert_eq!(of(DatabaseErrorKind::SerializationFailure), Class::Transient);
    }
}
