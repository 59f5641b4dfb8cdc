//! Posts a signed request.

use std::time::Duration;

use anyhow::Context as _;
use application::ports::provider::SignedRequest;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use url::Url;

use super::super::answer;

/// How long the whole exchange may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The receiver's answer.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: String,
}

/// Posts `request` to `url`, as a provider does: straight there, and following nobody elsewhere.
pub(super) async fn post(url: Url, request: SignedRequest) -> anyhow::Result<Answer> {
    let client = reqwest::Client::builder().timeout(TIMEOUT).redirect(Policy::none()).no_proxy().build()?;
    let headers = headers(&request.headers)?;
    let response = client.post(url).headers(headers).body(request.body).send().await;
    // A secret may be in the query.
    let response = response.map_err(reqwest::Error::without_url).context("there is no answer")?;
    let status = response.status().as_u16();
    let body =
        answer::body(response).await.map_err(reqwest::Error::without_url).context("the answer broke off")?;
    Ok(Answer { status, body: String::from_utf8_lossy(&body).into_owned() })
}

fn headers(signed: &[(String, String)]) -> anyhow::Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    for (name, value) in signed {
        // Its value may be a secret, so it is not repeated.
        let value = HeaderValue::from_str(value).with_context(|| format!("{name} is no header"))?;
        headers.append(HeaderName::from_bytes(name.as_bytes())?, value);
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_error_does_not_repeat_what_the_query_holds() {
        crate::wiring::install_crypto_provider();
        let url = Url::parse("http://127.0.0.1:1/webhooks/shop?token=canary").unwrap();
        let request = SignedRequest { body: Vec::new(), headers: Vec::new(), query: String::new() };
        let error = format!("{:#}", post(url, request).await.err().expect("nobody listens there"));
        assert!(error.starts_with("there is no answer") && !error.contains("canary"), "{error}");
    }
}
