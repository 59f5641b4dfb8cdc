//! Letters that shall have no effect.

use std::collections::BTreeMap;

use application::dead_letter::{DeadLetterId, MoneyTotal};
use application::operator::OperatorOrder;
use application::ports::dead_letters::Discarded;
use application::ports::unit_of_work::StoreError;
use application::replay::Selection;
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Nullable, Text};
use domain::{ConsumerName, Currency};

use super::actions;
use super::composed::Composed;
use super::rows::unreadable;
use super::scope::Scope;
use super::statements::Statements;

#[derive(QueryableByName)]
struct DiscardedRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    amount_minor: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    currency: Option<String>,
}

/// Discards those of the letters that are open, and writes down who ordered it.
pub(in crate::outbound) async fn discard<S: Statements>(
    statements: &mut S,
    consumer: &ConsumerName,
    ids: &[DeadLetterId],
    order: &OperatorOrder,
) -> Result<Discarded, StoreError> {
    let open = Composed::new("UPDATE dead_letters SET state = 'discarded', settled_at = ")
        .now()
        .sql(", discard_reason = ")
        .text(order.why.as_str())
        .sql(" WHERE id IN (SELECT id FROM dead_letters");
    let statement = Scope::of_ids(consumer.clone(), ids)
        .restrict(open)
        .sql(" AND state = 'open' ORDER BY id")
        .locked()
        .sql(") RETURNING id, amount_minor, currency");
    let rows: Vec<DiscardedRow> = statements.rows(statement).await?;
    let money = money(&rows)?;
    let mut ids: Vec<DeadLetterId> = rows.iter().map(|row| DeadLetterId(row.id)).collect();
    ids.sort_unstable();
    if let Ok(discarded) = Selection::of_ids(ids.clone()) {
        actions::record(statements, order, "discard", &discarded.to_string()).await?;
    }
    Ok(Discarded { ids, money })
}

fn money(rows: &[DiscardedRow]) -> Result<Vec<MoneyTotal>, StoreError> {
    let mut sums: BTreeMap<&str, i128> = BTreeMap::new();
    for row in rows {
        if let (Some(minor), Some(currency)) = (row.amount_minor, &row.currency) {
            *sums.entry(currency).or_default() += i128::from(minor);
        }
    }
    sums.into_iter()
        .map(|(currency, minor_units)| {
            let currency = Currency::parse(currency)
                .map_err(|error| unreadable("the currency of a dead letter", &error.into()))?;
            Ok(MoneyTotal { currency, minor_units })
        })
        .collect()
}
