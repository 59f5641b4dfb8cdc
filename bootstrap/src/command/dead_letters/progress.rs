//! Follows a replay job to its end.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use application::replay::{JobState, ReplayJob, ReplayJobId};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::jobs;
use crate::wiring::Store;

/// How often the job is looked at.
const POLL: Duration = Duration::from_millis(500);

/// Waits until the job is finished, canceled or paused, with a bar where standard error is a terminal. Success
/// means that every letter was published.
pub(super) async fn follow(store: &Store, id: ReplayJobId, json: bool) -> anyhow::Result<ExitCode> {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    bar.set_style(ProgressStyle::with_template(
        "{prefix} [{elapsed}] {wide_bar} {pos}/{len} {per_sec} {msg}",
    )?);
    bar.set_prefix(format!("replay {id}"));
    let job = loop {
        let job =
            store.replay_jobs().get(id).await?.with_context(|| format!("there is no replay job {id}"))?;
        let progress = job.progress;
        bar.set_length(progress.members());
        bar.set_position(progress.members() - progress.waiting);
        bar.set_message(format!("{} failed", progress.failed));
        if job.state != JobState::Running {
            break job;
        }
        tokio::time::sleep(POLL).await;
    };
    bar.finish_and_clear();
    jobs::print(&job, json)?;
    Ok(if all_published(&job) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn all_published(job: &ReplayJob) -> bool {
    job.state == JobState::Finished && job.progress.replayed == job.progress.members()
}
