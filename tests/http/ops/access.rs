//! Who is let in to the API.

use std::net::{IpAddr, Ipv4Addr};

use serde_json::json;

use super::listener::{Ops, Setup, TestStore};
use super::tokens::{ANN, BOB, TokenFile};
use crate::client::{Answer, Connection, send};

const LIST: &str = "/api/operator-actions";
const CHANGE: &str = "/api/dead-letters/discard";

fn body() -> Vec<u8> {
    json!({"ids": [1], "why": "a test"}).to_string().into_bytes()
}

async fn with_token(ops: &Ops, method: &str, path: &str, token: &str) -> Answer {
    let authorization = format!("Bearer {token}");
    let headers = [("Authorization", authorization.as_str()), ("Content-Type", "application/json")];
    let body = if method == "GET" { Vec::new() } else { body() };
    send(ops.address, method, path, &headers, &body).await
}

fn problem(answer: &Answer) -> (u16, String) {
    let kind = answer.json()["type"].as_str().expect("a type").to_owned();
    (answer.status, kind.strip_prefix("urn:payonce:problem:").expect("ours").to_owned())
}

fn refused(answer: &Answer, status: u16, kind: &str) {
    assert_eq!(problem(answer), (status, kind.to_owned()), "{answer:?}");
    assert_eq!(answer.header("content-type"), Some("application/problem+json"));
}

fn with_tokens(tokens: &TokenFile, store: &TestStore) -> Ops {
    Ops::start(Setup {
        address: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        tokens_file: Some(tokens.path()),
        store: Some(store.services()),
        ..Setup::default()
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn on_loopback_without_tokens_local_callers_may_do_everything() {
    let store = TestStore::create().await;
    let ops = store.listen();
    assert_eq!(ops.get(LIST).await.status, 200);
    assert_eq!(send_change(&ops, &[("Content-Type", "application/json")]).await.status, 200);
}

async fn send_change(ops: &Ops, headers: &[(&str, &str)]) -> Answer {
    send(ops.address, "POST", CHANGE, headers, &body()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn beyond_loopback_without_tokens_nobody_is_let_in_and_probes_still_answer() {
    let store = TestStore::create().await;
    let ops = Ops::start(Setup {
        address: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        store: Some(store.services()),
        ..Setup::default()
    });
    let answer = ops.get(LIST).await;
    refused(&answer, 403, "ops-closed");
    assert!(answer.json()["detail"].as_str().expect("a detail").contains("ops.tokens_file"));
    refused(&with_token(&ops, "GET", LIST, ANN).await, 403, "ops-closed");
    assert_eq!(ops.get("/").await.status, 403);
    assert_eq!(ops.get("/login").await.status, 403);
    for path in ["/metrics", "/health/live", "/health/ready"] {
        assert_eq!(ops.get(path).await.status, 200, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_lets_in_and_nothing_else_does() {
    let (tokens, store) = (TokenFile::create(), TestStore::create().await);
    let ops = with_tokens(&tokens, &store);
    assert_eq!(with_token(&ops, "GET", LIST, ANN).await.status, 200);
    let missing = ops.get(LIST).await;
    refused(&missing, 401, "token-missing");
    assert!(missing.header("www-authenticate").expect("a challenge").starts_with("Bearer"));
    refused(&with_token(&ops, "GET", LIST, "payonce_eve").await, 401, "token-wrong");
    let basic = [("Authorization", "Basic cGF5b25jZV9hbm4=")];
    refused(&send(ops.address, "GET", LIST, &basic, b"").await, 401, "token-missing");
    // The token in the path or the query is none: it would end up in logs.
    refused(&ops.get(&format!("{LIST}?token={ANN}")).await, 401, "token-missing");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_only_look_changes_nothing() {
    let (tokens, store) = (TokenFile::create(), TestStore::create().await);
    let ops = with_tokens(&tokens, &store);
    assert_eq!(with_token(&ops, "GET", LIST, BOB).await.status, 200);
    refused(&with_token(&ops, "POST", CHANGE, BOB).await, 403, "scope");
    refused(&with_token(&ops, "GET", "/api/dead-letters/1/payload", BOB).await, 403, "scope");
    assert_eq!(with_token(&ops, "POST", CHANGE, ANN).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_rotated_without_a_restart() {
    let (tokens, store) = (TokenFile::create(), TestStore::create().await);
    let ops = with_tokens(&tokens, &store);
    assert_eq!(with_token(&ops, "GET", LIST, ANN).await.status, 200);
    tokens.write(&[("ann", "operate", "payonce_new")]);
    refused(&with_token(&ops, "GET", LIST, ANN).await, 401, "token-wrong");
    assert_eq!(with_token(&ops, "GET", LIST, "payonce_new").await.status, 200);
    // A slip of the pen locks nobody out.
    std::fs::write(tokens.path(), "ann operate").expect("a writable file");
    assert_eq!(with_token(&ops, "GET", LIST, "payonce_new").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_tries_many_tokens_must_wait_and_holders_of_good_ones_need_not() {
    let (tokens, store) = (TokenFile::create(), TestStore::create().await);
    let ops = with_tokens(&tokens, &store);
    let mut last = 401;
    for attempt in 0..40 {
        let answer = with_token(&ops, "GET", LIST, &format!("payonce_{attempt}")).await;
        last = answer.status;
        if last == 429 {
            refused(&answer, 429, "too-many-tries");
            assert!(answer.header("retry-after").is_some());
            break;
        }
    }
    assert_eq!(last, 429);
    assert_eq!(with_token(&ops, "GET", LIST, ANN).await.status, 200);
}

async fn raw(ops: &Ops, request: &str) -> Answer {
    let mut connection = Connection::open(ops.address).await;
    connection.send(request.as_bytes()).await;
    connection.answer(true).await.expect("an answer")
}

#[tokio::test(flavor = "multi_thread")]
async fn without_tokens_a_foreign_host_is_refused() {
    let store = TestStore::create().await;
    let ops = Ops::start(Setup {
        store: Some(store.services()),
        hosts: vec!["ops.internal".to_owned()],
        ..Setup::default()
    });
    for host in ["evil.example", "evil.example:9000", "localhost.evil.example"] {
        let answer = raw(&ops, &format!("GET {LIST} HTTP/1.1\r\nHost: {host}\r\n\r\n")).await;
        refused(&answer, 403, "foreign-host");
    }
    for host in ["localhost", "127.0.0.1:9000", "[::1]:9000", "ops.internal"] {
        let answer = raw(&ops, &format!("GET {LIST} HTTP/1.1\r\nHost: {host}\r\n\r\n")).await;
        assert_eq!(answer.status, 200, "{host}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_tokens_what_a_proxy_passed_on_is_refused() {
    let store = TestStore::create().await;
    let ops = store.listen();
    let answer = send(ops.address, "GET", LIST, &[("X-Forwarded-For", "203.0.113.7")], b"").await;
    refused(&answer, 403, "forwarded");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_site_makes_a_browser_send_is_refused() {
    let store = TestStore::create().await;
    let ops = store.listen();
    let json = ("Content-Type", "application/json");
    for header in [("Origin", "http://evil.example"), ("Origin", "null"), ("Sec-Fetch-Site", "cross-site")] {
        refused(&send_change(&ops, &[json, header]).await, 403, "foreign-origin");
    }
    // What a form of another site can send without being asked before.
    for plain in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
        refused(&send_change(&ops, &[("Content-Type", plain)]).await, 415, "not-json");
    }
    refused(&send_change(&ops, &[]).await, 415, "not-json");
    assert_eq!(send_change(&ops, &[json, ("Origin", "http://localhost")]).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_tells_a_browser_to_keep_to_the_rules() {
    let store = TestStore::create().await;
    let ops = store.listen();
    for path in [LIST, "/api/nothing", "/api/dead-letters/99", "/", "/nothing"] {
        let answer = ops.get(path).await;
        let policy = answer.header("content-security-policy").unwrap_or_else(|| panic!("{path}"));
        assert!(policy.starts_with("default-src 'none';") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
        assert_eq!(answer.header("cross-origin-opener-policy"), Some("same-origin"), "{path}");
        assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"), "{path}");
        assert!(answer.header("access-control-allow-origin").is_none(), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_never_ends_is_refused_unread() {
    let (tokens, store) = (TokenFile::create(), TestStore::create().await);
    let ops = with_tokens(&tokens, &store);
    let mut connection = Connection::open(ops.address).await;
    let head = format!(
        "POST {CHANGE} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
    );
    connection.send(head.as_bytes()).await;
    assert_eq!(connection.answer(true).await.expect("an answer").status, 401);
    assert!(connection.is_closed().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_too_long_is_refused_by_its_headers() {
    let store = TestStore::create().await;
    let ops = store.listen();
    let mut connection = Connection::open(ops.address).await;
    let head = format!(
        "POST {CHANGE} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n"
    );
    connection.send(head.as_bytes()).await;
    refused(&connection.answer(true).await.expect("an answer"), 413, "body-too-long");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_that_is_not_there_and_a_method_that_it_does_not_take_are_told_apart() {
    let store = TestStore::create().await;
    let ops = store.listen();
    refused(&ops.get("/api/nothing").await, 404, "not-found");
    let wrong = send(ops.address, "PUT", CHANGE, &[], b"").await;
    refused(&wrong, 405, "method-not-allowed");
    assert_eq!(wrong.header("allow"), Some("POST"));
    refused(&send(ops.address, "QUERY", LIST, &[], b"").await, 405, "method-not-allowed");
    let wrong = ops.get("/api/replays/1/pause").await;
    refused(&wrong, 405, "method-not-allowed");
    assert_eq!(wrong.header("allow"), Some("POST"));
}
