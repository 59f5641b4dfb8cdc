use crate::EVENT;
use crate::client::{Connection, post, request, send};
use crate::server::TestServer;

#[tokio::test(flavor = "multi_thread")]
async fn the_documented_event_is_accepted_and_published() {
    let server = TestServer::start();
    let answer = post(server.address, EVENT).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.body, br#"{"status":"accepted","event_id":"evt_1"}"#);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let published = server.publisher.published();
    assert_eq!(published.len(), 1);
    assert_eq!(published[0].key.to_string(), "payment/evt_1");
    assert_eq!(published[0].content_type.as_deref(), Some("application/json"));
    assert!(published[0].headers.is_empty());
    assert_eq!(*server.outcomes.lock().unwrap(), ["accepted"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bytes_arrive_as_they_were_sent() {
    let server = TestServer::start();
    let odd = "\r\n{ \"type\" :\"payment_intent.succeeded\",\t\"x\":1.0,\"e\":\"\\u00e9\u{e9}\",\"id\":\"evt_\\u0031\" ,\"data\":{\"status\":\"succeeded\",\"currency\":\"uSd\",\"amount_cents\": 4999,\"payment_intent\":\"pi_1\"}}\n\n";
    let answer = post(server.address, odd).await;
    assert_eq!(answer.status, 200);
    assert_eq!(server.bodies(), [odd.as_bytes()]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_body_is_judged_by_its_bytes_whatever_its_content_type() {
    let server = TestServer::start();
    let types = [
        "application/json; charset=utf-8",
        "APPLICATION/JSON",
        "application/json; charset=latin-1",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "nonsense",
    ];
    for content_type in types {
        let headers = [("Content-Type", content_type)];
        let answer = send(server.address, "POST", "/webhooks/payment", &headers, EVENT.as_bytes()).await;
        assert_eq!(answer.status, 200, "{content_type}");
    }
    let answer = send(server.address, "POST", "/webhooks/payment", &[], EVENT.as_bytes()).await;
    assert_eq!(answer.status, 200);
    assert!(server.bodies().iter().all(|body| body == EVENT.as_bytes()));
    assert_eq!(server.bodies().len(), types.len() + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_is_kept_for_the_next_request() {
    let server = TestServer::start();
    let mut connection = Connection::open(server.address).await;
    for _ in 0..3 {
        let bytes = request("POST", "/webhooks/payment", &[], EVENT.as_bytes());
        assert!(connection.send(&bytes).await);
        assert_eq!(connection.answer(true).await.unwrap().status, 200);
    }
    // A refused body that was read to its end costs no connection either.
    assert!(connection.send(&request("POST", "/webhooks/payment", &[], b"{}")).await);
    assert_eq!(connection.answer(true).await.unwrap().status, 400);
    let bytes = request("POST", "/webhooks/payment", &[], EVENT.as_bytes());
    assert!(connection.send(&bytes).await);
    assert_eq!(connection.answer(true).await.unwrap().status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_valid_trace_is_passed_on_and_an_invalid_one_ignored() {
    let server = TestServer::start();
    let valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let baggage = "k=".to_owned() + &"v".repeat(9_000);
    for traceparent in [valid, "nonsense", "00-0-0-0"] {
        let headers = [("traceparent", traceparent), ("tracestate", "a=1"), ("baggage", baggage.as_str())];
        let answer = send(server.address, "POST", "/webhooks/payment", &headers, EVENT.as_bytes()).await;
        assert_eq!(answer.status, 200);
    }
    let published = server.publisher.published();
    assert_eq!(published[0].trace.traceparent.as_deref(), Some(valid));
    assert_eq!(published[0].trace.tracestate.as_deref(), Some("a=1"));
    assert!(published[1..].iter().all(|envelope| envelope.trace.traceparent.is_none()));
}

#[tokio::test(flavor = "multi_thread")]
async fn health_answers_get_and_head() {
    let server = TestServer::start();
    let answer = send(server.address, "GET", "/health", &[], b"").await;
    assert_eq!((answer.status, answer.body.as_slice()), (200, &br#"{"status":"ok"}"#[..]));
    assert_eq!(send(server.address, "HEAD", "/health", &[], b"").await.status, 200);
    let answer = send(server.address, "DELETE", "/health", &[], b"").await;
    assert_eq!((answer.status, answer.header("allow")), (405, Some("GET, HEAD")));
}
