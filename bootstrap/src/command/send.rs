//! `payonce send`: an event as its provider would send it, signed with the source's own secret.

mod dry_run;
mod post;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use adapters::clock::SystemClock;
use anyhow::{Context as _, ensure};
use application::ports::clock::Clock as _;
use application::ports::provider::SignedRequest;
use domain::SourceName;
use url::Url;

use crate::config::{Config, SourceConfig};
use crate::wiring;

/// The longest body that is sent: twice what a receiver can be set to read, so that its limit can be tried.
const BODY_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// The file name that stands for standard input.
const STANDARD_INPUT: &str = "-";

#[derive(Debug, clap::Args)]
pub(super) struct SendArgs {
    /// The source whose provider it comes from
    #[arg(long, value_name = "NAME")]
    source: String,
    /// The body; - for standard input
    #[arg(long, value_name = "FILE")]
    file: PathBuf,
    /// The receiver; /webhooks/NAME is put behind it
    #[arg(long, default_value = "http://127.0.0.1:3000")]
    url: Url,
    /// Send nothing; print the headers and a curl command, with SECRET where the secret itself is sent
    #[arg(long)]
    dry_run: bool,
}

pub(super) async fn run(config: &Config, args: &SendArgs) -> anyhow::Result<ExitCode> {
    let (name, source) = configured(config, &args.source)?;
    let provider = wiring::source_provider(name.as_str(), source, config.environment)
        .map_err(|problems| anyhow::anyhow!("{}", problems.join("; ")))?;
    let body = read_body(&args.file)?;
    let mut request = provider
        .sign(&body, SystemClock.now())
        .with_context(|| format!("{name} cannot be signed as {} does", source.provider))?;
    say_that_it_is_json(&mut request);
    let url = target(&args.url, &name, &request.query)?;
    if args.dry_run {
        print!("{}", dry_run::text(&url, &request, inline(&body, &request, &args.file), &source.secrets));
        return Ok(ExitCode::SUCCESS);
    }
    let answer = post::post(url, request).await?;
    println!("{} {}", answer.status, answer.body);
    Ok(if (200..300).contains(&answer.status) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn configured<'a>(config: &'a Config, name: &str) -> anyhow::Result<(SourceName, &'a SourceConfig)> {
    let source = config.sources.get(name).with_context(|| {
        let known: Vec<_> = config.sources.keys().map(String::as_str).collect();
        format!("--source: there is no source of this name; there are {}", known.join(", "))
    })?;
    Ok((SourceName::parse(name).context("--source")?, source))
}

fn read_body(file: &Path) -> anyhow::Result<Vec<u8>> {
    let mut body = Vec::new();
    let read = if file == Path::new(STANDARD_INPUT) {
        std::io::stdin().lock().take(BODY_BYTES_MAX + 1).read_to_end(&mut body)
    } else {
        std::fs::File::open(file).and_then(|file| file.take(BODY_BYTES_MAX + 1).read_to_end(&mut body))
    };
    read.with_context(|| format!("--file {}", file.display()))?;
    let length = u64::try_from(body.len()).unwrap_or(u64::MAX);
    ensure!(length <= BODY_BYTES_MAX, "--file {} is longer than {BODY_BYTES_MAX} bytes", file.display());
    Ok(body)
}

/// Where the provider's own way of signing does not say what the body is.
fn say_that_it_is_json(request: &mut SignedRequest) {
    if !request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
        request.headers.push(("content-type".to_owned(), "application/json".to_owned()));
    }
}

fn target(receiver: &Url, source: &SourceName, query: &str) -> anyhow::Result<Url> {
    ensure!(matches!(receiver.scheme(), "http" | "https"), "--url must start with http: or https:");
    let without_user = receiver.username().is_empty() && receiver.password().is_none();
    ensure!(without_user, "--url has a user or a password in it");
    let mut url = receiver.clone();
    url.set_path(&format!("{}/webhooks/{source}", receiver.path().trim_end_matches('/')));
    url.set_query((!query.is_empty()).then_some(query));
    url.set_fragment(None);
    Ok(url)
}

/// The body as curl takes it: from the same file where signing left it as it was.
fn inline<'a>(body: &[u8], request: &'a SignedRequest, file: &'a Path) -> dry_run::Body<'a> {
    if body == request.body { dry_run::Body::File(file) } else { dry_run::Body::Text(&request.body) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> SourceName {
        SourceName::parse("shop-2").unwrap()
    }

    #[test]
    fn the_source_and_the_query_are_put_behind_the_receivers_url() {
        for (receiver, query, wanted) in [
            ("http://127.0.0.1:3000", "", "http://127.0.0.1:3000/webhooks/shop-2"),
            ("http://[::1]:3000/?x#y", "a=%2f&b", "http://[::1]:3000/webhooks/shop-2?a=%2f&b"),
            ("https://example.com/pay/", "", "https://example.com/pay/webhooks/shop-2"),
        ] {
            let url = target(&Url::parse(receiver).unwrap(), &source(), query).unwrap();
            assert_eq!(url.as_str(), wanted);
        }
    }

    #[test]
    fn a_receiver_is_http_and_its_url_has_no_password() {
        for receiver in ["ftp://example.com", "http://u:canary@example.com", "http://u@example.com"] {
            let error = target(&Url::parse(receiver).unwrap(), &source(), "").unwrap_err().to_string();
            assert!(error.contains("--url") && !error.contains("canary"), "{error}");
        }
    }

    #[test]
    fn an_unknown_source_is_told_with_the_known_ones() {
        let config = Config::from_layers(None, std::iter::empty()).unwrap();
        let error = configured(&config, "nobody").unwrap_err().to_string();
        assert!(error.ends_with("there are payment"), "{error}");
    }
}
