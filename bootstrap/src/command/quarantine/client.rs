//! Asks the operators' listener of a running process.

use std::time::Duration;

use anyhow::{Context as _, bail};
use reqwest::redirect::Policy;
use reqwest::{RequestBuilder, Response};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use url::Url;

use crate::command::answer;
use crate::config::Config;

/// How long the whole exchange may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The variable with the token of whoever asks.
const TOKEN_VARIABLE: &str = "PAYONCE_OPS_TOKEN";

/// Where the process is.
#[derive(Debug, clap::Args)]
pub(super) struct ClientArgs {
    /// The operators' listener of the receiver, or of payonce; ops.bind where it is not given. A token is taken from
    /// `PAYONCE_OPS_TOKEN`
    #[arg(long)]
    url: Option<Url>,
}

/// A connection to it.
pub(super) struct Client {
    http: reqwest::Client,
    base: Url,
    token: Option<SecretString>,
}

impl Client {
    pub(super) fn new(config: &Config, args: &ClientArgs) -> anyhow::Result<Self> {
        let base = match &args.url {
            Some(url) => url.clone(),
            None => Url::parse(&format!("http://{}", config.ops.bind)).context("ops.bind")?,
        };
        let token =
            std::env::var(TOKEN_VARIABLE).ok().map(|token| SecretString::from(token.trim().to_owned()));
        let http = reqwest::Client::builder().timeout(TIMEOUT).redirect(Policy::none()).no_proxy().build()?;
        Ok(Self { http, base, token: token.filter(|token| !token.expose_secret().is_empty()) })
    }

    pub(super) async fn get(&self, path: &str, query: &[(&str, String)]) -> anyhow::Result<Value> {
        let mut url = self.url(path)?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        self.ask(self.http.get(url)).await
    }

    pub(super) async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        let request = self.http.post(self.url(path)?).header("content-type", "application/json");
        self.ask(request.body(serde_json::to_vec(body)?)).await
    }

    fn url(&self, path: &str) -> anyhow::Result<Url> {
        self.base.join(&format!("/api/quarantine{path}")).context("--url")
    }

    async fn ask(&self, request: RequestBuilder) -> anyhow::Result<Value> {
        let request = match &self.token {
            Some(token) => request.bearer_auth(token.expose_secret()),
            None => request,
        };
        let response = request.send().await.with_context(|| format!("{} does not answer", self.base))?;
        answered(response).await
    }
}

/// The document, or what the process says is wrong.
async fn answered(response: Response) -> anyhow::Result<Value> {
    let status = response.status();
    let body = answer::body(response).await.context("the answer broke off")?;
    let document: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    if !status.is_success() {
        let said = |member: &str| document[member].as_str().unwrap_or_default().to_owned();
        let errors = document["errors"].as_array().into_iter().flatten();
        let mut told = vec![format!("{status}: {}: {}", said("title"), said("detail"))];
        told.extend(errors.filter_map(|error| error["message"].as_str()).map(str::to_owned));
        bail!(told.join("\n  "));
    }
    Ok(document)
}
