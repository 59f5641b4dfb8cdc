//! A stand-in for an OTLP collector: takes exports over HTTP and keeps their bytes.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// Listens and keeps what is sent to it.
pub struct Collector {
    /// What to configure as the endpoint.
    pub endpoint: String,
    received: Arc<Mutex<Vec<u8>>>,
}

impl Collector {
    /// A collector that answers 200.
    ///
    /// # Panics
    /// No port can be had.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let endpoint = format!("http://{}", listener.local_addr().expect("a bound listener"));
        let received = Arc::new(Mutex::new(Vec::new()));
        let kept = received.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let kept = kept.clone();
                tokio::spawn(async move { serve(stream, kept).await.ok() });
            }
        });
        Self { endpoint, received }
    }

    /// Whether these bytes were sent in some export.
    ///
    /// # Panics
    /// Never in practice.
    pub fn received(&self, bytes: &[u8]) -> bool {
        let received = self.received.lock().expect("no writer panics");
        received.windows(bytes.len()).any(|window| window == bytes)
    }
}

async fn serve(stream: TcpStream, kept: Arc<Mutex<Vec<u8>>>) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await? == 0 {
                return Ok(());
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await?;
        kept.lock().expect("no reader panics").extend_from_slice(&body);
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await?;
    }
}
