//! Where certificates come from.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::{Client, StatusCode, redirect};
use rustls::crypto::aws_lc_rs;
use rustls::{ClientConfig, RootCertStore};
use url::Url;

use crate::providers::settings::SetupError;

/// How long a fetch may take in all.
pub const FETCH_TIMEOUT: Duration = Duration::from_secs(3);

/// The largest answer that is read, in bytes. A certificate has 2,600, with those above it perhaps 8,000.
const ANSWER_BYTES_MAX: usize = 64 * 1_024;

/// Why there is no answer. Never names the URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// Nobody was reached, or the connection broke.
    #[error("{0}")]
    Unreachable(String),
    /// The answer is none that holds a certificate; a redirection is not followed.
    #[error("the answer has status {0}")]
    Status(u16),
    /// The answer is too large.
    #[error("the answer has more than {ANSWER_BYTES_MAX} bytes")]
    TooLarge,
}

/// Gets what is at a URL that was found to be PayPal's.
#[async_trait]
pub trait CertificateSource: Send + Sync {
    /// The answer's body.
    async fn fetch(&self, url: &Url) -> Result<Vec<u8>, FetchError>;
}

/// The network.
pub struct OverHttps {
    client: Client,
}

impl OverHttps {
    /// With the public roots, and no redirection.
    ///
    /// # Errors
    /// There is no TLS to be had.
    pub fn new() -> Result<Self, SetupError> {
        Self::of(true)
    }

    fn of(https_only: bool) -> Result<Self, SetupError> {
        let no_client =
            |what: String| SetupError::BadOption(format!("no certificate can be fetched: {what}"));
        let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        let tls = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| no_client(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let client = Client::builder()
            .tls_backend_preconfigured(tls)
            .https_only(https_only)
            .redirect(redirect::Policy::none())
            .timeout(FETCH_TIMEOUT)
            .build()
            .map_err(|error| no_client(error.to_string()))?;
        Ok(Self { client })
    }
}

#[async_trait]
impl CertificateSource for OverHttps {
    async fn fetch(&self, url: &Url) -> Result<Vec<u8>, FetchError> {
        let unreachable = |error: reqwest::Error| FetchError::Unreachable(error.without_url().to_string());
        let mut response = self.client.get(url.clone()).send().await.map_err(unreachable)?;
        if response.status() != StatusCode::OK {
            return Err(FetchError::Status(response.status().as_u16()));
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            if body.len() + chunk.len() > ANSWER_BYTES_MAX {
                return Err(FetchError::TooLarge);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    /// What a server with that answer gives.
    async fn answered(answer: Vec<u8>) -> Result<Vec<u8>, FetchError> {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = Url::parse(&format!("http://{}/cert", listener.local_addr().expect("an address")))
            .expect("a URL");
        let server = tokio::spawn(async move {
            let (mut connection, _) = listener.accept().await.expect("a connection");
            let mut request = [0; 1_024];
            let read = connection.read(&mut request).await.expect("a request");
            assert!(read > 0);
            // The client may have gone before the end of what is too large.
            connection.write_all(&answer).await.ok();
        });
        let fetched = OverHttps::of(false).expect("a client").fetch(&url).await;
        server.await.expect("it has answered");
        fetched
    }

    #[tokio::test]
    async fn an_answer_is_read_up_to_its_limit() {
        let answer = |length: usize| {
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
            [head.into_bytes(), vec![b'x'; length]].concat()
        };
        assert_eq!(answered(answer(ANSWER_BYTES_MAX)).await.map(|body| body.len()), Ok(ANSWER_BYTES_MAX));
        assert_eq!(answered(answer(ANSWER_BYTES_MAX + 1)).await, Err(FetchError::TooLarge));
    }

    #[tokio::test]
    async fn a_redirection_is_not_followed() {
        let answer =
            b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n".to_vec();
        assert_eq!(answered(answer).await, Err(FetchError::Status(302)));
    }

    #[tokio::test]
    async fn nothing_is_fetched_without_tls() {
        let url = Url::parse("http://127.0.0.1:1/secret-path").unwrap();
        let error = OverHttps::new().unwrap().fetch(&url).await.unwrap_err();
        assert!(matches!(error, FetchError::Unreachable(_)));
        assert!(!error.to_string().contains("secret-path"), "{error}");
    }
}
