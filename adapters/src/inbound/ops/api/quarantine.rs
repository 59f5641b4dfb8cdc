//! `/api/quarantine`

use actix_web::web::{Data, Json, Path};
use application::ports::quarantine::Quarantined;
use application::use_cases::Verdict;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::super::access::Principal;
use super::super::masking::Masking;
use super::super::quarantine_orders;
use super::super::services::OpsServices;
use super::document::Problems;
use super::error::ApiError;
use super::input::{Body, Checks, Query};
use super::paging::{cursor, limit, number};
use super::payload::{FieldDoc, PayloadDoc};
use super::selection::{WhyInput, why};
use super::time::rfc3339;

/// The most rejected requests of a page: each is judged anew.
pub const REQUESTS_MAX: u32 = 100;

/// Which rejected requests are listed.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ListQuery {
    /// The `next` of the answer before.
    #[param(pattern = "^[0-9]{1,18}$")]
    cursor: Option<String>,
    /// How many at most; 50 where it is not said.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100)]
    limit: Option<String>,
}

/// What the source says of a request now.
#[derive(Debug, Serialize, ToSchema)]
pub struct VerdictDoc {
    /// `genuine`, `refused` or `no_source`.
    verdict: &'static str,
    /// Why it is refused.
    reason: Option<&'static str>,
    /// Its events, where it is genuine.
    events: Vec<String>,
}

impl From<&Verdict> for VerdictDoc {
    fn from(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Genuine(events) => Self {
                verdict: "genuine",
                reason: None,
                events: events.iter().map(ToString::to_string).collect(),
            },
            Verdict::Refused(reason) => Self { verdict: "refused", reason: Some(reason), events: Vec::new() },
            Verdict::NoSource => Self { verdict: "no_source", reason: None, events: Vec::new() },
        }
    }
}

/// A rejected request.
#[derive(Debug, Serialize, ToSchema)]
pub struct RejectedDoc {
    /// Its number.
    id: i64,
    /// Where it came in.
    source: String,
    /// When.
    #[schema(format = DateTime)]
    received_at: String,
    /// Why it was refused then.
    reason: String,
    /// What its source says of it now.
    now: VerdictDoc,
    /// How many bytes its body has.
    body_bytes: u64,
}

impl RejectedDoc {
    fn of(kept: &Quarantined, verdict: &Verdict) -> Self {
        let request = &kept.request;
        Self {
            id: kept.id,
            source: request.source.to_string(),
            received_at: rfc3339(request.received_at),
            reason: request.reason.clone(),
            now: VerdictDoc::from(verdict),
            body_bytes: u64::try_from(request.body.len()).unwrap_or(u64::MAX),
        }
    }
}

/// A page of rejected requests, the newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct RejectedPageDoc {
    /// The requests.
    requests: Vec<RejectedDoc>,
    /// Where the list goes on; null at its end.
    next: Option<String>,
}

/// The rejected requests that are kept, the newest first, each with what its source says of it now
#[utoipa::path(get, path = "/api/quarantine", tag = "quarantine", params(ListQuery),
    responses((status = 200, body = RejectedPageDoc), Problems))]
pub async fn list(
    services: Data<OpsServices>,
    query: Query<ListQuery>,
) -> Result<Json<RejectedPageDoc>, ApiError> {
    let mut checks = Checks::of_query();
    let before = cursor(&mut checks, query.0.cursor.as_ref());
    let limit = limit(&mut checks, query.0.limit.as_ref(), REQUESTS_MAX);
    let quarantine = services.quarantine()?;
    checks.finish()?;
    let reviewed = quarantine.list(before, limit).await?;
    let is_full = reviewed.len() == usize::try_from(limit).unwrap_or(usize::MAX);
    Ok(Json(RejectedPageDoc {
        next: reviewed.last().filter(|_| is_full).map(|(kept, _)| kept.id.to_string()),
        requests: reviewed.iter().map(|(kept, verdict)| RejectedDoc::of(kept, verdict)).collect(),
    }))
}

/// A rejected request, whole.
#[derive(Debug, Serialize, ToSchema)]
pub struct WholeRejectedDoc {
    /// All but what it carries.
    request: RejectedDoc,
    /// Its headers. Values of those that may be the signature are "•••" with their length.
    headers: Vec<FieldDoc>,
    /// How many bytes its query has, which may hold a token.
    query_bytes: u64,
    /// Its body.
    body: PayloadDoc,
}

impl WholeRejectedDoc {
    fn of(masking: &Masking, kept: &Quarantined, verdict: &Verdict) -> Self {
        let request = &kept.request;
        let header = |(name, value): &(String, Vec<u8>)| FieldDoc {
            name: name.clone(),
            value: masking.rejected_header(name, value),
        };
        let content_type = request.headers.iter().find(|(name, _)| name == "content-type");
        let content_type = content_type.and_then(|(_, value)| std::str::from_utf8(value).ok());
        Self {
            request: RejectedDoc::of(kept, verdict),
            headers: request.headers.iter().map(header).collect(),
            query_bytes: u64::try_from(request.query.len()).unwrap_or(u64::MAX),
            body: PayloadDoc::of(masking, &request.body, content_type),
        }
    }
}

/// One rejected request, with what its source says of it now
#[utoipa::path(get, path = "/api/quarantine/{id}", tag = "quarantine",
    params(("id" = i64, Path, description = "Its number")),
    responses((status = 200, body = WholeRejectedDoc), Problems))]
pub async fn show(services: Data<OpsServices>, id: Path<String>) -> Result<Json<WholeRejectedDoc>, ApiError> {
    let id = request_id(&id)?;
    let (kept, verdict) = services.quarantine()?.show(id).await?;
    Ok(Json(WholeRejectedDoc::of(&services.masking, &kept, &verdict)))
}

/// What was taken in.
#[derive(Debug, Serialize, ToSchema)]
pub struct AdmittedDoc {
    /// Its events, which are in the queue now.
    events: Vec<String>,
}

/// Take a rejected request in, as if it had just come; only one that its source calls genuine now
#[utoipa::path(post, path = "/api/quarantine/{id}/admit", tag = "quarantine",
    params(("id" = i64, Path, description = "Its number")), request_body = WhyInput,
    responses((status = 200, body = AdmittedDoc), Problems))]
pub async fn admit(
    services: Data<OpsServices>,
    principal: Principal,
    id: Path<String>,
    body: Body<WhyInput>,
) -> Result<Json<AdmittedDoc>, ApiError> {
    let id = request_id(&id)?;
    let order = services.order(&principal, why(&body.0.why)?);
    let events = quarantine_orders::admit(&services, services.quarantine()?, id, &order).await?;
    Ok(Json(AdmittedDoc { events: events.iter().map(ToString::to_string).collect() }))
}

/// What was let go.
#[derive(Debug, Serialize, ToSchema)]
pub struct LetGoDoc {
    /// The request.
    id: i64,
}

/// Let a rejected request go; its bytes are not kept
#[utoipa::path(post, path = "/api/quarantine/{id}/discard", tag = "quarantine",
    params(("id" = i64, Path, description = "Its number")), request_body = WhyInput,
    responses((status = 200, body = LetGoDoc), Problems))]
pub async fn discard(
    services: Data<OpsServices>,
    principal: Principal,
    id: Path<String>,
    body: Body<WhyInput>,
) -> Result<Json<LetGoDoc>, ApiError> {
    let id = request_id(&id)?;
    let order = services.order(&principal, why(&body.0.why)?);
    let was_there = quarantine_orders::discard(&services, services.quarantine()?, id, &order).await?;
    if was_there { Ok(Json(LetGoDoc { id })) } else { Err(no_such(&id)) }
}

fn request_id(text: &str) -> Result<i64, ApiError> {
    number(text).ok_or_else(|| no_such(&text))
}

fn no_such(id: &impl std::fmt::Display) -> ApiError {
    ApiError::NoSuch(format!("rejected request {id}"))
}
