//! `/api/overview`

use std::time::Duration;

use actix_web::web::{Data, Json};
use application::dead_letter::{LetterFilter, LetterState};
use application::ports::dead_letters::GROUPS_MAX;
use application::ports::outbox::DestinationDepth;
use serde::Serialize;
use utoipa::ToSchema;

use super::super::readiness::Report;
use super::super::services::OpsServices;
use super::document::Problems;
use super::error::ApiError;
use super::letter::{StateDoc, states};

/// How long each part may take to answer: while one is away, the overview must say so.
pub const PART_DEADLINE: Duration = Duration::from_secs(3);

/// A part that the process depends on.
#[derive(Debug, Serialize, ToSchema)]
pub struct DependencyDoc {
    /// Its name.
    name: String,
    /// Whether it answers.
    is_up: bool,
    /// Whether the process is of no use without it.
    is_required: bool,
    /// What is wrong.
    detail: Option<String>,
}

/// How many events the store has settled.
#[derive(Debug, Serialize, ToSchema)]
pub struct SettledDoc {
    /// Events with an effect.
    applied: u64,
    /// Events recorded as having none.
    recorded: u64,
}

/// The dead letters in the store.
#[derive(Debug, Serialize, ToSchema)]
pub struct LettersDoc {
    /// By state, with the money.
    states: Vec<StateDoc>,
    /// How many groups have open letters; at most 500 groups are looked at.
    open_groups: u64,
}

/// How many messages wait in the queue.
#[derive(Debug, Serialize, ToSchema)]
pub struct QueueDoc {
    /// To be processed.
    main: u64,
    /// Waiting for their next attempt.
    retry: u64,
    /// Given up, and not in the store yet.
    dead_letters: u64,
}

/// How far a destination has come.
#[derive(Debug, Serialize, ToSchema)]
pub struct DestinationDoc {
    /// Its name.
    destination: String,
    /// How many messages it has not been handed yet, at most.
    behind: u64,
    /// How long the oldest of them has been waiting, in milliseconds.
    oldest_age_ms: u64,
    /// How many wait for another attempt, or behind one that does.
    waiting: u64,
    /// How many were given up.
    failed: u64,
}

impl From<&DestinationDepth> for DestinationDoc {
    fn from(depth: &DestinationDepth) -> Self {
        Self {
            destination: depth.destination.clone(),
            behind: depth.behind,
            oldest_age_ms: u64::try_from(depth.oldest_age.as_millis()).unwrap_or(u64::MAX),
            waiting: depth.waiting,
            failed: depth.failed,
        }
    }
}

/// How things are. What cannot be told now, or not by this process, is null, and `untold` says why.
#[derive(Debug, Serialize, ToSchema)]
pub struct OverviewDoc {
    /// Whose events these are.
    consumer: String,
    /// The sources that are switched on.
    sources: Vec<String>,
    /// The parts that the process depends on.
    dependencies: Vec<DependencyDoc>,
    /// What the store has settled.
    settled: Option<SettledDoc>,
    /// The dead letters.
    dead_letters: Option<LettersDoc>,
    /// What waits.
    queue: Option<QueueDoc>,
    /// How far the destinations have come.
    destinations: Option<Vec<DestinationDoc>>,
    /// Why something is null.
    untold: Vec<UntoldDoc>,
}

/// Something that cannot be told.
#[derive(Debug, Serialize, ToSchema)]
pub struct UntoldDoc {
    /// Which member of the overview.
    member: &'static str,
    /// Why.
    reason: String,
}

/// How things are: what was settled, what waits, what was given up, and what is away
#[utoipa::path(get, path = "/api/overview", tag = "overview",
    responses((status = 200, body = OverviewDoc), Problems))]
pub async fn overview(services: Data<OpsServices>) -> Result<Json<OverviewDoc>, ApiError> {
    let (settled, dead_letters, queue, destinations, report) = tokio::join!(
        told(settled(&services)),
        told(dead_letters(&services)),
        told(queue(&services)),
        told(destinations(&services)),
        Report::of(&services.checks, false),
    );
    let mut untold = Vec::new();
    let mut keep = |member, reason: Option<String>| {
        untold.extend(reason.map(|reason| UntoldDoc { member, reason }));
    };
    keep("settled", settled.as_ref().err().cloned());
    keep("dead_letters", dead_letters.as_ref().err().cloned());
    keep("queue", queue.as_ref().err().cloned());
    keep("destinations", destinations.as_ref().err().cloned());
    let dependencies = report.components().map(|(name, is_up, is_required, detail)| DependencyDoc {
        name: name.to_owned(),
        is_up,
        is_required,
        detail: detail.map(ToOwned::to_owned),
    });
    Ok(Json(OverviewDoc {
        consumer: services.consumer.to_string(),
        sources: services.sources.iter().map(ToString::to_string).collect(),
        dependencies: dependencies.collect(),
        settled: settled.ok(),
        dead_letters: dead_letters.ok(),
        queue: queue.ok(),
        destinations: destinations.ok(),
        untold,
    }))
}

/// What `part` tells within its deadline; else why not.
async fn told<T>(part: impl Future<Output = Result<T, ApiError>>) -> Result<T, String> {
    match tokio::time::timeout(PART_DEADLINE, part).await {
        Ok(told) => told.map_err(|error| log(&error)),
        Err(_) => Err(format!("no answer within {} ms", PART_DEADLINE.as_millis())),
    }
}

/// The whole error is for the log.
fn log(error: &ApiError) -> String {
    tracing::debug!(%error, "a part of the overview cannot be told");
    error.detail()
}

async fn settled(services: &OpsServices) -> Result<SettledDoc, ApiError> {
    let totals = services.store()?.audit.totals(None).await?;
    Ok(SettledDoc { applied: totals.applied, recorded: totals.recorded })
}

async fn dead_letters(services: &OpsServices) -> Result<LettersDoc, ApiError> {
    let letters = &services.store()?.letters;
    let everything = LetterFilter::default();
    let counts = letters.counts(&everything).await?;
    let groups = letters.groups(&everything, GROUPS_MAX).await?;
    let is_open = |group: &&application::dead_letter::GroupTotals| {
        group.by_state.iter().any(|totals| totals.state == LetterState::Open)
    };
    let open_groups = u64::try_from(groups.iter().filter(is_open).count()).unwrap_or(u64::MAX);
    Ok(LettersDoc { states: states(&counts), open_groups })
}

async fn queue(services: &OpsServices) -> Result<QueueDoc, ApiError> {
    let depths = services.queue()?.depths().await?;
    Ok(QueueDoc { main: depths.main, retry: depths.retry, dead_letters: depths.dead_letters })
}

async fn destinations(services: &OpsServices) -> Result<Vec<DestinationDoc>, ApiError> {
    let depths = services.store()?.outbox.depths().await?;
    Ok(depths.iter().map(DestinationDoc::from).collect())
}
