//! A TCP proxy that can be cut or made to swallow one direction.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Forwards to one address. While `swallow_requests` is on, what the client sends goes nowhere, and the
/// client does not notice.
pub struct Proxy {
    /// The port that it listens on.
    pub port: u16,
    swallow: Arc<AtomicBool>,
}

impl Proxy {
    /// Forwards connections to `upstream` (`HOST:PORT`).
    ///
    /// # Panics
    /// No port can be had.
    pub async fn to(upstream: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("a bound listener").port();
        let swallow = Arc::new(AtomicBool::new(false));
        let state = swallow.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (upstream, swallow) = (upstream.clone(), state.clone());
                tokio::spawn(async move {
                    if let Ok(server) = TcpStream::connect(&upstream).await {
                        forward(client, server, swallow).await;
                    }
                });
            }
        });
        Self { port, swallow }
    }

    /// Lets nothing of what clients send through any more.
    pub fn swallow_requests(&self) {
        self.swallow.store(true, Ordering::SeqCst);
    }
}

async fn forward(client: TcpStream, server: TcpStream, swallow: Arc<AtomicBool>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let requests = async {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = from_client.read(&mut buffer).await {
            if !swallow.load(Ordering::SeqCst) && to_server.write_all(&buffer[..count]).await.is_err() {
                break;
            }
        }
    };
    let answers = async { tokio::io::copy(&mut from_server, &mut to_client).await.ok() };
    tokio::select! {
        () = requests => {}
        _ = answers => {}
    }
}
