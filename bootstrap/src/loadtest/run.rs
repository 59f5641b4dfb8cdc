//! A run from beginning to end: baseline, sending, drain, audit.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use application::use_cases::Audit;

use super::accounting::{Claim, account};
use super::age::{Buckets, scrape};
use super::args::LoadtestArgs;
use super::connection::Target;
use super::count_query::CountQuery;
use super::drain::{Drained, Goal, Progress, QUIET, drain};
use super::event::Events;
use super::plan::Plan;
use super::report::{AcceptLatency, AgeAtCommit, LoadtestReport, per_second};
use super::screen::Screen;
use super::send::{Live, Load, Sent, send};
use super::signing::Signer;
use super::system::{Observed, State, SystemUnderTest};

/// How long the accounts may take to add up once the drain is over: copies are still on their way.
const SETTLING: Duration = Duration::from_secs(10);
const SETTLING_POLL: Duration = Duration::from_millis(250);

/// Drives a running system as `args` say, and reports. With `system`, that system's store and queue are
/// asked what is committed, and audited.
///
/// # Errors
/// The arguments make no sense together, or the store, the queue or the metrics cannot be read. What the
/// system under test does wrong is not an error but in the report.
pub async fn run(args: LoadtestArgs, system: Option<SystemUnderTest>) -> anyhow::Result<LoadtestReport> {
    let metrics = args.metrics.iter().map(|url| Target::parse(url).context("--metrics"));
    let metrics = metrics.collect::<anyhow::Result<Vec<_>>>()?;
    let mut report = LoadtestReport::default();
    let ages = scrape(&metrics).await.context("--metrics")?;
    if args.drain_only {
        drain_only(&args, system, &mut report).await?;
    } else {
        send_and_drain(&args, system, &mut report).await?;
    }
    match scrape(&metrics).await {
        Ok(after) => report.age_at_commit_ms = AgeAtCommit::of(&between(&ages, &after)),
        Err(error) => report.notes.push(format!("no age at commit: {error:#}")),
    }
    Ok(report)
}

fn between(before: &[Buckets], after: &[Buckets]) -> Buckets {
    let added = before.iter().zip(after).map(|(before, after)| after.since(before));
    added.fold(Buckets::default(), |all, added| all.and(&added))
}

fn count_query(args: &LoadtestArgs) -> Option<CountQuery> {
    Some(CountQuery::new(args.count_url.clone()?, args.count_query.clone()?))
}

async fn drain_only(
    args: &LoadtestArgs,
    system: Option<SystemUnderTest>,
    report: &mut LoadtestReport,
) -> anyhow::Result<()> {
    let observed = system.map(|system| Observed { system, prefix: None });
    let counted = count_query(args);
    let progress: &dyn Progress = match (&counted, &observed) {
        (Some(counted), _) => counted,
        (None, Some(observed)) => observed,
        (None, None) => anyhow::bail!("--drain-only: there is nothing to ask what is committed"),
    };
    let baseline = progress.committed().await?;
    let goal = args.expect.map_or(Goal::Quiet(QUIET), Goal::Committed);
    let screen = Screen::new("committed", args.expect)?;
    let drained = drain(progress, goal, baseline, args.drain_timeout(), |done| {
        screen.show(done);
    })
    .await;
    drop(screen);
    note_drain(report, &drained, goal, drained.idle_until, drained.idle_until);
    if let Some(observed) = &observed {
        audit(report, observed).await?;
    }
    Ok(())
}

async fn send_and_drain(
    args: &LoadtestArgs,
    system: Option<SystemUnderTest>,
    report: &mut LoadtestReport,
) -> anyhow::Result<()> {
    let load = load(args)?;
    let prefix = load.events.prefix().to_owned();
    let observed = system.map(|system| Observed { system, prefix: Some(prefix.clone()) });
    let before = match &observed {
        Some(observed) => observed.state().await?,
        None => State::default(),
    };
    ensure!(before.settled() == 0, "--run: the store has events of a run of this name");
    let counted = count_query(args);
    let progress: Option<&dyn Progress> = match (&counted, &observed) {
        (Some(counted), _) => Some(counted),
        (None, Some(observed)) => Some(observed),
        (None, None) => None,
    };
    let baseline = match progress {
        Some(progress) => progress.committed().await?,
        None => 0,
    };

    let live = Arc::new(Live::default());
    let screen = Screen::new("sent", Some(args.events.into()))?;
    let sent = screen.while_sending(Arc::clone(&live), send(load, live.clone())).await?;
    drop(screen);
    let end = Instant::now();
    note_sending(report, prefix, args, &sent);

    if let Some(progress) = progress.filter(|_| !args.accept_only) {
        let goal = Goal::Committed(sent.accepted);
        let screen = Screen::new("committed", Some(sent.accepted))?;
        let drained = drain(progress, goal, baseline, args.drain_timeout(), |done| {
            screen.show(done);
        })
        .await;
        drop(screen);
        note_drain(report, &drained, goal, sent.start, end);
    }
    if let Some(observed) = &observed {
        settle_accounts(report, observed, before, &sent, args.accept_only).await?;
        audit(report, observed).await?;
    }
    Ok(())
}

fn load(args: &LoadtestArgs) -> anyhow::Result<Load> {
    let signer = args.secret()?.map(|secret| Signer::new(&secret).context("--secret-file"));
    Ok(Load {
        target: Target::parse(&args.target).context("--target")?,
        events: Events::new(&args.run_name()?, usize::try_from(args.size)?),
        plan: Plan::new(args.events, args.duplicates, args.seed),
        signer: signer.transpose()?,
        rate: args.rate,
        connections: args.connections,
        attempts: args.attempts,
        timeout: args.answer_timeout(),
    })
}

fn note_sending(report: &mut LoadtestReport, prefix: String, args: &LoadtestArgs, sent: &Sent) {
    let tally = &sent.tally;
    report.run = Some(prefix);
    report.sent = args.events.into();
    report.accepted = sent.accepted;
    report.uncertain = sent.uncertain;
    report.copies = tally.copies;
    report.retries = tally.retries;
    report.refused = tally.refused.clone();
    report.accept_ms = AcceptLatency::of(&tally.latency);
    let last = tally.last_accepted.unwrap_or(sent.start);
    report.accepted_per_second = per_second(tally.accepted, last - sent.start);
    if sent.accepted == 0 {
        report.problems.push("nothing was accepted".to_owned());
    }
}

/// `from`: where the rate counts from. `end`: where the drain began.
fn note_drain(report: &mut LoadtestReport, drained: &Drained, goal: Goal, from: Instant, end: Instant) {
    report.committed = Some(drained.committed);
    report.committed_per_second = per_second(drained.committed, drained.last_commit - from);
    report.drain_seconds = Some(drained.last_commit.saturating_duration_since(end).as_secs_f64());
    report.missing = drained.missing(goal);
    if !drained.reached {
        let committed = drained.committed;
        report.problems.push(match goal {
            Goal::Committed(wanted) => {
                format!("{} of {wanted} events are not committed: out of time", report.missing)
            }
            Goal::Quiet(_) => format!("{committed} events committed, and more wait: out of time"),
        });
    }
    if let Some(error) = &drained.error {
        report.notes.push(format!("the last question for progress failed: {error:#}"));
    }
}

/// Looks until the accounts add up, for a while.
async fn settle_accounts(
    report: &mut LoadtestReport,
    observed: &Observed,
    before: State,
    sent: &Sent,
    accept_only: bool,
) -> anyhow::Result<()> {
    let refused: u64 = sent.tally.refused.values().sum();
    let claim =
        Claim { accepted: sent.accepted, uncertain: sent.uncertain, again: sent.tally.copies + refused };
    let start = Instant::now();
    // What is missing has had its time.
    let settling = if report.missing > 0 { Duration::ZERO } else { SETTLING };
    loop {
        let after = observed.state().await?;
        // While workers are at it, the broker does not count what they hold.
        let in_hand = accept_only && after.settled() > before.settled();
        let accounting = account(claim, before, after, in_hand);
        if accounting.wrong.is_empty() || start.elapsed() >= settling {
            report.problems.extend(accounting.wrong.iter().cloned());
            report.accounting = Some(accounting);
            return Ok(());
        }
        tokio::time::sleep(SETTLING_POLL).await;
    }
}

async fn audit(report: &mut LoadtestReport, observed: &Observed) -> anyhow::Result<()> {
    let SystemUnderTest { store, queue } = observed.system.clone();
    let found = Audit::new(store, queue).run(None).await.map_err(anyhow::Error::from_boxed)?;
    report.audited = true;
    let broken = found.violations.iter().map(|broken| format!("{}: {}", broken.invariant, broken.detail));
    report.problems.extend(broken);
    Ok(())
}

#[cfg(test)]
mod tests;
