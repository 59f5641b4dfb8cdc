//! Statements over many rows.
//!
//! The rows are bound as they are, several to a statement: `i64` stays exact and bytes stay bytes, which
//! cannot be said of a list of rows in JSON. Rows come in groups of a few fixed sizes, so that any number of
//! them takes only a few texts, each of which is prepared once a connection.

/// How many rows one statement takes; the last one must be 1.
const GROUPS: [usize; 3] = [64, 8, 1];

/// `rows` in groups of those sizes.
pub(super) fn groups<T>(mut rows: &[T]) -> impl Iterator<Item = &[T]> {
    std::iter::from_fn(move || {
        let size = GROUPS.into_iter().find(|size| *size <= rows.len())?;
        let (group, rest) = rows.split_at(size);
        rows = rest;
        Some(group)
    })
}

/// Declares a row's fields with their SQL types.
macro_rules! row {
    (
        $(#[$doc:meta])*
        $name:ident<$borrowed:lifetime> {
            $first:ident: $first_rust:ty => $first_bind:ty,
            $($field:ident: $rust:ty => $bind:ty,)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub(super) struct $name<$borrowed> {
            pub(super) $first: $first_rust,
            $(pub(super) $field: $rust,)*
        }

        impl $name<'_> {
            /// Adds `(?, ?)` to a statement.
            fn walk<'b>(
                &'b self,
                out: &mut diesel::query_builder::AstPass<'_, 'b, diesel::sqlite::Sqlite>,
            ) -> diesel::QueryResult<()> {
                out.push_sql("(");
                out.push_bind_param::<$first_bind, _>(&self.$first)?;
                $(
                    out.push_sql(", ");
                    out.push_bind_param::<$bind, _>(&self.$field)?;
                )*
                out.push_sql(")");
                Ok(())
            }
        }
    };
}

/// Declares a statement over rows: `before (?, ?), (?, ?) after`.
macro_rules! statement {
    ($(#[$doc:meta])* $name:ident over $row:ident -> $found:ty { $before:literal, $after:literal }) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub(super) struct $name<'a>(pub(super) &'a [$row<'a>]);

        impl diesel::query_builder::QueryFragment<diesel::sqlite::Sqlite> for $name<'_> {
            fn walk_ast<'b>(
                &'b self,
                mut out: diesel::query_builder::AstPass<'_, 'b, diesel::sqlite::Sqlite>,
            ) -> diesel::QueryResult<()> {
                out.push_sql($before);
                for (place, row) in self.0.iter().enumerate() {
                    if place > 0 {
                        out.push_sql(", ");
                    }
                    row.walk(&mut out)?;
                }
                out.push_sql($after);
                Ok(())
            }
        }

        impl diesel::query_builder::QueryId for $name<'_> {
            type QueryId = ();
            // The text has as many rows as it is given, so the cache goes by the text.
            const HAS_STATIC_QUERY_ID: bool = false;
        }

        impl diesel::query_builder::Query for $name<'_> {
            type SqlType = $found;
        }

        impl diesel::RunQueryDsl<diesel::SqliteConnection> for $name<'_> {}
    };
}

pub(super) use {row, statement};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_in_one_group_in_order() {
        let rows: Vec<u32> = (0..500).collect();
        let grouped: Vec<&[u32]> = groups(&rows).collect();
        assert_eq!(grouped.concat(), rows);
        assert!(grouped.iter().all(|group| GROUPS.contains(&group.len())));
        assert_eq!(grouped.len(), 7 + 6 + 4);
        assert_eq!(groups::<u32>(&[]).count(), 0);
    }
}
