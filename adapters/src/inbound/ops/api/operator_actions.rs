//! `/api/operator-actions`

use actix_web::web::{Data, Json};
use application::ports::operator_actions::{ACTIONS_MAX, RecordedAction};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::super::services::OpsServices;
use super::document::Problems;
use super::error::ApiError;
use super::input::{Checks, Query};
use super::paging::{cursor, limit};
use super::time::rfc3339;

/// Which actions are listed.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ListQuery {
    /// The `next` of the answer before.
    #[param(pattern = "^[0-9]{1,18}$")]
    cursor: Option<String>,
    /// How many at most; 50 where it is not said.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 500)]
    limit: Option<String>,
}

/// What an operator has done.
#[derive(Debug, Serialize, ToSchema)]
pub struct ActionDoc {
    /// Its number.
    id: i64,
    /// Who.
    actor: String,
    /// When.
    #[schema(format = DateTime)]
    at: String,
    /// What.
    what: String,
    /// To what.
    target: String,
    /// Why.
    why: String,
}

impl From<&RecordedAction> for ActionDoc {
    fn from(recorded: &RecordedAction) -> Self {
        let action = &recorded.action;
        Self {
            id: recorded.id,
            actor: action.order.actor.to_string(),
            at: rfc3339(action.order.at),
            what: action.what.clone(),
            target: action.target.clone(),
            why: action.order.why.to_string(),
        }
    }
}

/// A page of actions, the newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct ActionPageDoc {
    /// The actions.
    actions: Vec<ActionDoc>,
    /// Where the list goes on; null at its end.
    next: Option<String>,
}

/// What operators have done, the newest first
#[utoipa::path(get, path = "/api/operator-actions", tag = "operators", params(ListQuery),
    responses((status = 200, body = ActionPageDoc), Problems))]
pub async fn list(
    services: Data<OpsServices>,
    query: Query<ListQuery>,
) -> Result<Json<ActionPageDoc>, ApiError> {
    let mut checks = Checks::of_query();
    let before = cursor(&mut checks, query.0.cursor.as_ref());
    let limit = limit(&mut checks, query.0.limit.as_ref(), ACTIONS_MAX);
    let store = services.store()?;
    checks.finish()?;
    let actions = store.actions.page(before, limit).await?;
    let is_full = actions.len() == usize::try_from(limit).unwrap_or(usize::MAX);
    Ok(Json(ActionPageDoc {
        next: actions.last().filter(|_| is_full).map(|action| action.id.to_string()),
        actions: actions.iter().map(ActionDoc::from).collect(),
    }))
}
