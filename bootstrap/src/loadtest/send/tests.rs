use std::collections::HashMap;
use std::sync::Mutex;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::*;

/// What the server does with a request.
#[derive(Clone, Copy)]
enum Reply {
    Status(u16),
    /// Answers, and closes the connection although it had promised to keep it.
    StatusAndClose(u16),
    Hang,
    Hangup,
    After(Duration),
}

#[derive(Default)]
struct Seen {
    /// How often each body came.
    bodies: HashMap<String, u32>,
    heads: Vec<String>,
    connections: u32,
}

/// Answers each request by `reply`, which is told how often its body had come before.
async fn server(reply: impl Fn(u32) -> Reply + Clone + Send + 'static) -> (Target, Arc<Mutex<Seen>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = Target::parse(&format!("http://{}/hook", listener.local_addr().unwrap())).unwrap();
    let seen = Arc::new(Mutex::new(Seen::default()));
    let shared = Arc::clone(&seen);
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            shared.lock().unwrap().connections += 1;
            tokio::spawn(serve(stream, reply.clone(), Arc::clone(&shared)));
        }
    });
    (target, seen)
}

async fn serve(stream: TcpStream, reply: impl Fn(u32) -> Reply, seen: Arc<Mutex<Seen>>) {
    let mut stream = BufReader::new(stream);
    while let Some((head, body)) = read_request(&mut stream).await {
        let before = {
            let mut seen = seen.lock().unwrap();
            seen.heads.push(head);
            let count = seen.bodies.entry(body).or_default();
            *count += 1;
            *count - 1
        };
        let (status, close) = match reply(before) {
            Reply::Status(status) => (status, false),
            Reply::StatusAndClose(status) => (status, true),
            Reply::Hang => std::future::pending().await,
            Reply::Hangup => return,
            Reply::After(delay) => {
                tokio::time::sleep(delay).await;
                (200, false)
            }
        };
        let answer = format!("HTTP/1.1 {status} x\r\ncontent-length: 2\r\n\r\n{{}}");
        stream.write_all(answer.as_bytes()).await.unwrap();
        if close {
            return;
        }
    }
}

async fn read_request(stream: &mut BufReader<TcpStream>) -> Option<(String, String)> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    let lower = head.to_ascii_lowercase();
    let length = lower.lines().find_map(|line| line.strip_prefix("content-length: "))?;
    let mut body = vec![0; length.trim().parse().ok()?];
    stream.read_exact(&mut body).await.ok()?;
    Some((head, String::from_utf8(body).ok()?))
}

fn load(target: Target, total: u32, percent: u8) -> Load {
    Load {
        target,
        events: Events::new("test", 0),
        plan: Plan::new(total, percent, 1),
        signer: None,
        rate: None,
        connections: 4,
        attempts: 1,
        timeout: Duration::from_secs(10),
    }
}

async fn sent(load: Load) -> Sent {
    send(load, Arc::default()).await.unwrap()
}

#[tokio::test]
async fn every_request_is_sent_once_over_kept_connections() {
    let (target, seen) = server(|_| Reply::Status(200)).await;
    let sent = sent(load(target, 500, 20)).await;
    assert_eq!((sent.accepted, sent.uncertain), (400, 0));
    assert_eq!((sent.tally.accepted, sent.tally.copies, sent.tally.retries), (500, 100, 0));
    assert_eq!(sent.tally.latency.len(), 500);
    assert!(sent.tally.refused.is_empty());
    let seen = seen.lock().unwrap();
    assert_eq!(seen.bodies.len(), 400);
    assert_eq!(seen.bodies.values().sum::<u32>(), 500);
    assert_eq!(seen.connections, 4);
}

#[tokio::test]
async fn what_is_refused_is_sent_again_and_counts_as_accepted_once_it_is() {
    let (target, _) = server(|before| Reply::Status(if before == 0 { 503 } else { 200 })).await;
    let mut load = load(target, 20, 0);
    load.attempts = 2;
    let sent = sent(load).await;
    assert_eq!((sent.accepted, sent.uncertain, sent.tally.retries), (20, 0, 20));
    assert_eq!(sent.tally.refused["503"], 20);
    assert!(sent.tally.latency.min() >= 99_000, "the wait in between counts");
}

#[tokio::test]
async fn without_more_attempts_what_is_refused_stays_so() {
    let (target, _) = server(|_| Reply::Status(503)).await;
    let refused = sent(load(target, 20, 0)).await;
    assert_eq!((refused.accepted, refused.uncertain, refused.tally.accepted), (0, 20, 0));
    assert_eq!(refused.tally.refused["503"], 20);
    let (target, _) = server(|_| Reply::Status(400)).await;
    let refused = sent(load(target, 20, 0)).await;
    assert_eq!((refused.accepted, refused.uncertain), (0, 0), "a 400 is certain");
}

#[tokio::test]
async fn no_answer_is_uncertain() {
    let (target, _) = server(|_| Reply::Hang).await;
    let mut hanging = load(target, 4, 0);
    hanging.timeout = Duration::from_millis(50);
    let hanging = sent(hanging).await;
    assert_eq!((hanging.accepted, hanging.uncertain), (0, 4));
    assert_eq!(hanging.tally.refused["timeout"], 4);

    let (target, _) = server(|_| Reply::Hangup).await;
    let broken = sent(load(target, 4, 0)).await;
    assert_eq!((broken.accepted, broken.uncertain), (0, 4));
    assert_eq!(broken.tally.refused["connection broken"], 4);
}

#[tokio::test]
async fn nobody_there_is_certain() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = Target::parse(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
    drop(listener);
    let sent = sent(load(target, 8, 0)).await;
    assert_eq!((sent.accepted, sent.uncertain), (0, 0));
    assert_eq!(sent.tally.refused["no connection"], 8);
}

#[tokio::test]
async fn a_connection_the_server_closed_is_replaced() {
    let (target, seen) = server(|_| Reply::StatusAndClose(200)).await;
    let mut load = load(target, 10, 0);
    (load.connections, load.rate) = (1, Some(50));
    let sent = sent(load).await;
    assert_eq!(sent.accepted, 10, "{:?}", sent.tally.refused);
    assert_eq!(seen.lock().unwrap().connections, 10);
}

#[tokio::test]
async fn a_slow_server_is_not_flattered() {
    let (target, _) = server(|_| Reply::After(Duration::from_millis(50))).await;
    let mut load = load(target, 10, 0);
    (load.connections, load.rate) = (1, Some(100));
    let sent = sent(load).await;
    // Due after 90 ms, and served after nine others.
    let max = sent.tally.latency.max();
    assert!(max >= 400_000, "{max} µs");
}

#[tokio::test]
async fn requests_are_signed_when_there_is_a_secret() {
    let (target, seen) = server(|_| Reply::Status(200)).await;
    let mut load = load(target, 1, 0);
    load.signer = Some(Signer::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap());
    assert_eq!(sent(load).await.accepted, 1);
    let head = seen.lock().unwrap().heads[0].to_ascii_lowercase();
    for header in ["webhook-id: test-0", "webhook-timestamp: ", "webhook-signature: v1,"] {
        assert!(head.contains(header), "{head}");
    }
    assert!(head.starts_with("post /hook http/1.1"), "{head}");
}

#[test]
fn the_backoff_doubles_up_to_its_limit() {
    assert_eq!(backoff(2), Duration::from_millis(100));
    assert_eq!(backoff(4), Duration::from_millis(400));
    assert_eq!(backoff(1_000), BACKOFF_MAX);
}
