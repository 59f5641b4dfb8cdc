//! `payonce dead-letters show`

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use adapters::inbound::ops::api::{COPIES_MAX, WholeLetterDoc};
use adapters::inbound::ops::masking::Masking;
use anyhow::Context as _;
use application::dead_letter::{DeadLetter, DeadLetterId, LetterFilter};

use super::text::{UNKNOWN, amount_of, event, line, moment};
use crate::config::Config;
use crate::wiring::Store;

/// The most characters of one line of an error.
const ERROR_CHARS_MAX: usize = 4096;

#[derive(Debug, clap::Args)]
pub(in crate::command) struct ShowArgs {
    /// The letter's number
    id: i64,
    /// Nothing but the payload, byte for byte
    #[arg(long, conflicts_with = "json")]
    payload: bool,
    /// JSON instead of text
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(config: &Config, store: &Store, args: &ShowArgs) -> anyhow::Result<ExitCode> {
    let letter = store.dead_letters().get(DeadLetterId(args.id)).await?;
    let letter = letter.with_context(|| format!("there is no dead letter {}", args.id))?;
    if args.payload {
        std::io::stdout().write_all(&letter.content.payload)?;
    } else if args.json {
        let copies = LetterFilter { copies_of: Some(letter.summary.id), ..LetterFilter::default() };
        let copies = store.dead_letters().page(&copies, None, None, COPIES_MAX).await?.letters;
        let masking = Masking::new(&config.ops.masked_fields);
        println!("{}", serde_json::to_string_pretty(&WholeLetterDoc::of(&masking, &letter, &copies))?);
    } else {
        print!("{}", as_text(&letter));
    }
    Ok(ExitCode::SUCCESS)
}

fn as_text(letter: &DeadLetter) -> String {
    let DeadLetter { summary, content, history } = letter;
    let (cause, subject) = (&summary.cause, &summary.subject);
    let known = |text: Option<String>| text.unwrap_or_else(|| UNKNOWN.to_owned());
    let mut text = String::new();
    let fields = [
        ("letter", format!("{}, {}", summary.id, summary.state.as_str())),
        ("event", event(summary)),
        ("kind", known(subject.kind.as_ref().map(ToString::to_string))),
        ("payment", known(subject.payment.as_ref().map(ToString::to_string))),
        ("account", known(subject.account.as_ref().map(ToString::to_string))),
        ("amount", amount_of(summary)),
        ("received", known(summary.received_at.map(moment))),
        ("given up", moment(cause.dead_lettered_at)),
        ("by", format!("{} (release {})", known(cause.worker.clone()), known(cause.release.clone()))),
        ("replayed", format!("{} times before", summary.replays)),
        ("group", summary.group.to_string()),
        ("trace", known(content.trace.traceparent.clone())),
        ("reason", format!("{}: {}", cause.reason.as_str(), line(&cause.detail, ERROR_CHARS_MAX))),
    ];
    // Writing to a string does not fail.
    for (name, value) in fields {
        writeln!(text, "{name:<9} {value}").ok();
    }
    if let (Some(at), Some(why)) = (summary.settled_at, &summary.discard_reason) {
        writeln!(text, "discarded {}: {}", moment(at), line(why, ERROR_CHARS_MAX)).ok();
    }
    for (number, failure) in history.iter().enumerate() {
        let (at, error) = (moment(failure.at), line(&failure.error, ERROR_CHARS_MAX));
        writeln!(text, "attempt {:<2} {at} {}: {error}", number + 1, failure.class).ok();
    }
    for (name, value) in &content.headers {
        writeln!(text, "header    {name}: {}", line(value, ERROR_CHARS_MAX)).ok();
    }
    writeln!(text, "\n{} bytes; see them by --payload", content.payload.len()).ok();
    text
}
