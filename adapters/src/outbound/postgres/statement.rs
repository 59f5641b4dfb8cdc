//! Fixed statements that are prepared once a session.
//!
//! `diesel::sql_query` is never cached, and the query builder has no `unnest`; so a statement here is its text,
//! with each parameter where it stands in it.

/// Declares a statement as a struct: its text in pieces, a field for each parameter between them, and the
/// SQL type of a row.
macro_rules! statement {
    (
        $(#[$doc:meta])*
        $name:ident<$borrowed:lifetime> -> $row:ty {
            $start:literal
            $($field:ident: $rust:ty => $bind:ty, $($sql:literal)+)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub(in crate::outbound::postgres) struct $name<$borrowed> {
            $(pub(in crate::outbound::postgres) $field: $rust,)*
        }

        impl diesel::query_builder::QueryFragment<diesel::pg::Pg> for $name<'_> {
            fn walk_ast<'b>(
                &'b self,
                mut out: diesel::query_builder::AstPass<'_, 'b, diesel::pg::Pg>,
            ) -> diesel::QueryResult<()> {
                out.push_sql($start);
                $(
                    out.push_bind_param::<$bind, _>(&self.$field)?;
                    $(out.push_sql($sql);)+
                )*
                Ok(())
            }
        }

        impl diesel::query_builder::QueryId for $name<'_> {
            type QueryId = $name<'static>;
            const HAS_STATIC_QUERY_ID: bool = true;
        }

        impl diesel::query_builder::Query for $name<'_> {
            type SqlType = $row;
        }
    };
}

pub(super) use statement;
