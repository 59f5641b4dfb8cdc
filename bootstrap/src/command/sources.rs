//! `payonce sources`: what is configured, and what each source expects of its provider.

use std::fmt::Write;
use std::process::ExitCode;

use application::ports::provider::SourceDescription;
use serde::Serialize;

use super::table::columns;
use crate::config::{Config, Environment, SourceConfig};
use crate::wiring;

/// What stands where nothing is known.
const UNKNOWN: &str = "-";

#[derive(Debug, clap::Args)]
pub(super) struct SourcesArgs {
    /// List the providers whose formats are known, and nothing of the configuration
    #[arg(long)]
    providers: bool,
    /// JSON instead of text
    #[arg(long)]
    json: bool,
}

impl SourcesArgs {
    /// Whether the configuration is of no interest.
    pub(super) const fn wants_providers(&self) -> bool {
        self.providers
    }
}

/// Lists the providers.
pub(super) fn providers(args: &SourcesArgs) -> anyhow::Result<ExitCode> {
    let names: Vec<_> = wiring::provider_names().collect();
    if args.json {
        println!("{}", serde_json::to_string(&names)?);
    } else {
        println!("{}", names.join("\n"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Lists the sources of `config`.
pub(super) fn run(config: &Config, args: &SourcesArgs) -> anyhow::Result<ExitCode> {
    let sources: Vec<_> =
        config.sources.iter().map(|(name, source)| Listed::new(name, source, config.environment)).collect();
    if args.json {
        println!("{}", serde_json::to_string_pretty(&sources)?);
    } else {
        print!("{}", as_text(&sources));
    }
    Ok(ExitCode::SUCCESS)
}

/// A source in the list. What its provider says is missing where it is switched off and cannot be set up.
#[derive(Debug, Serialize)]
struct Listed<'a> {
    source: &'a str,
    provider: &'a str,
    path: String,
    enabled: bool,
    mode: Option<&'static str>,
    trust: Option<&'static str>,
    secrets: usize,
    signature_headers: Vec<String>,
    scheme: Option<String>,
    event_id: Option<String>,
    problems: Vec<String>,
}

impl<'a> Listed<'a> {
    fn new(name: &'a str, source: &'a SourceConfig, environment: Environment) -> Self {
        let provider = wiring::source_provider(name, source, environment);
        let (described, problems) = match provider {
            Ok(provider) => (Some(provider.describe()), Vec::new()),
            Err(problems) => (None, problems),
        };
        let mode = wiring::source_mode(source, environment).ok();
        let trust = described.as_ref().map(|described| described.trust.as_str());
        let (signature_headers, scheme, event_id) = match described {
            Some(SourceDescription { signature_headers, scheme, event_id, .. }) => {
                (signature_headers, Some(scheme), Some(event_id))
            }
            None => (Vec::new(), None, None),
        };
        Self {
            source: name,
            provider: &source.provider,
            path: format!("/webhooks/{name}"),
            enabled: source.enabled,
            mode: mode.map(adapters::providers::settings::Mode::as_str),
            trust,
            secrets: source.secrets.len(),
            signature_headers,
            scheme,
            event_id,
            problems,
        }
    }

    fn cells(&self) -> [String; COLUMNS.len()] {
        let known = |text: Option<&str>| text.unwrap_or(UNKNOWN).to_owned();
        [
            self.source.to_owned(),
            self.provider.to_owned(),
            self.path.clone(),
            if self.enabled { "yes" } else { "no" }.to_owned(),
            known(self.mode),
            known(self.trust),
            self.secrets.to_string(),
        ]
    }

    fn details(&self) -> String {
        let headers = match self.signature_headers.as_slice() {
            [] => UNKNOWN.to_owned(),
            headers => headers.join(", "),
        };
        let known = |text: &Option<String>| text.clone().unwrap_or_else(|| UNKNOWN.to_owned());
        let mut text = format!(
            "\n{}\n  headers   {headers}\n  scheme    {}\n  event id  {}\n",
            self.source,
            known(&self.scheme),
            known(&self.event_id)
        );
        for problem in &self.problems {
            // Writing to a string does not fail.
            writeln!(text, "  problem   {problem}").ok();
        }
        text
    }
}

const COLUMNS: [&str; 7] = ["SOURCE", "PROVIDER", "URL PATH", "ENABLED", "MODE", "TRUST", "SECRETS"];

fn as_text(sources: &[Listed<'_>]) -> String {
    let rows: Vec<_> =
        std::iter::once(COLUMNS.map(str::to_owned)).chain(sources.iter().map(Listed::cells)).collect();
    let details: String = sources.iter().map(Listed::details).collect();
    columns(&rows) + &details
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(file: &str) -> String {
        let config = Config::from_layers(Some(("payonce.toml", file)), std::iter::empty()).unwrap();
        let listed: Vec<_> =
            config.sources.iter().map(|(n, s)| Listed::new(n, s, config.environment)).collect();
        as_text(&listed)
    }

    #[test]
    fn a_source_is_a_row_and_what_it_expects() {
        let text = text_of("[sources.payment]\nsecrets = [\"canary-one\", \"canary-two\"]\n");
        let rows: Vec<Vec<&str>> = text.lines().take(2).map(|l| l.split_whitespace().collect()).collect();
        assert_eq!(rows[0].concat(), "SOURCEPROVIDERURLPATHENABLEDMODETRUSTSECRETS");
        assert_eq!(rows[1], ["payment", "native", "/webhooks/payment", "yes", "test", "signature", "2"]);
        assert!(text.contains("  headers   webhook-id, webhook-timestamp, webhook-signature\n"), "{text}");
        assert!(!text.contains("canary"), "{text}");
    }

    #[test]
    fn a_source_that_is_off_is_listed_with_what_it_lacks() {
        let file = "environment = \"production\"\n[sources.payment]\nenabled = false\n[sources.shop]\nsecrets = [\"s\"]\n";
        let text = text_of(file);
        assert!(text.contains("problem   sources.payment.secrets is empty"), "{text}");
        let row = text.lines().find(|line| line.starts_with("payment ")).unwrap();
        assert!(row.contains("  no       live  -"), "{row}");
    }
}
