//! A client that sends exactly the bytes it is given.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// Longer than any answer of a test takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// An answer.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Answer {
    /// The header of that lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }

    /// The codes and pointers of the problem document.
    pub fn errors(&self) -> Vec<String> {
        let document = self.json();
        let errors = document["errors"].as_array().expect("errors");
        errors
            .iter()
            .map(|error| {
                format!(
                    "{} {}",
                    error["pointer"].as_str().expect("a pointer"),
                    error["code"].as_str().expect("a code")
                )
            })
            .collect()
    }
}

/// A connection.
pub struct Connection {
    stream: BufReader<TcpStream>,
}

impl Connection {
    /// Connects.
    pub async fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("a working socket");
        stream.set_nodelay(true).expect("a working socket");
        Self { stream: BufReader::new(stream) }
    }

    /// Sends bytes; `false` when the connection is gone.
    pub async fn send(&mut self, bytes: &[u8]) -> bool {
        self.stream.get_mut().write_all(bytes).await.is_ok()
    }

    /// Reads one answer; `None` when the connection ends before one.
    pub async fn answer(&mut self, has_body: bool) -> Option<Answer> {
        tokio::time::timeout(PATIENCE, self.read_answer(has_body)).await.expect("an answer in time")
    }

    async fn read_answer(&mut self, has_body: bool) -> Option<Answer> {
        let status_line = self.line().await?;
        let status = status_line.split(' ').nth(1)?.parse().ok()?;
        let mut headers = Vec::new();
        loop {
            let line = self.line().await?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').expect("a header");
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let length = headers
            .iter()
            .find(|(name, _)| name == "content-length")
            .map_or(0, |(_, value)| value.parse().expect("a length"));
        let mut body = vec![0; if has_body { length } else { 0 }];
        self.stream.read_exact(&mut body).await.ok()?;
        Some(Answer { status, headers, body })
    }

    async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.stream.read_line(&mut line).await {
            Ok(1..) => Some(line.trim_end().to_owned()),
            _ => None,
        }
    }

    /// Whether the server has closed, or does so soon.
    pub async fn is_closed(&mut self) -> bool {
        let mut rest = Vec::new();
        tokio::time::timeout(PATIENCE, self.stream.read_to_end(&mut rest)).await.is_ok()
    }
}

/// A request with a body and a Content-Length.
pub fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut lines =
        format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        lines.extend([*name, ": ", *value, "\r\n"]);
    }
    lines.push_str("\r\n");
    [lines.as_bytes(), body].concat()
}

/// One request on a connection of its own.
pub async fn send(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Answer {
    let mut connection = Connection::open(address).await;
    connection.send(&request(method, path, headers, body)).await;
    connection.answer(method != "HEAD").await.expect("an answer")
}

/// Posts a body to the source `payment`.
pub async fn post(address: SocketAddr, body: impl AsRef<[u8]>) -> Answer {
    let headers = [("Content-Type", "application/json")];
    send(address, "POST", "/webhooks/payment", &headers, body.as_ref()).await
}
