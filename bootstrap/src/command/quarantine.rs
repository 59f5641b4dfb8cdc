//! `payonce quarantine`: requests that were refused because their signature did not hold.
//!
//! They are a receiver's own, so it is asked by its operators' listener, as the page does.

mod client;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use self::client::{Client, ClientArgs};
use super::table::columns;
use crate::config::Config;

/// What is done about rejected requests.
#[derive(Debug, Subcommand)]
pub(super) enum QuarantineCommand {
    /// List them, the newest first, each with what its source says of it now
    List(ListArgs),
    /// Show one, with its headers and its masked body
    Show(RequestArgs),
    /// Take one in as if it had just come; only one that its source calls genuine now
    Admit(OrderArgs),
    /// Let one go; its bytes are not kept
    Discard(OrderArgs),
}

#[derive(Debug, Args)]
pub(super) struct ListArgs {
    #[command(flatten)]
    client: ClientArgs,
    /// At most so many
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100))]
    limit: u32,
    /// Go on where another list ended
    #[arg(long)]
    cursor: Option<i64>,
    /// JSON instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct RequestArgs {
    #[command(flatten)]
    client: ClientArgs,
    /// The request's number
    id: i64,
}

#[derive(Debug, Args)]
pub(super) struct OrderArgs {
    #[command(flatten)]
    client: ClientArgs,
    /// The request's number
    id: i64,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    why: String,
}

/// Runs the command.
pub(super) async fn run(config: &Config, command: QuarantineCommand) -> anyhow::Result<ExitCode> {
    match command {
        QuarantineCommand::List(args) => list(config, &args).await,
        QuarantineCommand::Show(args) => {
            let request = Client::new(config, &args.client)?.get(&format!("/{}", args.id), &[]).await?;
            println!("{}", serde_json::to_string_pretty(&request)?);
            Ok(ExitCode::SUCCESS)
        }
        QuarantineCommand::Admit(args) => {
            let taken = order(config, &args, "admit").await?;
            println!("admitted; in the queue now: {}", texts(&taken["events"]));
            Ok(ExitCode::SUCCESS)
        }
        QuarantineCommand::Discard(args) => {
            order(config, &args, "discard").await?;
            println!("let go: {}", args.id);
            Ok(ExitCode::SUCCESS)
        }
    }
}

async fn list(config: &Config, args: &ListArgs) -> anyhow::Result<ExitCode> {
    let mut query = vec![("limit", args.limit.to_string())];
    query.extend(args.cursor.map(|cursor| ("cursor", cursor.to_string())));
    let page = Client::new(config, &args.client)?.get("", &query).await?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&page)?);
        return Ok(ExitCode::SUCCESS);
    }
    print!("{}", as_text(&page));
    if let Some(next) = page["next"].as_str() {
        println!("more: --cursor {next}");
    }
    Ok(ExitCode::SUCCESS)
}

async fn order(config: &Config, args: &OrderArgs, what: &str) -> anyhow::Result<Value> {
    let client = Client::new(config, &args.client)?;
    client.post(&format!("/{}/{what}", args.id), &json!({"why": args.why})).await
}

const COLUMNS: [&str; 6] = ["ID", "RECEIVED", "SOURCE", "REFUSED FOR", "NOW", "BYTES"];

fn as_text(page: &Value) -> String {
    let requests = page["requests"].as_array().map(Vec::as_slice).unwrap_or_default();
    if requests.is_empty() {
        return "no rejected requests\n".to_owned();
    }
    let rows: Vec<_> =
        std::iter::once(COLUMNS.map(str::to_owned)).chain(requests.iter().map(cells)).collect();
    columns(&rows)
}

fn cells(request: &Value) -> [String; COLUMNS.len()] {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let now = &request["now"];
    let verdict = match now["reason"].as_str() {
        Some(reason) => format!("{}: {reason}", text(&now["verdict"])),
        None => text(&now["verdict"]),
    };
    [
        request["id"].to_string(),
        text(&request["received_at"]),
        text(&request["source"]),
        text(&request["reason"]),
        verdict,
        request["body_bytes"].to_string(),
    ]
}

fn texts(list: &Value) -> String {
    let texts = list.as_array().into_iter().flatten().filter_map(Value::as_str);
    texts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_told_with_what_its_source_says_now() {
        let page = json!({"requests": [
            {"id": 7, "source": "shop", "received_at": "2026-11-29T20:00:00Z", "reason": "wrong_signature",
             "now": {"verdict": "genuine", "reason": null, "events": ["evt_1"]}, "body_bytes": 12},
            {"id": 6, "source": "shop", "received_at": "2026-11-29T19:00:00Z", "reason": "wrong_signature",
             "now": {"verdict": "refused", "reason": "wrong_signature", "events": []}, "body_bytes": 3},
        ]});
        let text = as_text(&page);
        assert!(text.lines().nth(1).unwrap().contains("wrong_signature  genuine "), "{text}");
        assert!(text.contains("refused: wrong_signature"), "{text}");
        assert_eq!(as_text(&json!({"requests": []})), "no rejected requests\n");
    }
}
