//! Stands between the cache and its server, and can hold answers back or never give any.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use url::Url;

/// A proxy to a real server.
pub struct Proxy {
    /// Where it listens.
    pub url: String,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    connections: AtomicUsize,
    requests: AtomicUsize,
    holding: AtomicBool,
    released: Notify,
    cut: Notify,
}

impl Proxy {
    /// Passes everything on to the server of `target`.
    pub async fn to(target: &str) -> Self {
        let target = Url::parse(target).expect("a URL");
        let server = format!("{}:{}", target.host_str().expect("a host"), target.port().unwrap_or(6379));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a working socket");
        let address = listener.local_addr().expect("a working socket");
        let state = Arc::new(State::default());
        let shared = state.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                shared.connections.fetch_add(1, Ordering::SeqCst);
                let upstream = TcpStream::connect(&server).await.expect("a working socket");
                tokio::spawn(pass(client, upstream, shared.clone()));
            }
        });
        Self { url: format!("redis://{address}/0"), state }
    }

    /// How many connections there were.
    pub fn connections(&self) -> usize {
        self.state.connections.load(Ordering::SeqCst)
    }

    /// How many times something was read from clients: round trips, as long as requests are small.
    pub fn requests(&self) -> usize {
        self.state.requests.load(Ordering::SeqCst)
    }

    /// Holds answers back from now on.
    pub fn hold(&self) {
        self.state.holding.store(true, Ordering::SeqCst);
    }

    /// Closes every connection that there is.
    pub fn cut(&self) {
        self.state.cut.notify_waiters();
    }

    /// Gives what was held back, and holds no more.
    pub fn release(&self) {
        self.state.holding.store(false, Ordering::SeqCst);
        self.state.released.notify_waiters();
    }
}

async fn pass(client: TcpStream, upstream: TcpStream, state: Arc<State>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = upstream.into_split();
    let requests = state.clone();
    let cut = state.clone();
    let up = async move {
        let mut buffer = vec![0; 1 << 20];
        while let Ok(count @ 1..) = from_client.read(&mut buffer).await {
            requests.requests.fetch_add(1, Ordering::SeqCst);
            if to_server.write_all(&buffer[..count]).await.is_err() {
                return;
            }
        }
    };
    let down = async move {
        let mut buffer = vec![0; 1 << 20];
        while let Ok(count @ 1..) = from_server.read(&mut buffer).await {
            while state.holding.load(Ordering::SeqCst) {
                // A release between the check and the wait is caught by the time-out.
                tokio::time::timeout(Duration::from_millis(10), state.released.notified()).await.ok();
            }
            if to_client.write_all(&buffer[..count]).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        ((), ()) = async { tokio::join!(up, down) } => {}
        () = cut.cut.notified() => {}
    }
}

/// The address of a server that takes connections and never answers.
pub async fn silent_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a working socket");
    let address = listener.local_addr().expect("a working socket");
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((client, _)) = listener.accept().await {
            held.push(client);
        }
    });
    address
}

/// An address where nobody listens.
pub async fn dead_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a working socket");
    listener.local_addr().expect("a working socket")
}
