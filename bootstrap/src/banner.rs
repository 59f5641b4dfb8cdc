//! What `payonce` says when it has started: where it is, and what to try.

use std::fmt::Write;
use std::net::SocketAddr;

use secrecy::ExposeSecret;
use url::Url;

use crate::config::{Config, scheme};
use crate::wiring::ops_is_closed;

/// The text, for standard output. Shows no password: of a URL with a host only scheme and host.
pub fn text(config: &Config, webhooks: SocketAddr, operators: SocketAddr) -> String {
    let store = shown(config.store.url.expose_secret());
    let broker = shown(config.broker.url.expose_secret());
    let cache = shown(config.cache.url.expose_secret());
    let sources: Vec<_> =
        config.sources.iter().filter(|(_, source)| source.enabled).map(|(name, _)| name.as_str()).collect();
    let mut text = format!(
        "payonce {version}\n  \
           webhooks   http://{webhooks}/webhooks/{{source}}   (sources: {sources})\n  \
           operators  http://{operators}/   ({ops})\n  \
           store      {store}\n  \
           broker     {broker}\n  \
           cache      {cache}\n",
        version = env!("CARGO_PKG_VERSION"),
        sources = sources.join(", "),
        ops = if ops_is_closed(config, operators.ip()) {
            "nobody is let in: set ops.tokens_file; /health/ready and /metrics answer"
        } else {
            "the page; /api/openapi.json, /health/ready, /metrics"
        },
    );
    let native = config
        .sources
        .iter()
        .find(|(_, source)| source.enabled && source.provider == "native" && source.secrets.is_empty());
    if let Some((name, _)) = native {
        // Writing to a string does not fail.
        write!(
            text,
            "\nTry it:\n  curl -i http://{webhooks}/webhooks/{name} -H 'content-type: application/json' \\\n    \
               -d '{EXAMPLE}'\n  payonce audit      (or: cargo run --release -- audit)\n"
        )
        .ok();
    }
    text
}

const EXAMPLE: &str = r#"{"id":"evt_1","type":"payment_intent.succeeded","data":{"payment_intent":"pi_1","amount_cents":4999,"currency":"usd","status":"succeeded"}}"#;

fn shown(url: &str) -> String {
    match Url::parse(url) {
        Ok(parsed) if parsed.has_host() => {
            let host = parsed.host_str().unwrap_or_default();
            match parsed.port() {
                Some(port) => format!("{}://{host}:{port}", parsed.scheme()),
                None => format!("{}://{host}", parsed.scheme()),
            }
        }
        _ if matches!(scheme(url), "sqlite" | "embedded" | "memory" | "none") => url.to_owned(),
        _ => scheme(url).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(variables: &[(&str, &str)]) -> Config {
        let variables = variables.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Config::from_layers(None, variables).unwrap()
    }

    fn address(port: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], port))
    }

    #[test]
    fn it_has_a_curl_that_can_be_pasted() {
        let text = text(&config(&[]), address(3000), address(9000));
        assert!(text.contains("curl -i http://127.0.0.1:3000/webhooks/payment"), "{text}");
        assert!(text.contains("sqlite:payonce-data/payonce.db"), "{text}");
    }

    #[test]
    fn it_says_whether_operators_are_let_in() {
        let config = config(&[]);
        assert!(text(&config, address(3000), address(9000)).contains("http://127.0.0.1:9000/   (the page"));
        let everywhere = SocketAddr::from(([0, 0, 0, 0], 9000));
        assert!(text(&config, address(3000), everywhere).contains("set ops.tokens_file"));
    }

    #[test]
    fn it_shows_no_password() {
        let config = config(&[
            ("DATABASE_URL", "postgres://u:canary@db:5/x?password=canary"),
            ("AMQP_URL", "amqp://u:canary@mq/%2f"),
            ("REDIS_URL", "redis://:canary@cache/0"),
        ]);
        let text = text(&config, address(3000), address(9000));
        assert!(!text.contains("canary"), "{text}");
        assert!(text.contains("postgres://db:5\n"), "{text}");
    }

    #[test]
    fn a_signed_source_is_not_offered_an_unsigned_curl() {
        let config = config(&[("PAYONCE__SOURCES__PAYMENT__SECRETS", "secret")]);
        assert!(!text(&config, address(1), address(2)).contains("curl"));
    }
}
