//! `/replays`: the replays, the newest first.

use actix_web::HttpResponse;
use application::replay::{ReplayJob, ReplayJobId};
use askama::Template;

use super::error::PageError;
use super::fields::Fields;
use super::frame::{Frame, Place};
use super::view::{Badge, Share, When, count};
use super::visitor::Visitor;

/// How many jobs a page of the list has.
const JOBS_SHOWN: u32 = 25;

#[derive(Template)]
#[template(path = "replays.html")]
struct ReplaysPage {
    frame: Frame,
    jobs: Vec<JobRow>,
    next: Option<String>,
    is_first: bool,
}

struct JobRow {
    id: ReplayJobId,
    selection: String,
    state: Badge,
    actor: String,
    why: String,
    ordered: When,
    bar: Share,
    done: String,
    members: String,
    failed: u64,
}

/// The list.
pub async fn replays(visitor: Visitor, fields: Fields) -> Result<HttpResponse, PageError> {
    let before = before(&fields)?.map(ReplayJobId);
    let jobs = visitor.store()?.jobs.page(None, before, JOBS_SHOWN).await?;
    let is_full = u32::try_from(jobs.len()).is_ok_and(|jobs| jobs >= JOBS_SHOWN);
    let last = jobs.last().filter(|_| is_full).map(|job| job.id);
    Ok(visitor.show(&ReplaysPage {
        frame: visitor.frame("Replays", Place::Replays),
        jobs: jobs.iter().map(|job| row(&visitor, job)).collect(),
        next: last.map(|last| format!("/replays?before={last}")),
        is_first: before.is_none(),
    }))
}

/// The number before which a list goes on.
pub fn before(fields: &Fields) -> Result<Option<i64>, PageError> {
    match fields.get("before") {
        "" => Ok(None),
        text => text
            .parse()
            .map(Some)
            .map_err(|_| PageError::Invalid("The place in the list is no number.".to_owned())),
    }
}

fn row(visitor: &Visitor, job: &ReplayJob) -> JobRow {
    let progress = job.progress;
    JobRow {
        id: job.id,
        selection: job.selection.clone(),
        state: job.state.into(),
        actor: job.order.actor.to_string(),
        why: job.order.why.to_string(),
        ordered: visitor.when(job.order.at),
        bar: Share::progress(progress.replayed, progress.failed, progress.members()),
        done: count(progress.replayed),
        members: count(progress.members()),
        failed: progress.failed,
    }
}
