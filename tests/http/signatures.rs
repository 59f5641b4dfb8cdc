use std::net::SocketAddr;

use adapters::clock::SystemClock;
use adapters::providers::native::{NativeProvider, TOLERANCE};
use application::ports::clock::Clock;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::EVENT;
use crate::client::{Answer, Connection, post, send};
use crate::server::{TestServer, settings};

const KEY: &[u8] = b"0123456789abcdef0123456789abcdef";

fn server() -> TestServer {
    let secret = format!("whsec_{}", STANDARD.encode(KEY));
    let provider =
        NativeProvider::signed(&["another secret".into(), secret.into()], TOLERANCE).expect("good secrets");
    TestServer::with(settings(), provider)
}

fn sign(key: &[u8], timestamp: i64, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("any key");
    mac.update(format!("msg_1.{timestamp}.").as_bytes());
    mac.update(body);
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

fn now() -> i64 {
    SystemClock.now().as_secs()
}

async fn post_signed(address: SocketAddr, timestamp: i64, signature: &str, body: &str) -> Answer {
    let timestamp = timestamp.to_string();
    let headers = [
        ("Webhook-Id", "msg_1"),
        ("Webhook-Timestamp", timestamp.as_str()),
        ("Webhook-Signature", signature),
    ];
    send(address, "POST", "/webhooks/payment", &headers, body.as_bytes()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_good_signature_is_accepted_wherever_it_stands() {
    let server = server();
    let good = sign(KEY, now(), EVENT.as_bytes());
    let wrong = sign(b"wrong", now(), EVENT.as_bytes());
    let other = sign(b"another secret", now(), EVENT.as_bytes());
    let headers = [
        good.clone(),
        other,
        format!("{good} {wrong}"),
        format!("{wrong} {wrong} {good}"),
        format!("v0,x {wrong} {good}"),
    ];
    for header in &headers {
        let answer = post_signed(server.address, now(), header, EVENT).await;
        assert_eq!(answer.status, 200, "{header}");
        assert_eq!(answer.json()["event_id"], "evt_1");
    }
    assert_eq!(server.bodies().len(), headers.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_else_is_refused_and_the_next_good_one_accepted() {
    let server = server();
    let good = sign(KEY, now(), EVENT.as_bytes());
    let hash = good.strip_prefix("v1,").unwrap();
    let far = [now() - 400, now() + 400];
    let refused = [
        (now(), String::new()),
        (now(), hash.to_owned()),
        (now(), format!("v0,{hash}")),
        (now(), format!("v1a,{hash}")),
        (now(), format!("v1,{}", &hash[1..])),
        (now(), "v1,%%%".to_owned()),
        (now(), "v1,".to_owned()),
        (now(), sign(b"wrong", now(), EVENT.as_bytes())),
        (now(), sign(KEY, now(), b"another body")),
        (now() + 1, good.clone()),
        (far[0], sign(KEY, far[0], EVENT.as_bytes())),
        (far[1], sign(KEY, far[1], EVENT.as_bytes())),
    ];
    for (timestamp, header) in &refused {
        let answer = post_signed(server.address, *timestamp, header, EVENT).await;
        assert_eq!(answer.status, 401, "{header}");
        assert_eq!(answer.header("content-type"), Some("application/problem+json"));
    }
    assert_eq!(post(server.address, EVENT).await.status, 401);
    assert!(server.bodies().is_empty());
    let signed_at = now();
    let answer = post_signed(server.address, signed_at, &sign(KEY, signed_at, EVENT.as_bytes()), EVENT).await;
    assert_eq!(answer.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_that_are_no_text_in_the_header_are_refused() {
    let server = server();
    for junk in [&[0x80, 0xff, 0xfe][..], &[b'v', b'1', b',', 0xc3][..]] {
        let mut connection = Connection::open(server.address).await;
        let head = format!(
            "POST /webhooks/payment HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\nWebhook-Id: m\r\nWebhook-Timestamp: {}\r\nWebhook-Signature: ",
            EVENT.len(),
            now()
        );
        let bytes = [head.as_bytes(), junk, b"\r\n\r\n", EVENT.as_bytes()].concat();
        connection.send(&bytes).await;
        assert_eq!(connection.answer(true).await.unwrap().status, 401);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_signature_is_judged_before_the_body_is() {
    let server = server();
    assert_eq!(post(server.address, "no json").await.status, 401);
    let signed_at = now();
    let answer = post_signed(server.address, signed_at, &sign(KEY, signed_at, b"no json"), "no json").await;
    assert_eq!(answer.status, 400);
    assert_eq!(*server.outcomes.lock().unwrap(), ["unauthentic", "malformed"]);
}
