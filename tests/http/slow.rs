use std::time::{Duration, Instant};

use adapters::inbound::http::HttpSettings;
use adapters::providers::native::NativeProvider;

use crate::EVENT;
use crate::client::{Connection, post, request};
use crate::server::{TestServer, settings};

fn impatient() -> TestServer {
    let impatient = HttpSettings {
        body_deadline: Duration::from_millis(400),
        header_timeout: Duration::from_secs(1),
        ..settings()
    };
    TestServer::with(impatient, NativeProvider::unsigned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dribbled_body_is_cut_by_a_total_deadline() {
    let server = impatient();
    let chunked = "Transfer-Encoding: chunked";
    for (framing, drop_of) in [("Content-Length: 60000", " "), (chunked, "1\r\n \r\n")] {
        let started = Instant::now();
        let mut connection = Connection::open(server.address).await;
        let head = format!("POST /webhooks/payment HTTP/1.1\r\nHost: localhost\r\n{framing}\r\n\r\n");
        connection.send(head.as_bytes()).await;
        for _ in 0..6 {
            connection.send(drop_of.as_bytes()).await;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let answer = connection.answer(true).await.expect("an answer before the close");
        assert_eq!(answer.status, 408, "{framing}");
        assert_eq!(answer.header("connection"), Some("close"));
        assert!(connection.is_closed().await);
        assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    }
    assert!(server.bodies().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn dribbled_headers_are_cut() {
    let server = impatient();
    let started = Instant::now();
    let mut connection = Connection::open(server.address).await;
    for byte in b"POST /webhooks/payment HTTP/1.1\r\nHo" {
        if !connection.send(&[*byte]).await {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(connection.is_closed().await);
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_senders_do_not_hold_up_good_ones() {
    let server = impatient();
    let mut slow = Vec::new();
    for _ in 0..100 {
        let mut connection = Connection::open(server.address).await;
        connection.send(b"POST /webhooks/payment HTTP/1.1\r\nHost: x\r\nContent-Length: 9000\r\n\r\n{").await;
        slow.push(connection);
    }
    for _ in 0..50 {
        let started = Instant::now();
        assert_eq!(post(server.address, EVENT).await.status, 200);
        assert!(started.elapsed() < Duration::from_secs(1));
    }
    for connection in &mut slow {
        assert_eq!(connection.answer(true).await.unwrap().status, 408);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_connection_outlives_the_deadlines_of_a_request() {
    let server = impatient();
    let mut connection = Connection::open(server.address).await;
    for _ in 0..2 {
        let bytes = request("POST", "/webhooks/payment", &[], EVENT.as_bytes());
        assert!(connection.send(&bytes).await);
        assert_eq!(connection.answer(true).await.unwrap().status, 200);
        tokio::time::sleep(Duration::from_millis(1_500)).await;
    }
}
