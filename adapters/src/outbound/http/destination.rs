//! Sends messages to one endpoint.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use application::cloud_event;
use application::ports::clock::Clock;
use application::ports::destination::{DeliveryOutcome, Destination, RenderedMessage};
use application::ports::provider::CannotSign;
use async_trait::async_trait;
use futures::{StreamExt, stream};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Url};
use secrecy::{ExposeSecret, SecretString};

use super::answer::{judge, no_answer};
use super::signature::{Signer, header_id};
use crate::providers::standard_webhooks::SecretError;

/// How much of an answer's body is read, so that the connection can be used again. A longer one is not waited
/// for.
const BODY_BYTES_MAX: u64 = 64 * 1024;

/// How long a connection that nobody uses is kept: less than what servers and balancers usually do.
const IDLE_MAX: Duration = Duration::from_secs(30);

/// An endpoint and how it is spoken to.
#[derive(Debug, Clone)]
pub struct HttpSettings {
    /// Where to post to. It may hold a token, so it is never shown.
    pub url: SecretString,
    /// The secrets to sign with, all of them; none: not signed.
    pub secrets: Vec<SecretString>,
    /// How long one request may take in all.
    pub timeout: Duration,
    /// The longest wait that the endpoint can ask for.
    pub retry_after_max: Duration,
    /// How many payments are told of at the same time.
    pub concurrency: usize,
}

impl HttpSettings {
    /// What is wrong with the URL and with the secrets.
    pub fn problems(&self) -> Vec<HttpSetupError> {
        let checked = [self.target().map(drop), Signer::new(&self.secrets).map(drop)];
        checked.into_iter().filter_map(Result::err).collect()
    }

    fn target(&self) -> Result<Url, HttpSetupError> {
        let url = Url::parse(self.url.expose_secret()).map_err(|_| HttpSetupError::Url)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(HttpSetupError::Url);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(HttpSetupError::Credentials);
        }
        Ok(url)
    }
}

/// Why an endpoint cannot be used. Never holds its URL or a secret.
#[derive(Debug, thiserror::Error)]
pub enum HttpSetupError {
    /// Not an HTTP URL.
    #[error("has a url that is not an http:// or https:// URL")]
    Url,
    /// A user or a password in the URL would be shown by every proxy's log.
    #[error("has a url with a user or a password in it; messages are authenticated by their signature")]
    Credentials,
    /// A secret is not usable.
    #[error("has a secret that is not usable: {0}")]
    Secret(#[from] SecretError),
    /// A secret is for those who verify.
    #[error("has a secret that one cannot sign with: {}", .0.0)]
    PublicKey(CannotSign),
    /// The client cannot be set up.
    #[error("cannot be reached: the HTTP client cannot be set up")]
    Client(#[source] reqwest::Error),
}

/// One endpoint.
pub struct HttpDestination {
    client: Client,
    url: Url,
    signer: Signer,
    clock: Arc<dyn Clock>,
    timeout: Duration,
    retry_after_max: Duration,
    concurrency: usize,
}

impl HttpDestination {
    /// The endpoint that `settings` describe. Does not connect.
    ///
    /// # Errors
    /// The URL or a secret cannot be used.
    pub fn new(settings: &HttpSettings, clock: Arc<dyn Clock>) -> Result<Self, HttpSetupError> {
        let (url, signer) = (settings.target()?, Signer::new(&settings.secrets)?);
        let concurrency = settings.concurrency.max(1);
        let client = Client::builder()
            .user_agent(concat!("payonce/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .timeout(settings.timeout)
            .pool_idle_timeout(IDLE_MAX)
            .pool_max_idle_per_host(concurrency)
            .build()
            .map_err(|error| HttpSetupError::Client(error.without_url()))?;
        Ok(Self {
            client,
            url,
            signer,
            clock,
            timeout: settings.timeout,
            retry_after_max: settings.retry_after_max,
            concurrency,
        })
    }

    /// Sends the messages at `places`, which are of one payment, until one is not delivered.
    async fn send_in_order(
        &self,
        messages: &[RenderedMessage],
        places: Vec<usize>,
    ) -> Vec<(usize, DeliveryOutcome)> {
        let mut outcomes = Vec::with_capacity(places.len());
        let mut is_stuck = false;
        for place in places {
            let outcome = match messages.get(place) {
                Some(message) if !is_stuck => self.send(message).await,
                _ => DeliveryOutcome::NotTried,
            };
            is_stuck |= outcome != DeliveryOutcome::Delivered;
            outcomes.push((place, outcome));
        }
        outcomes
    }

    async fn send(&self, message: &RenderedMessage) -> DeliveryOutcome {
        let (id, now) = (header_id(&message.id), self.clock.now());
        let headers = match self.signer.headers(&id, &message.body, now) {
            Ok(headers) => headers,
            Err(CannotSign(reason)) => return DeliveryOutcome::Refused { error: reason },
        };
        let mut request = self
            .client
            .post(self.url.clone())
            .header(CONTENT_TYPE, cloud_event::CONTENT_TYPE)
            .header("idempotency-key", &id);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        match request.body(message.body.clone()).send().await {
            Ok(response) => {
                let (status, headers) = (response.status(), response.headers().clone());
                drain(response).await;
                judge(status, &headers, now, self.retry_after_max)
            }
            Err(error) => no_answer(error, self.timeout),
        }
    }
}

/// Reads the body to its end, where it is short, within the request's time-out.
async fn drain(mut response: reqwest::Response) {
    let is_short = response.content_length().is_none_or(|length| length <= BODY_BYTES_MAX);
    let mut left = if is_short { BODY_BYTES_MAX } else { 0 };
    while left > 0
        && let Ok(Some(chunk)) = response.chunk().await
    {
        left = left.saturating_sub(u64::try_from(chunk.len()).unwrap_or(u64::MAX));
    }
}

/// The places of each payment's messages, in order.
fn by_payment(messages: &[RenderedMessage]) -> Vec<Vec<usize>> {
    let mut payments: Vec<Vec<usize>> = Vec::new();
    let mut known: HashMap<&(String, String), usize> = HashMap::new();
    for (place, message) in messages.iter().enumerate() {
        let payment = *known.entry(&message.payment).or_insert(payments.len());
        match payments.get_mut(payment) {
            Some(places) => places.push(place),
            None => payments.push(vec![place]),
        }
    }
    payments
}

#[async_trait]
impl Destination for HttpDestination {
    async fn deliver(&self, messages: &[RenderedMessage]) -> Vec<DeliveryOutcome> {
        let sending = by_payment(messages).into_iter().map(|places| self.send_in_order(messages, places));
        let told: Vec<Vec<(usize, DeliveryOutcome)>> =
            stream::iter(sending).buffer_unordered(self.concurrency).collect().await;
        let mut told = told.concat();
        told.sort_by_key(|(place, _)| *place);
        told.into_iter().map(|(_, outcome)| outcome).collect()
    }
}

#[cfg(test)]
mod tests {
    use application::testing::FixedClock;

    use super::*;

    fn set_up(url: &str) -> Result<HttpDestination, HttpSetupError> {
        // Whoever is first; the others find it installed.
        rustls::crypto::aws_lc_rs::default_provider().install_default().ok();
        let settings = HttpSettings {
            url: SecretString::from(url),
            secrets: Vec::new(),
            timeout: Duration::from_secs(1),
            retry_after_max: Duration::from_secs(1),
            concurrency: 2,
        };
        HttpDestination::new(&settings, Arc::new(FixedClock::at_micros(0)))
    }

    #[test]
    fn what_cannot_be_posted_to_is_refused_without_being_repeated() {
        for url in ["", "canary", "ftp://canary/x", "https://", "https://u:canary@h/", "https://canary@h/"] {
            let error = set_up(url).err().unwrap_or_else(|| panic!("{url} is taken"));
            assert!(!format!("{error} {error:?}").contains("canary"), "{error:?}");
        }
    }

    #[tokio::test]
    async fn an_endpoint_that_is_not_there_is_told_without_its_url() {
        let destination = set_up("http://127.0.0.1:1/hooks/canary?token=canary").unwrap();
        let message = RenderedMessage {
            id: "a/b/c".to_owned(),
            kind: "payment.succeeded".to_owned(),
            payment: ("a".to_owned(), "b".to_owned()),
            body: bytes::Bytes::from_static(b"{}"),
        };
        let outcomes = destination.deliver(&[message]).await;
        let [DeliveryOutcome::Unavailable { error, retry_after: Some(_) }] = outcomes.as_slice() else {
            panic!("{outcomes:?}");
        };
        assert!(error.contains("refused") && !error.contains("canary"), "{error}");
    }
}
