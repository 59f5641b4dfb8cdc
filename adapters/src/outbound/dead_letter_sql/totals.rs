//! Counts and sums. Both are exact: the sum of many amounts may not fit 64 bits, so it is taken in two halves.

use std::collections::BTreeMap;

use application::dead_letter::normalise::normalise;
use application::dead_letter::{
    DeadLetterId, FailureGroup, GroupTotals, LetterReason, LetterState, MoneyTotal, StateTotals,
};
use application::ports::BoxError;
use application::ports::dead_letters::GROUPS_MAX;
use application::ports::unit_of_work::StoreError;
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use domain::{Currency, SourceName, Timestamp};

use super::composed::Composed;
use super::rows::unreadable;
use super::scope::Scope;
use super::statements::Statements;

/// Letters of one currency, and what they are about in all.
#[derive(QueryableByName)]
pub(super) struct MoneyRow {
    #[diesel(sql_type = Nullable<Text>)]
    currency: Option<String>,
    #[diesel(sql_type = BigInt)]
    pub(super) letters: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    high: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    low: Option<i64>,
}

/// The columns of a [`MoneyRow`], for a statement that groups by currency.
pub(super) const MONEY_COLUMNS: &str = "currency, count(*) AS letters, \
     CAST(sum(amount_minor >> 32) AS bigint) AS high, CAST(sum(amount_minor & 4294967295) AS bigint) AS low";

impl MoneyRow {
    /// The sum; `None` for letters without an amount.
    pub(super) fn read(&self) -> Result<Option<MoneyTotal>, StoreError> {
        let (Some(currency), Some(high), Some(low)) = (&self.currency, self.high, self.low) else {
            return Ok(None);
        };
        let currency = Currency::parse(currency)
            .map_err(|error| unreadable("the currency of dead letters", &error.into()))?;
        Ok(Some(MoneyTotal { currency, minor_units: (i128::from(high) << 32) + i128::from(low) }))
    }
}

#[derive(QueryableByName)]
struct StateRow {
    #[diesel(sql_type = Text)]
    state: String,
    #[diesel(embed)]
    money: MoneyRow,
}

#[derive(QueryableByName)]
struct GroupRow {
    #[diesel(sql_type = Binary)]
    failure_group: Vec<u8>,
    #[diesel(sql_type = BigInt)]
    newest: i64,
    #[diesel(sql_type = BigInt)]
    first_us: i64,
    #[diesel(sql_type = BigInt)]
    last_us: i64,
    #[diesel(embed)]
    totals: StateRow,
}

#[derive(QueryableByName)]
struct ExampleRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Nullable<Text>)]
    source: Option<String>,
    #[diesel(sql_type = Text)]
    reason: String,
    #[diesel(sql_type = Text)]
    detail: String,
}

/// The letters of `scope` by state, each state once.
pub(in crate::outbound) async fn by_state<S: Statements>(
    statements: &mut S,
    scope: &Scope,
) -> Result<Vec<StateTotals>, StoreError> {
    let statement = Composed::new("SELECT state, ").sql(MONEY_COLUMNS).sql(" FROM dead_letters");
    let statement = scope.restrict(statement).sql(" GROUP BY state, currency ORDER BY state, currency");
    let rows: Vec<StateRow> = statements.rows(statement).await?;
    let mut totals: Vec<StateTotals> = LetterState::ALL
        .into_iter()
        .map(|state| StateTotals { state, letters: 0, money: Vec::new() })
        .collect();
    for row in rows {
        add(&mut totals, &row)?;
    }
    Ok(totals)
}

/// The letters of `scope` by what they failed of, the most numerous groups first. Needs one state of the store.
pub(in crate::outbound) async fn by_group<S: Statements>(
    statements: &mut S,
    scope: &Scope,
    limit: u32,
) -> Result<Vec<GroupTotals>, StoreError> {
    let statement = Composed::new("SELECT failure_group, state, ")
        .sql(MONEY_COLUMNS)
        .sql(", max(id) AS newest, ")
        .micros("min(dead_lettered_at)")
        .sql(" AS first_us, ")
        .micros("max(dead_lettered_at)")
        .sql(" AS last_us FROM dead_letters");
    let in_largest =
        scope.restrict(statement).sql(" AND failure_group IN (SELECT failure_group FROM dead_letters");
    let statement = scope
        .restrict(in_largest)
        .sql(" GROUP BY failure_group ORDER BY count(*) DESC, max(id) DESC LIMIT ")
        .number(limit.clamp(1, GROUPS_MAX).into())
        .sql(") GROUP BY failure_group, state, currency ORDER BY failure_group, state, currency");
    let rows: Vec<GroupRow> = statements.rows(statement).await?;
    let mut groups: BTreeMap<Vec<u8>, GroupTotals> = BTreeMap::new();
    for row in &rows {
        let group = FailureGroup::from_bytes(&row.failure_group)
            .ok_or_else(|| unreadable("a group of dead letters", &"it has another length".into()))?;
        let totals = groups.entry(row.failure_group.clone()).or_insert_with(|| begun(group, row));
        totals.letters += row.totals.money.letters.unsigned_abs();
        totals.newest = totals.newest.max(DeadLetterId(row.newest));
        totals.first_seen = totals.first_seen.min(Timestamp::from_micros(row.first_us));
        totals.last_seen = totals.last_seen.max(Timestamp::from_micros(row.last_us));
        add(&mut totals.by_state, &row.totals)?;
    }
    let mut groups: Vec<GroupTotals> = groups.into_values().collect();
    explain(statements, &mut groups).await?;
    groups.sort_by_key(|group| std::cmp::Reverse((group.letters, group.newest)));
    Ok(groups)
}

fn begun(group: FailureGroup, row: &GroupRow) -> GroupTotals {
    GroupTotals {
        group,
        source: None,
        reason: LetterReason::Unknown,
        message: String::new(),
        newest: DeadLetterId(row.newest),
        letters: 0,
        first_seen: Timestamp::from_micros(row.first_us),
        last_seen: Timestamp::from_micros(row.last_us),
        by_state: Vec::new(),
    }
}

/// Source, reason and message are those of the newest letter, since they are the same for all of a group.
async fn explain<S: Statements>(statements: &mut S, groups: &mut [GroupTotals]) -> Result<(), StoreError> {
    let newest = groups.iter().map(|group| group.newest.0).collect();
    let statement =
        Composed::new("SELECT id, source, reason, detail FROM dead_letters WHERE id").one_of(newest);
    let examples: Vec<ExampleRow> = statements.rows(statement).await?;
    let mut examples: BTreeMap<i64, ExampleRow> =
        examples.into_iter().map(|example| (example.id, example)).collect();
    for group in groups {
        let Some(example) = examples.remove(&group.newest.0) else {
            continue;
        };
        let source = example.source.as_deref().map(SourceName::parse).transpose();
        group.source =
            source.map_err(|error| unreadable("the source of a dead letter", &BoxError::from(error)))?;
        group.reason = LetterReason::from_label(&example.reason).unwrap_or(LetterReason::Unknown);
        group.message = normalise(&example.detail);
    }
    Ok(())
}

fn add(totals: &mut Vec<StateTotals>, row: &StateRow) -> Result<(), StoreError> {
    let state = LetterState::from_name(&row.state)
        .ok_or_else(|| unreadable("dead letters", &format!("unknown state {:?}", row.state).into()))?;
    let known = totals.iter().position(|totals| totals.state == state);
    let place = if let Some(place) = known {
        place
    } else {
        totals.push(StateTotals { state, letters: 0, money: Vec::new() });
        totals.len() - 1
    };
    if let Some(totals) = totals.get_mut(place) {
        totals.letters += row.money.letters.unsigned_abs();
        totals.money.extend(row.money.read()?);
    }
    Ok(())
}
