//! A provider that sends webhooks, and sends them again until they are accepted.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::SendRequest;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::Mutex;

/// How long a provider goes on resending in a test.
const RESEND_FOR: Duration = Duration::from_mins(2);
/// How long one request may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// An answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The body.
    pub body: Bytes,
    /// `Retry-After`, where there is one.
    pub retry_after: Option<String>,
}

/// Sends requests to one address over one connection, which is opened anew when it breaks.
pub struct Client {
    address: String,
    connection: Mutex<Option<SendRequest<Full<Bytes>>>>,
}

impl Client {
    /// For `HOST:PORT`.
    pub fn new(address: String) -> Self {
        Self { address, connection: Mutex::new(None) }
    }

    /// Another connection to the same address.
    #[must_use]
    pub fn another(&self) -> Self {
        Self::new(self.address.clone())
    }

    /// Where it sends to.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// GET.
    ///
    /// # Errors
    /// There was no answer.
    pub async fn get(&self, path: &str) -> anyhow::Result<Answer> {
        self.send("GET", path, Bytes::new(), None).await
    }

    /// Posts a webhook of the source `payment`, once.
    ///
    /// # Errors
    /// There was no answer.
    pub async fn post(&self, body: impl Into<Bytes>) -> anyhow::Result<Answer> {
        self.send("POST", "/webhooks/payment", body.into(), None).await
    }

    /// Posts a webhook with a `traceparent`, once.
    ///
    /// # Errors
    /// There was no answer.
    pub async fn post_traced(&self, body: impl Into<Bytes>, traceparent: &str) -> anyhow::Result<Answer> {
        self.send("POST", "/webhooks/payment", body.into(), Some(traceparent)).await
    }

    /// Posts until the answer is 2xx, as a provider does.
    ///
    /// # Panics
    /// It is refused for good (4xx), or never accepted.
    pub async fn deliver(&self, body: impl Into<Bytes>) {
        let body = body.into();
        let since = Instant::now();
        loop {
            let answer = self.post(body.clone()).await;
            match &answer {
                Ok(answer) if (200..300).contains(&answer.status) => return,
                Ok(answer) if (400..500).contains(&answer.status) => panic!("refused: {answer:?}"),
                _ => assert!(since.elapsed() < RESEND_FOR, "never accepted: {answer:?}"),
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn send(
        &self,
        method: &str,
        path: &str,
        body: Bytes,
        traceparent: Option<&str>,
    ) -> anyhow::Result<Answer> {
        let answer = self.try_send(method, path, body, traceparent);
        let answer = tokio::time::timeout(REQUEST_TIMEOUT, answer).await;
        let answer = answer.map_err(anyhow::Error::from).and_then(|answer| answer);
        if answer.is_err() {
            *self.connection.lock().await = None;
        }
        answer
    }

    async fn try_send(
        &self,
        method: &str,
        path: &str,
        body: Bytes,
        traceparent: Option<&str>,
    ) -> anyhow::Result<Answer> {
        let mut connection = self.connection.lock().await;
        let mut sender = match connection.take() {
            Some(sender) if !sender.is_closed() => sender,
            _ => {
                let stream = TcpStream::connect(&self.address).await?;
                stream.set_nodelay(true)?;
                let (sender, driver) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
                tokio::spawn(driver);
                sender
            }
        };
        sender.ready().await?;
        let mut request = hyper::Request::builder()
            .method(method)
            .uri(path)
            .header("host", &self.address)
            .header("content-type", "application/json");
        if let Some(traceparent) = traceparent {
            request = request.header("traceparent", traceparent);
        }
        let request = request.body(Full::new(body))?;
        let response = sender.send_request(request).await?;
        let status = response.status().as_u16();
        let retry_after =
            response.headers().get("retry-after").and_then(|value| value.to_str().ok()).map(str::to_owned);
        let body = response.into_body().collect().await?.to_bytes();
        *connection = Some(sender);
        Ok(Answer { status, body, retry_after })
    }
}
