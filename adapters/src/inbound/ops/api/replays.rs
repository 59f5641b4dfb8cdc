//! `/api/replays`

use actix_web::http::{StatusCode, header};
use actix_web::web::{Data, Json, Path};
use actix_web::{HttpResponse, HttpResponseBuilder};
use application::ports::replay_jobs::JOBS_MAX;
use application::replay::{
    FrozenJob, JobCommand, JobState, NewReplayJob, ReplayJob, ReplayJobId, ReplaySchedule,
};
use application::use_cases::dead_letters::Edit;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use domain::{EventId, EventKey, SourceName};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::super::access::Principal;
use super::super::services::OpsServices;
use super::dead_letters::letter_id;
use super::document::Problems;
use super::error::ApiError;
use super::input::{Body, Checks, Query};
use super::letter::{EventRef, StateDoc, states};
use super::money::{MoneyDoc, totals};
use super::paging::{cursor, limit, number};
use super::selection::{SelectInput, WhyInput, why};
use super::time::rfc3339;

/// What a replay would be of.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PreviewInput {
    /// Which letters.
    select: SelectInput,
}

/// What is selected.
#[derive(Debug, Serialize, ToSchema)]
pub struct PreviewDoc {
    /// By state: a replay would take the open ones.
    states: Vec<StateDoc>,
}

/// What a replay would take: how many letters, and how much money; changes nothing
#[utoipa::path(post, path = "/api/replays/preview", tag = "replays", request_body = PreviewInput,
    responses((status = 200, body = PreviewDoc), Problems))]
pub async fn preview(
    services: Data<OpsServices>,
    body: Body<PreviewInput>,
) -> Result<Json<PreviewDoc>, ApiError> {
    let selection = body.0.select.selection()?;
    let selected = services.store()?.replay.preview(&selection).await?;
    Ok(Json(PreviewDoc { states: states(&selected) }))
}

/// A replay.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplayInput {
    /// Which letters.
    select: SelectInput,
    /// Why, in words.
    #[schema(
        max_length = 1024,
        pattern = r"[^\s\x00-\x1f\x7f-\x9f]",
        example = "the provider has mended its events"
    )]
    why: String,
    /// How many letters each step has; the last one is repeated. 1, 5, 20, 100 where it is not said.
    #[schema(min_items = 1, max_items = 16, example = json!([1, 5, 20, 100]))]
    ramp: Option<Vec<u32>>,
    /// How many letters in a second; 50 where it is not said.
    #[schema(minimum = 1, maximum = 10000)]
    rate_per_second: Option<u32>,
    /// Letters whose events were replayed this often are left out.
    replays_max: Option<u32>,
}

/// How many letters were selected and not taken, and why.
#[derive(Debug, Serialize, ToSchema)]
pub struct SkippedDoc {
    /// There is no such letter.
    unknown: u64,
    /// Replayed or discarded already.
    settled: u64,
    /// In another job that is not done.
    taken: u64,
    /// It could not be read, so nobody knows which event it is.
    unreadable: u64,
    /// Replayed too often.
    too_often: u64,
    /// More than one job can have, or stored in the very same moment.
    left: u64,
}

/// What was frozen into a job: nothing that comes later belongs to it.
#[derive(Debug, Serialize, ToSchema)]
pub struct FrozenJobDoc {
    /// The job; null when there was no letter to take, and so there is none.
    job: Option<i64>,
    /// How many letters it has.
    members: u64,
    /// What they are about, by currency.
    money: Vec<MoneyDoc>,
    /// What was selected and not taken.
    skipped: SkippedDoc,
}

impl From<&FrozenJob> for FrozenJobDoc {
    fn from(frozen: &FrozenJob) -> Self {
        let skipped = &frozen.skipped;
        Self {
            job: frozen.job.map(|job| job.0),
            members: frozen.members,
            money: totals(&frozen.money),
            skipped: SkippedDoc {
                unknown: skipped.unknown,
                settled: skipped.settled,
                taken: skipped.taken,
                unreadable: skipped.unreadable,
                too_often: skipped.too_often,
                left: skipped.left,
            },
        }
    }
}

/// Replay dead letters: a job of those that are open now
#[utoipa::path(post, path = "/api/replays", tag = "replays", request_body = ReplayInput,
    responses((status = 201, description = "A new job, at `Location`", body = FrozenJobDoc),
        (status = 200, description = "Nothing to replay, and no job", body = FrozenJobDoc), Problems))]
pub async fn create(
    services: Data<OpsServices>,
    principal: Principal,
    body: Body<ReplayInput>,
) -> Result<HttpResponse, ApiError> {
    let input = body.0;
    let selection = input.select.selection()?;
    let job = NewReplayJob {
        order: services.order(&principal, why(&input.why)?),
        schedule: schedule(input.ramp, input.rate_per_second)?,
        replays_max: input.replays_max,
    };
    let frozen = services.store()?.replay.create(&selection, &job).await?;
    Ok(frozen_job(&frozen))
}

/// A letter with other bytes.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EditedInput {
    /// The bytes, where they are text. Either this or `payload_base64`.
    payload: Option<String>,
    /// The bytes in base64.
    payload_base64: Option<String>,
    /// Which event it is, for a message that could not be read. Any other stays what it is.
    event: Option<EventRef>,
    /// Why, in words.
    #[schema(max_length = 1024, pattern = r"[^\s\x00-\x1f\x7f-\x9f]", example = "the amount was a fraction")]
    why: String,
    /// Letters whose events were replayed this often are left out.
    replays_max: Option<u32>,
}

/// Replay a dead letter with other bytes, by a copy that is linked to it
#[utoipa::path(post, path = "/api/dead-letters/{id}/replay-edited", tag = "replays",
    params(("id" = i64, Path, description = "The letter's number")), request_body = EditedInput,
    responses((status = 201, description = "A new job, at `Location`", body = FrozenJobDoc),
        (status = 200, description = "Nothing to replay, and no job", body = FrozenJobDoc), Problems))]
pub async fn create_edited(
    services: Data<OpsServices>,
    principal: Principal,
    id: Path<String>,
    body: Body<EditedInput>,
) -> Result<HttpResponse, ApiError> {
    let id = letter_id(&id)?;
    let input = body.0;
    let edit = Edit {
        payload: edited_payload(input.payload, input.payload_base64)?,
        key: input.event.as_ref().map(event_key).transpose()?,
    };
    let job = NewReplayJob {
        order: services.order(&principal, why(&input.why)?),
        schedule: ReplaySchedule::careful(),
        replays_max: input.replays_max,
    };
    let frozen = services.store()?.replay.create_edited(id, edit, &job).await?;
    Ok(frozen_job(&frozen))
}

/// Which jobs are listed.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ListQuery {
    /// `running`, `paused`, `canceled` or `finished`.
    #[param(pattern = "^(running|paused|canceled|finished)$")]
    state: Option<String>,
    /// The `next` of the answer before.
    #[param(pattern = "^[0-9]{1,18}$")]
    cursor: Option<String>,
    /// How many at most; 50 where it is not said.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 200)]
    limit: Option<String>,
}

/// How far a job has come, in letters.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProgressDoc {
    /// All letters of the job.
    members: u64,
    /// To be published.
    waiting: u64,
    /// Published, with a confirm of the broker.
    replayed: u64,
    /// Could not be published; open again.
    failed: u64,
    /// Not published since the job was canceled; open again.
    released: u64,
}

/// A replay job.
#[derive(Debug, Serialize, ToSchema)]
pub struct JobDoc {
    /// Its number.
    id: i64,
    /// `running`, `paused`, `canceled` or `finished`.
    state: &'static str,
    /// Which letters were selected, in words.
    selection: String,
    /// Who ordered it.
    actor: String,
    /// When.
    #[schema(format = DateTime)]
    at: String,
    /// Why.
    why: String,
    /// How many letters each step has.
    #[schema(example = "1,5,20,100")]
    ramp: String,
    /// How many letters in a second.
    rate_per_second: u32,
    /// When the last of its letters was settled, or it was canceled.
    #[schema(format = DateTime)]
    ended_at: Option<String>,
    /// How far it has come.
    progress: ProgressDoc,
}

impl From<&ReplayJob> for JobDoc {
    fn from(job: &ReplayJob) -> Self {
        let progress = &job.progress;
        Self {
            id: job.id.0,
            state: job.state.as_str(),
            selection: job.selection.clone(),
            actor: job.order.actor.to_string(),
            at: rfc3339(job.order.at),
            why: job.order.why.to_string(),
            ramp: job.schedule.to_string(),
            rate_per_second: job.schedule.rate_per_second(),
            ended_at: job.ended_at.map(rfc3339),
            progress: ProgressDoc {
                members: progress.members(),
                waiting: progress.waiting,
                replayed: progress.replayed,
                failed: progress.failed,
                released: progress.released,
            },
        }
    }
}

/// A page of jobs, the newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct JobPageDoc {
    /// The jobs.
    jobs: Vec<JobDoc>,
    /// Where the list goes on; null at its end.
    next: Option<String>,
}

impl JobPageDoc {
    /// A page of at most `limit` jobs.
    pub fn of(jobs: &[ReplayJob], limit: u32) -> Self {
        let is_full = jobs.len() == usize::try_from(limit).unwrap_or(usize::MAX);
        Self {
            next: jobs.last().filter(|_| is_full).map(|job| job.id.to_string()),
            jobs: jobs.iter().map(JobDoc::from).collect(),
        }
    }
}

/// The replay jobs, the newest first
#[utoipa::path(get, path = "/api/replays", tag = "replays", params(ListQuery),
    responses((status = 200, body = JobPageDoc), Problems))]
pub async fn list(
    services: Data<OpsServices>,
    query: Query<ListQuery>,
) -> Result<Json<JobPageDoc>, ApiError> {
    let mut checks = Checks::of_query();
    let state = checks.parse("state", query.0.state.as_ref(), |name| {
        JobState::from_name(name).ok_or("is not running, paused, canceled or finished")
    });
    let before = cursor(&mut checks, query.0.cursor.as_ref()).map(ReplayJobId);
    let limit = limit(&mut checks, query.0.limit.as_ref(), JOBS_MAX);
    let store = services.store()?;
    checks.finish()?;
    let jobs = store.jobs.page(state, before, limit).await?;
    Ok(Json(JobPageDoc::of(&jobs, limit)))
}

/// One replay job, and how far it has come
#[utoipa::path(get, path = "/api/replays/{id}", tag = "replays",
    params(("id" = i64, Path, description = "Its number")),
    responses((status = 200, body = JobDoc), Problems))]
pub async fn show(services: Data<OpsServices>, id: Path<String>) -> Result<Json<JobDoc>, ApiError> {
    let id = job_id(&id)?;
    let job = services.store()?.jobs.get(id).await?;
    Ok(Json(JobDoc::from(&job.ok_or_else(|| no_such(&id.to_string()))?)))
}

/// Halt a replay job; it can go on
#[utoipa::path(post, path = "/api/replays/{id}/pause", tag = "replays",
    params(("id" = i64, Path, description = "Its number")), request_body = WhyInput,
    responses((status = 200, body = JobDoc), Problems))]
pub async fn pause(
    services: Data<OpsServices>,
    principal: Principal,
    id: Path<String>,
    body: Body<WhyInput>,
) -> Result<Json<JobDoc>, ApiError> {
    command(&services, &principal, &id, &body.0, JobCommand::Pause).await
}

/// Let a replay job go on
#[utoipa::path(post, path = "/api/replays/{id}/resume", tag = "replays",
    params(("id" = i64, Path, description = "Its number")), request_body = WhyInput,
    responses((status = 200, body = JobDoc), Problems))]
pub async fn resume(
    services: Data<OpsServices>,
    principal: Principal,
    id: Path<String>,
    body: Body<WhyInput>,
) -> Result<Json<JobDoc>, ApiError> {
    command(&services, &principal, &id, &body.0, JobCommand::Resume).await
}

/// End a replay job; the letters that were not published are open again
#[utoipa::path(post, path = "/api/replays/{id}/cancel", tag = "replays",
    params(("id" = i64, Path, description = "Its number")), request_body = WhyInput,
    responses((status = 200, body = JobDoc), Problems))]
pub async fn cancel(
    services: Data<OpsServices>,
    principal: Principal,
    id: Path<String>,
    body: Body<WhyInput>,
) -> Result<Json<JobDoc>, ApiError> {
    command(&services, &principal, &id, &body.0, JobCommand::Cancel).await
}

/// Does `command`, which has no effect on a job that it does not fit; the answer is the job as it is then.
async fn command(
    services: &OpsServices,
    principal: &Principal,
    id: &str,
    input: &WhyInput,
    command: JobCommand,
) -> Result<Json<JobDoc>, ApiError> {
    let id = job_id(id)?;
    let order = services.order(principal, why(&input.why)?);
    let store = services.store()?;
    store.replay.command(id, command, &order).await?;
    let job = store.jobs.get(id).await?;
    Ok(Json(JobDoc::from(&job.ok_or_else(|| no_such(&id.to_string()))?)))
}

fn frozen_job(frozen: &FrozenJob) -> HttpResponse {
    let document = FrozenJobDoc::from(frozen);
    let mut response: HttpResponseBuilder = match frozen.job {
        Some(job) => {
            let mut response = HttpResponse::build(StatusCode::CREATED);
            response.insert_header((header::LOCATION, format!("/api/replays/{job}")));
            response
        }
        None => HttpResponse::Ok(),
    };
    response.json(document)
}

fn schedule(ramp: Option<Vec<u32>>, rate: Option<u32>) -> Result<ReplaySchedule, ApiError> {
    let careful = ReplaySchedule::careful();
    let rate = rate.unwrap_or_else(|| careful.rate_per_second());
    Ok(match ramp {
        Some(ramp) => ReplaySchedule::new(ramp, rate)?,
        None => ReplaySchedule::parse(&careful.to_string(), rate)?,
    })
}

fn edited_payload(text: Option<String>, base64: Option<String>) -> Result<Bytes, ApiError> {
    match (text, base64) {
        (Some(text), None) => Ok(Bytes::from(text)),
        (None, Some(base64)) => STANDARD
            .decode(base64)
            .map(Bytes::from)
            .map_err(|error| ApiError::one("/payload_base64", "invalid", format!("is not base64: {error}"))),
        _ => Err(ApiError::one("/payload", "invalid", "exactly one of payload and payload_base64 is needed")),
    }
}

fn event_key(event: &EventRef) -> Result<EventKey, ApiError> {
    let mut checks = Checks::of_body("/event/");
    let source = checks.parse("source", Some(&event.source), SourceName::parse);
    let event_id = checks.parse("event_id", Some(&event.event_id), EventId::parse);
    checks.finish()?;
    match (source, event_id) {
        (Some(source), Some(event_id)) => Ok(EventKey { source, event_id }),
        _ => Err(ApiError::one("/event", "invalid", "is not an event")),
    }
}

fn job_id(text: &str) -> Result<ReplayJobId, ApiError> {
    number(text).map(ReplayJobId).ok_or_else(|| no_such(text))
}

fn no_such(id: &str) -> ApiError {
    ApiError::NoSuch(format!("replay job {id}"))
}
