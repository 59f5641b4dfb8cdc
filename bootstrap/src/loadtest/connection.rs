//! One HTTP/1.1 connection that is kept, and opened again when it is gone.

use std::fmt;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::http::{HeaderValue, Request, Response, Uri, header};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

/// How long to wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Where requests go.
#[derive(Debug, Clone)]
pub(super) struct Target {
    address: String,
    host: HeaderValue,
    path: Uri,
}

impl Target {
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        let url = url::Url::parse(text).with_context(|| format!("{text:?} is no URL"))?;
        match url.scheme() {
            "http" => {}
            "https" => bail!("{text}: the load test speaks plain http only; send to the listener behind TLS"),
            other => bail!("{text}: {other} is not http"),
        }
        ensure!(url.username().is_empty() && url.password().is_none(), "{}", no_user(&url));
        let host = url.host_str().with_context(|| format!("{text} names no host"))?;
        let port = url.port_or_known_default().unwrap_or(80);
        let path = url[url::Position::BeforePath..url::Position::AfterQuery].parse()?;
        Ok(Self {
            address: format!("{host}:{port}"),
            host: HeaderValue::from_str(&format!("{host}:{port}"))?,
            path,
        })
    }

    /// A request there, ready but for its body.
    pub fn request(&self, method: hyper::Method, body: Bytes) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = self.path.clone();
        request.headers_mut().insert(header::HOST, self.host.clone());
        request
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}{}", self.address, self.path)
    }
}

fn no_user(url: &url::Url) -> String {
    format!("the URL of {} has a user or a password in it", url.host_str().unwrap_or_default())
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// It was answered, with this status and body.
    Status(u16, Bytes),
    /// There was no connection; nothing was sent.
    NotSent,
    /// The connection broke before the answer was whole.
    Broken,
    /// No answer in time.
    TimedOut,
}

/// A connection to one target.
pub(super) struct Connection {
    target: Target,
    open: Option<Open>,
}

struct Open {
    sender: SendRequest<Full<Bytes>>,
    _driver: AbortOnDropHandle<()>,
}

impl Connection {
    pub const fn new(target: Target) -> Self {
        Self { target, open: None }
    }

    /// Connects now, so that the first request need not; whether that worked.
    pub async fn warm(&mut self) -> bool {
        self.open = connect(&self.target.address).await;
        self.open.is_some()
    }

    /// Sends a request and reads the whole answer. A connection that the server had already closed is
    /// replaced in silence: nothing was sent on it.
    pub async fn send(&mut self, request: Request<Full<Bytes>>, within: Duration) -> Answer {
        let answer = timeout(within, self.exchange(request)).await.unwrap_or(Answer::TimedOut);
        if !matches!(answer, Answer::Status(..)) {
            self.open = None;
        }
        answer
    }

    async fn exchange(&mut self, request: Request<Full<Bytes>>) -> Answer {
        if let Some(open) = &mut self.open
            && open.sender.ready().await.is_err()
        {
            self.open = None;
        }
        let mut request = request;
        for fresh in [self.open.is_none(), true] {
            if fresh {
                self.open = connect(&self.target.address).await;
            }
            let Some(open) = &mut self.open else {
                return Answer::NotSent;
            };
            match open.sender.try_send_request(request).await {
                Ok(response) => return whole(response).await,
                Err(mut error) => match error.take_message() {
                    Some(unsent) => request = unsent,
                    None => return Answer::Broken,
                },
            }
        }
        Answer::NotSent
    }
}

async fn whole(response: Response<Incoming>) -> Answer {
    let status = response.status().as_u16();
    match response.into_body().collect().await {
        Ok(body) => Answer::Status(status, body.to_bytes()),
        Err(_) => Answer::Broken,
    }
}

async fn connect(address: &str) -> Option<Open> {
    let stream = timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await.ok()?.ok()?;
    stream.set_nodelay(true).ok()?;
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await.ok()?;
    let driver = tokio::spawn(async move {
        // Whatever ends the connection, the request on it is told.
        drop(connection.await);
    });
    sender.ready().await.ok()?;
    Some(Open { sender, _driver: AbortOnDropHandle::new(driver) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_plain_http() {
        assert!(Target::parse("http://127.0.0.1:3000/webhooks/payment").is_ok());
        assert!(Target::parse("http://[::1]/x?y=z").is_ok());
        for (url, says) in [
            ("https://example.com/", "plain http only"),
            ("ftp://example.com/", "is not http"),
            ("nonsense", "is no URL"),
            ("http://user:geheim@example.com/", "user or a password"),
        ] {
            let error = format!("{:#}", Target::parse(url).unwrap_err());
            assert!(error.contains(says) && !error.contains("geheim"), "{error}");
        }
    }

    #[test]
    fn a_request_goes_to_the_path_with_the_host_named() {
        let target = Target::parse("http://localhost:81/a/b?c=d").unwrap();
        let request = target.request(hyper::Method::POST, Bytes::new());
        assert_eq!(request.uri(), "/a/b?c=d");
        assert_eq!(request.headers()["host"], "localhost:81");
    }
}
