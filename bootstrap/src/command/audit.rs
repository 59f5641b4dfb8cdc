//! `payonce audit`

use std::process::ExitCode;

use application::use_cases::AuditReport;

use crate::config::Config;
use crate::wiring;

#[derive(Debug, clap::Args)]
pub(super) struct AuditArgs {
    /// How many distinct events were ever answered 2xx; checks that each is accounted for
    #[arg(long, value_name = "N")]
    accepted: Option<u64>,
    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(config: &Config, args: &AuditArgs) -> anyhow::Result<ExitCode> {
    let report = wiring::audit(config)?.run(args.accepted).await.map_err(anyhow::Error::from_boxed)?;
    if args.json {
        println!("{}", as_json(&report));
    } else {
        print!("{}", as_text(&report));
    }
    Ok(if report.violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn as_text(report: &AuditReport) -> String {
    let mut lines = vec![
        format!("applied         {}", report.totals.applied),
        format!("recorded        {}", report.totals.recorded),
        format!("dead letters    {}", report.dead_letters()),
        format!("queued          {}", report.depths.main),
        format!("to be retried   {}", report.depths.retry),
        format!("accounted for   {}", report.accounted_for()),
    ];
    for violation in &report.violations {
        lines.push(format!("BROKEN  {}: {}", violation.invariant, violation.detail));
    }
    if report.violations.is_empty() {
        lines.push("every invariant holds".to_owned());
    }
    lines.join("\n") + "\n"
}

fn as_json(report: &AuditReport) -> serde_json::Value {
    let violations: Vec<_> = report
        .violations
        .iter()
        .map(|violation| serde_json::json!({"invariant": violation.invariant, "detail": violation.detail}))
        .collect();
    serde_json::json!({
        "applied": report.totals.applied,
        "recorded": report.totals.recorded,
        "dead_letters": report.dead_letters(),
        "dead_letters_in_the_queue": report.depths.dead_letters,
        "queued": report.depths.main,
        "to_be_retried": report.depths.retry,
        "accounted_for": report.accounted_for(),
        "violations": violations,
    })
}
