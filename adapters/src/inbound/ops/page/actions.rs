//! `/actions`: what operators have done, when, and why.

use actix_web::HttpResponse;
use askama::Template;

use super::error::PageError;
use super::fields::Fields;
use super::frame::{Frame, Place};
use super::replays::before;
use super::view::When;
use super::visitor::Visitor;

/// How many actions a page of the list has.
const ACTIONS_SHOWN: u32 = 50;

#[derive(Template)]
#[template(path = "actions.html")]
struct ActionsPage {
    frame: Frame,
    actions: Vec<ActionRow>,
    next: Option<String>,
    is_first: bool,
}

struct ActionRow {
    actor: String,
    what: String,
    target: String,
    why: String,
    at: When,
}

/// The list.
pub async fn actions(visitor: Visitor, fields: Fields) -> Result<HttpResponse, PageError> {
    let before = before(&fields)?;
    let actions = visitor.store()?.actions.page(before, ACTIONS_SHOWN).await?;
    let is_full = u32::try_from(actions.len()).is_ok_and(|actions| actions >= ACTIONS_SHOWN);
    let last = actions.last().filter(|_| is_full).map(|action| action.id);
    let rows = actions.iter().map(|recorded| {
        let action = &recorded.action;
        ActionRow {
            actor: action.order.actor.to_string(),
            what: action.what.clone(),
            target: action.target.clone(),
            why: action.order.why.to_string(),
            at: visitor.when(action.order.at),
        }
    });
    Ok(visitor.show(&ActionsPage {
        frame: visitor.frame("Actions", Place::Actions),
        actions: rows.collect(),
        next: last.map(|last| format!("/actions?before={last}")),
        is_first: before.is_none(),
    }))
}
