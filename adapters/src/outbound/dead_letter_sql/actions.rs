//! What operators have done.

use application::dead_letter::text::storable;
use application::operator::{Actor, OperatorAction, OperatorOrder, TARGET_BYTES_MAX, Why};
use application::ports::operator_actions::{ACTIONS_MAX, RecordedAction};
use application::ports::unit_of_work::StoreError;
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Text};
use domain::Timestamp;

use super::composed::Composed;
use super::rows::unreadable;
use super::statements::Statements;

#[derive(QueryableByName)]
struct ActionRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    actor: String,
    #[diesel(sql_type = BigInt)]
    at_us: i64,
    #[diesel(sql_type = Text)]
    what: String,
    #[diesel(sql_type = Text)]
    target: String,
    #[diesel(sql_type = Text)]
    why: String,
}

impl ActionRow {
    fn read(self) -> Result<RecordedAction, StoreError> {
        let bad = |error| unreadable("an operator's action", &error);
        let order = OperatorOrder {
            actor: Actor::parse(&self.actor).map_err(|error| bad(error.into()))?,
            at: Timestamp::from_micros(self.at_us),
            why: Why::parse(&self.why).map_err(|error| bad(error.into()))?,
        };
        Ok(RecordedAction {
            id: self.id,
            action: OperatorAction { order, what: self.what, target: self.target },
        })
    }
}

/// Adds an action.
pub(in crate::outbound) async fn record<S: Statements>(
    statements: &mut S,
    order: &OperatorOrder,
    what: &str,
    target: &str,
) -> Result<(), StoreError> {
    let statement = Composed::new("INSERT INTO operator_actions (actor, at, what, target, why) VALUES (")
        .text(order.actor.as_str())
        .sql(", ")
        .moment(order.at)
        .sql(", ")
        .text(&storable(what, TARGET_BYTES_MAX))
        .sql(", ")
        .text(&storable(target, TARGET_BYTES_MAX))
        .sql(", ")
        .text(order.why.as_str())
        .sql(")");
    statements.change(statement).await?;
    Ok(())
}

/// Actions of lower numbers than `before`, the newest first.
pub(in crate::outbound) async fn page<S: Statements>(
    statements: &mut S,
    before: Option<i64>,
    limit: u32,
) -> Result<Vec<RecordedAction>, StoreError> {
    let statement = Composed::new("SELECT id, actor, ")
        .micros("at")
        .sql(" AS at_us, what, target, why FROM operator_actions WHERE id < ")
        .number(before.unwrap_or(i64::MAX))
        .sql(" ORDER BY id DESC LIMIT ")
        .number(limit.clamp(1, ACTIONS_MAX).into());
    let rows: Vec<ActionRow> = statements.rows(statement).await?;
    rows.into_iter().map(ActionRow::read).collect()
}
