use crate::EVENT;
use crate::client::{post, send};
use crate::server::TestServer;

#[tokio::test(flavor = "multi_thread")]
async fn other_methods_are_refused_with_allow_and_counted_as_nothing() {
    let server = TestServer::start();
    for method in ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "PURGE"] {
        for path in ["/webhooks/payment", "/webhooks/nobody"] {
            let answer = send(server.address, method, path, &[], b"").await;
            assert_eq!(answer.status, 405, "{method}");
            assert_eq!(answer.header("allow"), Some("POST"), "{method}");
        }
    }
    assert!(server.bodies().is_empty());
    assert!(server.outcomes.lock().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_is_not_found() {
    let server = TestServer::start();
    for path in [
        "/",
        "/webhooks",
        "/webhooks/",
        "/webhooks/payment/",
        "/webhooks/payment/x",
        "/webhooks/nobody",
        "/webhooks/Payment",
        "/webhooks/pay%20ment",
        "/webhooks/%00",
        "/webhooks/%ff",
        "/webhooks/..%2fpayment",
        "/health/x",
        "/metrics",
    ] {
        let answer = send(server.address, "POST", path, &[], EVENT.as_bytes()).await;
        assert_eq!(answer.status, 404, "{path}");
        assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{path}");
    }
    let long = format!("/webhooks/{}", "x".repeat(5_000));
    assert_eq!(send(server.address, "POST", &long, &[], EVENT.as_bytes()).await.status, 404);
    assert!(server.bodies().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_body_is_told_and_counted_as_no_bad_signature() {
    let server = TestServer::start();
    let answer = post(server.address, "").await;
    assert_eq!(answer.status, 400);
    assert_eq!(answer.errors(), [" missing"]);
    assert_eq!(*server.outcomes.lock().unwrap(), ["body_empty"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_that_is_wrong_is_told_as_problem_details() {
    let server = TestServer::start();
    let body = r#"{"id":"s3cret\u0000","type":"payment_intent.succeeded","data":{"payment_intent":7,"amount_cents":"s3cret","status":"s3cret"}}"#;
    let answer = post(server.address, body).await;
    assert_eq!(answer.status, 400);
    assert_eq!(answer.header("content-type"), Some("application/problem+json"));
    let document = answer.json();
    assert_eq!(document["status"], 400);
    for member in ["type", "title", "detail"] {
        assert!(document[member].is_string(), "{document}");
    }
    assert!(document["errors"].as_array().unwrap().iter().all(|error| error["message"].is_string()));
    assert_eq!(
        answer.errors(),
        [
            "/id invalid",
            "/data/payment_intent wrong_type",
            "/data/amount_cents wrong_type",
            "/data/currency missing",
            "/data/status invalid",
        ]
    );
    assert!(!String::from_utf8_lossy(&answer.body).contains("s3cret"));
    assert!(server.bodies().is_empty());
    assert_eq!(*server.outcomes.lock().unwrap(), ["malformed"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_broker_did_not_take_shall_be_sent_again() {
    let server = TestServer::refusing();
    let answer = post(server.address, EVENT).await;
    assert_eq!(answer.status, 503);
    assert_eq!(answer.header("retry-after"), Some("7"));
    assert_eq!(answer.header("content-type"), Some("application/problem+json"));
    assert_eq!(*server.outcomes.lock().unwrap(), ["unavailable"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn compressed_bodies_are_refused_and_identity_is_not() {
    let server = TestServer::start();
    for coding in ["gzip", "br", "zstd", "deflate", "gzip, identity", "identity, br", "x"] {
        let headers = [("Content-Encoding", coding)];
        let answer = send(server.address, "POST", "/webhooks/payment", &headers, b"\x1f\x8b\x08").await;
        assert_eq!(answer.status, 415, "{coding}");
        assert_eq!(answer.header("accept-encoding"), Some("identity"));
    }
    assert!(server.bodies().is_empty());
    for coding in ["identity", "Identity", "identity, identity", ""] {
        let headers = [("Content-Encoding", coding)];
        let answer = send(server.address, "POST", "/webhooks/payment", &headers, EVENT.as_bytes()).await;
        assert_eq!(answer.status, 200, "{coding}");
    }
}
