//! An HTTP endpoint of the company, which keeps what it is told and answers as a test wants.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// How long messages may take, on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_mins(2);

/// A request.
#[derive(Debug, Clone)]
pub struct Told {
    /// The path with its query.
    pub path: String,
    /// The headers as they came, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Told {
    /// A header's value, the first of that name; empty where there is none.
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// The body as a CloudEvent.
    ///
    /// # Panics
    /// It is not JSON.
    pub fn event(&self) -> Value {
        serde_json::from_slice(&self.body).expect("the body is JSON")
    }

    /// The message's id.
    pub fn id(&self) -> String {
        self.event()["id"].as_str().unwrap_or_default().to_owned()
    }

    /// The payment that it is about.
    pub fn payment(&self) -> String {
        self.event()["subject"].as_str().unwrap_or_default().to_owned()
    }
}

/// How a request is answered.
#[derive(Debug, Clone, Default)]
pub struct Reply {
    /// The status; 0 never answers.
    pub status: u16,
    /// Further header lines, each with its end of line.
    pub headers: String,
    /// How many bytes of body there are, of which only the first is sent where it is more than one.
    pub body_bytes: usize,
    /// How long it takes.
    pub after: Duration,
}

impl Reply {
    /// With that status, at once.
    pub fn status(status: u16) -> Self {
        Self { status, ..Self::default() }
    }
}

type Rule = Box<dyn Fn(&Told) -> Reply + Send + Sync>;

/// Listens until it is dropped.
pub struct Endpoint {
    port: u16,
    state: Arc<State>,
    accepting: JoinHandle<()>,
}

struct State {
    told: Mutex<Vec<Told>>,
    rule: Mutex<Rule>,
}

impl Endpoint {
    /// An endpoint on a free port that answers 204.
    ///
    /// # Panics
    /// No port is free.
    pub async fn start() -> Self {
        Self::start_on(0).await
    }

    /// The same on that port.
    ///
    /// # Panics
    /// It is not free.
    pub async fn start_on(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.expect("a free port");
        let port = listener.local_addr().expect("a bound listener").port();
        let rule: Rule = Box::new(|_| Reply::status(204));
        let state = Arc::new(State { told: Mutex::default(), rule: Mutex::new(rule) });
        let shared = state.clone();
        let accepting = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let state = shared.clone();
                connections.spawn(async move { serve(stream, &state).await.ok() });
            }
        });
        Self { port, state, accepting }
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where to post to.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook?token=canary", self.port)
    }

    /// Answers by `rule` from now on.
    ///
    /// # Panics
    /// Never in practice.
    pub fn answer_by(&self, rule: impl Fn(&Told) -> Reply + Send + Sync + 'static) {
        *self.state.rule.lock().expect("no rule panics") = Box::new(rule);
    }

    /// Every request so far, in the order in which they came.
    ///
    /// # Panics
    /// Never in practice.
    pub fn told(&self) -> Vec<Told> {
        self.state.told.lock().expect("nobody panics with it").clone()
    }

    /// Waits until there were `count` requests.
    ///
    /// # Panics
    /// There never are.
    pub async fn wait_for(&self, count: usize) -> Vec<Told> {
        let since = Instant::now();
        loop {
            let told = self.told();
            if told.len() >= count {
                return told;
            }
            assert!(since.elapsed() < PATIENCE, "{} of {count} messages", told.len());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until messages of `count` different ids have come, copies aside.
    ///
    /// # Panics
    /// They never do.
    pub async fn wait_for_ids(&self, count: usize) -> Vec<String> {
        let since = Instant::now();
        loop {
            let mut ids: Vec<String> = self.told().iter().map(Told::id).collect();
            ids.sort();
            ids.dedup();
            if ids.len() >= count {
                return ids;
            }
            assert!(since.elapsed() < PATIENCE, "{} of {count} ids", ids.len());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn serve(stream: TcpStream, state: &State) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    while let Some(told) = request(&mut stream).await? {
        let reply = {
            let rule = state.rule.lock().expect("no rule panics");
            rule(&told)
        };
        state.told.lock().expect("nobody panics with it").push(told);
        tokio::time::sleep(reply.after).await;
        if reply.status == 0 {
            std::future::pending::<()>().await;
        }
        let (status, headers, length) = (reply.status, reply.headers, reply.body_bytes);
        let head = format!("HTTP/1.1 {status} Said\r\n{headers}content-length: {length}\r\n\r\n");
        stream.write_all(head.as_bytes()).await?;
        if length > 0 {
            stream.write_all(b"x").await?;
        }
    }
    Ok(())
}

/// The next request; `None` when the client is done.
async fn request(stream: &mut BufReader<TcpStream>) -> io::Result<Option<Told>> {
    let mut line = String::new();
    if stream.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = Vec::new();
        stream.read_until(b'\n', &mut line).await?;
        let line = String::from_utf8_lossy(&line);
        match line.trim_end().split_once(':') {
            Some((name, value)) => headers.push((name.to_ascii_lowercase(), value.trim().to_owned())),
            None => break,
        }
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    Ok(Some(Told { path, headers, body }))
}
