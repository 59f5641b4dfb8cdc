//! The operators' API: JSON under `/api`, described by `/api/openapi.json`.
//!
//! Written rules:
//! - Lists are pages with a cursor: `next` of one answer is `cursor` of the next request. What is stored
//!   meanwhile moves nothing.
//! - Unknown keys of a query and unknown members of a body are refused, with a pointer to them.
//! - A change says why, and is written down under the name of whose token it came with.
//! - Money is minor units as text; moments are RFC 3339 in UTC.
//! - Refusals are RFC 9457 problem details.
//!
//! [`ROUTES`] is all there is; a file for each resource has its handlers and what they tell.

mod accounts;
mod dead_letters;
mod document;
mod error;
mod events;
mod input;
mod letter;
mod money;
mod operator_actions;
mod overview;
mod paging;
mod payload;
mod payments;
mod quarantine;
mod replays;
mod route_table;
mod selection;
mod time;

use actix_web::web::{self, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse};

pub use dead_letters::{COPIES_MAX, DiscardedDoc, GroupsDoc, LetterPageDoc};
pub use document::OpenApiDocument;
use error::ApiError;
pub use letter::WholeLetterDoc;
pub use replays::{FrozenJobDoc, JobDoc, JobPageDoc};
use route_table::{allowed_methods, routes};

routes! {
    get "/overview" => overview::overview,
    get "/openapi.json" => document::openapi,
    get "/dead-letters" => dead_letters::list,
    get "/dead-letters/groups" => dead_letters::groups,
    get "/dead-letters/counts" => dead_letters::counts,
    post "/dead-letters/discard" => dead_letters::discard,
    get "/dead-letters/{id}" => dead_letters::show,
    get "/dead-letters/{id}/payload" => dead_letters::payload,
    post "/dead-letters/{id}/replay-edited" => replays::create_edited,
    get "/replays" => replays::list,
    post "/replays" => replays::create,
    post "/replays/preview" => replays::preview,
    get "/replays/{id}" => replays::show,
    post "/replays/{id}/pause" => replays::pause,
    post "/replays/{id}/resume" => replays::resume,
    post "/replays/{id}/cancel" => replays::cancel,
    get "/events" => events::find,
    get "/events/{source}/{id}" => events::show,
    get "/payments/{source}/{id}" => payments::show,
    get "/accounts/{account}/balance" => accounts::balance,
    get "/quarantine" => quarantine::list,
    get "/quarantine/{id}" => quarantine::show,
    post "/quarantine/{id}/admit" => quarantine::admit,
    post "/quarantine/{id}/discard" => quarantine::discard,
    get "/operator-actions" => operator_actions::list,
}

/// Puts the API into a scope.
pub fn configure(config: &mut ServiceConfig) {
    add_routes(config);
    config.default_service(web::to(nothing_here));
}

#[expect(clippy::future_not_send, reason = "a request stays on the thread that read it")]
async fn nothing_here(request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let path = request.path();
    let allowed = allowed_methods(ROUTES, path.strip_prefix("/api").unwrap_or(path));
    Err(if allowed.is_empty() { ApiError::NoPath } else { ApiError::Method(allowed.join(", ")) })
}
