use std::time::Duration;

use crate::EVENT;
use crate::client::{Connection, post, request};
use crate::server::{TestServer, settings};

/// The documented event, filled with white space to a length.
fn event_of(bytes: usize) -> Vec<u8> {
    let mut event = EVENT.as_bytes().to_vec();
    event.resize(bytes, b' ');
    event
}

fn chunked(body: &[u8], chunk_bytes: usize) -> Vec<u8> {
    let mut request =
        b"POST /webhooks/payment HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for chunk in body.chunks(chunk_bytes) {
        request.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
        request.extend(chunk);
        request.extend(b"\r\n");
    }
    request.extend(b"0\r\n\r\n");
    request
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_of_exactly_the_limit_is_taken() {
    let server = TestServer::start();
    let body = event_of(settings().body_bytes_max);
    assert_eq!(post(server.address, &body).await.status, 200);
    for chunk_bytes in [1_000, 64 * 1024] {
        let mut connection = Connection::open(server.address).await;
        assert!(connection.send(&chunked(&body, chunk_bytes)).await);
        assert_eq!(connection.answer(true).await.unwrap().status, 200);
    }
    assert!(server.bodies().iter().all(|published| *published == body));
    assert_eq!(server.bodies().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_byte_more_is_refused_and_the_connection_closed() {
    let server = TestServer::start();
    let body = event_of(settings().body_bytes_max + 1);
    let with_length = request("POST", "/webhooks/payment", &[], &body);
    for bytes in [with_length, chunked(&body, 1_000), chunked(&body, 1 << 20)] {
        let mut connection = Connection::open(server.address).await;
        connection.send(&bytes).await;
        let answer = connection.answer(true).await.expect("an answer before the close");
        assert_eq!(answer.status, 413);
        assert_eq!(answer.header("connection"), Some("close"));
        assert!(connection.is_closed().await);
    }
    assert!(server.bodies().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_length_over_the_limit_is_refused_before_any_of_it_is_read() {
    let server = TestServer::start();
    for length in ["65537", "1000000000000", "18446744073709551615"] {
        let mut connection = Connection::open(server.address).await;
        let head = format!("POST /webhooks/payment HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n");
        connection.send(head.as_bytes()).await;
        assert_eq!(connection.answer(true).await.unwrap().status, 413, "{length}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_never_ends_is_answered_and_cut() {
    let server = TestServer::start();
    for (path, expected) in [("/webhooks/payment", 413), ("/nowhere", 404)] {
        let mut connection = Connection::open(server.address).await;
        let head = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
        connection.send(head.as_bytes()).await;
        let chunk = [b"1000\r\n".as_slice(), &[b' '; 0x1000], b"\r\n"].concat();
        let endless = async {
            while connection.send(&chunk).await {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), endless)
            .await
            .unwrap_or_else(|_| panic!("the server reads for ever ({expected})"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_length_that_lies_changes_nothing() {
    let server = TestServer::start();
    // Too short: the rest is no request, and is answered as none.
    let mut connection = Connection::open(server.address).await;
    let head = "POST /webhooks/payment HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n";
    connection.send(&[head.as_bytes(), EVENT.as_bytes()].concat()).await;
    assert_eq!(connection.answer(true).await.unwrap().status, 400);
    // Not a number, or several: framing that two readers would read in two ways.
    for lengths in ["-1", "x", "+150", "150\r\nContent-Length: 151", "150\r\nTransfer-Encoding: chunked"] {
        let mut connection = Connection::open(server.address).await;
        let head = format!("POST /webhooks/payment HTTP/1.1\r\nHost: x\r\nContent-Length: {lengths}\r\n\r\n");
        connection.send(&[head.as_bytes(), EVENT.as_bytes()].concat()).await;
        let status = connection.answer(true).await.map(|answer| answer.status);
        assert!(matches!(status, Some(400) | None), "{lengths}: {status:?}");
    }
    assert!(server.bodies().is_empty());
    assert_eq!(post(server.address, EVENT).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_cut_off_is_not_published() {
    let server = TestServer::start();
    let mut connection = Connection::open(server.address).await;
    let head = format!(
        "POST /webhooks/payment HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{EVENT}",
        EVENT.len() + 1
    );
    connection.send(head.as_bytes()).await;
    drop(connection);
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(server.bodies().is_empty());
}
