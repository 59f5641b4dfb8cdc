//! `/replays/{id}`: how far a replay has come; and halting, resuming and ending it.

use actix_web::HttpResponse;
use actix_web::web::{Bytes, Path};
use application::replay::{JobCommand, JobState, ReplayJob, ReplayJobId};
use askama::Template;

use super::answer::lead_to;
use super::error::PageError;
use super::fields::Fields;
use super::flash::Flash;
use super::frame::{Frame, Place};
use super::order::why;
use super::view::when::span;
use super::view::{Badge, Share, When, count};
use super::visitor::Visitor;

#[derive(Template)]
#[template(path = "replay.html")]
struct ReplayPage {
    frame: Frame,
    id: ReplayJobId,
    selection: String,
    state: Badge,
    actor: String,
    why: String,
    ordered: When,
    ended: Option<When>,
    bar: Share,
    members: String,
    replayed: String,
    waiting: String,
    failed: u64,
    released: u64,
    ramp: String,
    rate: u32,
    next_step: String,
    told: String,
    commands: Vec<Command>,
}

/// Something that can be done to the job now.
struct Command {
    name: &'static str,
    text: &'static str,
    meaning: &'static str,
    ask: &'static str,
    class: &'static str,
}

const PAUSE: Command = Command {
    name: "pause",
    text: "Pause",
    meaning: "What is being published is finished; the rest waits until you resume.",
    ask: "",
    class: "",
};
const RESUME: Command = Command {
    name: "resume",
    text: "Resume",
    meaning: "It goes on where it was.",
    ask: "",
    class: "button-main",
};
const CANCEL: Command = Command {
    name: "cancel",
    text: "Cancel",
    meaning: "Letters that were not published are open again. Those that were stay replayed.",
    ask: "End this replay? The letters that still wait become open again.",
    class: "button-trouble",
};

/// One replay.
pub async fn replay(visitor: Visitor, id: Path<i64>) -> Result<HttpResponse, PageError> {
    let id = ReplayJobId(id.into_inner());
    let job = visitor.store()?.jobs.get(id).await?.ok_or_else(|| no_such(id))?;
    Ok(visitor.show(&page(&visitor, &job)))
}

fn no_such(id: ReplayJobId) -> PageError {
    PageError::NoSuch(format!("replay {id}"))
}

fn page(visitor: &Visitor, job: &ReplayJob) -> ReplayPage {
    let progress = job.progress;
    let done = progress.replayed + progress.failed;
    let step = job.schedule.next(done);
    let next_step = match job.state {
        JobState::Running if progress.waiting > 0 => format!(
            "At most {} at a time now, {}.",
            count(step.letters),
            match step.pause.as_secs() {
                0 => "without a pause".to_owned(),
                secs => format!("then a pause of {}", span(secs)),
            }
        ),
        _ => String::new(),
    };
    ReplayPage {
        frame: visitor.frame(format!("Replay {}", job.id), Place::Replays),
        id: job.id,
        selection: job.selection.clone(),
        state: job.state.into(),
        actor: job.order.actor.to_string(),
        why: job.order.why.to_string(),
        ordered: visitor.when(job.order.at),
        ended: job.ended_at.map(|at| visitor.when(at)),
        bar: Share::progress(progress.replayed, progress.failed, progress.members()),
        told: format!("{} of {} replayed, {}", progress.replayed, progress.members(), job.state.as_str()),
        members: count(progress.members()),
        replayed: count(progress.replayed),
        waiting: count(progress.waiting),
        failed: progress.failed,
        released: progress.released,
        ramp: job.schedule.to_string(),
        rate: job.schedule.rate_per_second(),
        next_step,
        commands: commands(job.state),
    }
}

fn commands(state: JobState) -> Vec<Command> {
    match state {
        JobState::Running => vec![PAUSE, CANCEL],
        JobState::Paused => vec![RESUME, CANCEL],
        JobState::Canceled | JobState::Finished => Vec::new(),
    }
}

/// Pauses, resumes or cancels it.
pub async fn command(
    visitor: Visitor,
    path: Path<(i64, String)>,
    body: Bytes,
) -> Result<HttpResponse, PageError> {
    let (id, name) = path.into_inner();
    let id = ReplayJobId(id);
    let command = match name.as_str() {
        "pause" => JobCommand::Pause,
        "resume" => JobCommand::Resume,
        "cancel" => JobCommand::Cancel,
        _ => return Err(PageError::NoPage),
    };
    let back = format!("/replays/{id}");
    let why = match why(&Fields::parse(&body)) {
        Ok(why) => why,
        Err(problem) => {
            return Ok(lead_to(&back, &Flash::trouble(format!("Nothing was changed. {problem}"))));
        }
    };
    let state = visitor.store()?.replay.command(id, command, &visitor.order(why)).await?;
    let state = state.ok_or_else(|| no_such(id))?;
    Ok(lead_to(&back, &Flash::done(format!("Replay {id} is {}.", state.as_str()))))
}
