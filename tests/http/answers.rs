//! What is answered where a provider wants something of its own.

use std::borrow::Cow;
use std::time::Duration;

use application::ports::provider::{Answer, Intake, IntakeRefusal, MockProvider};
use domain::EventId;

use crate::EVENT;
use crate::client::{Connection, post, send};
use crate::server::{TestServer, settings};

/// Takes everything, as events of these ids.
fn provider(events: &[&str], answer: Option<Answer>) -> MockProvider {
    let events: Vec<_> = events.iter().map(|id| EventId::parse(id).expect("a valid id")).collect();
    let mut provider = MockProvider::new();
    provider.expect_prepare().returning(|_, _| Ok(()));
    provider.expect_intake().returning(move |_, _| Ok(Intake { events: events.clone(), secret_slot: None }));
    provider.expect_keeps_header().return_const(false);
    provider.expect_answer().return_const(answer);
    provider
}

fn text(status: u16, body: &'static str) -> Answer {
    Answer { status, content_type: "text/plain", body: Cow::Borrowed(body) }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_gets_the_answer_that_it_wants() {
    let server = TestServer::with(settings(), provider(&["a", "b"], Some(text(202, "[accepted]"))));
    let answer = post(server.address, EVENT).await;
    assert_eq!((answer.status, answer.body.as_slice()), (202, &b"[accepted]"[..]));
    assert_eq!(answer.header("content-type"), Some("text/plain"));
    assert_eq!(server.bodies().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_without_events_is_accepted_and_publishes_nothing() {
    let server = TestServer::with(settings(), provider(&[], None));
    let answer = post(server.address, EVENT).await;
    assert_eq!(
        (answer.status, answer.body.as_slice()),
        (200, &br#"{"status":"accepted","event_ids":[]}"#[..])
    );
    assert!(server.bodies().is_empty());
    assert_eq!(*server.outcomes.lock().unwrap(), ["accepted"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ids_of_several_events_are_answered_together() {
    let server = TestServer::with(settings(), provider(&["a", "b"], None));
    let answer = post(server.address, EVENT).await;
    assert_eq!(answer.body, br#"{"status":"accepted","event_ids":["a","b"]}"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_judged_now_shall_be_sent_again() {
    let mut undecided = MockProvider::new();
    undecided
        .expect_prepare()
        .returning(|_, _| Err(IntakeRefusal::Undecided("the certificate cannot be had".to_owned())));
    let server = TestServer::with(settings(), undecided);
    let answer = post(server.address, EVENT).await;
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("7")));
    assert_eq!(answer.header("content-type"), Some("application/problem+json"));
    assert_eq!(answer.json()["type"], "urn:payonce:problem:undecided");
    assert_eq!(*server.outcomes.lock().unwrap(), ["undecided"]);
    assert!(server.bodies().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_query_comes_to_the_provider_as_it_was_sent() {
    let mut provider = provider(&["a"], None);
    provider.checkpoint();
    provider
        .expect_prepare()
        .withf(|request, _| request.query == "data.id=1%2F2&x=%zz")
        .returning(|_, _| Ok(()));
    provider
        .expect_intake()
        .withf(|request, _| request.query == "data.id=1%2F2&x=%zz")
        .returning(|_, _| Ok(Intake { events: Vec::new(), secret_slot: None }));
    provider.expect_answer().return_const(None);
    let server = TestServer::with(settings(), provider);
    let path = "/webhooks/payment?data.id=1%2F2&x=%zz";
    assert_eq!(send(server.address, "POST", path, &[], EVENT.as_bytes()).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_get_is_answered_only_where_the_provider_tests_by_it_who_listens() {
    let mut challenging = provider(&["a"], None);
    challenging.expect_challenge().returning(|query| (query == "challenge=1").then(|| text(200, "one")));
    let server = TestServer::with(settings(), challenging);
    let answer = send(server.address, "GET", "/webhooks/payment?challenge=1", &[], b"").await;
    assert_eq!((answer.status, answer.body.as_slice()), (200, &b"one"[..]));
    assert_eq!(answer.header("content-type"), Some("text/plain"));
    for path in ["/webhooks/payment", "/webhooks/payment?challenge=2", "/webhooks/nobody?challenge=1"] {
        let answer = send(server.address, "GET", path, &[], b"").await;
        assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")), "{path}");
    }
    assert!(server.bodies().is_empty());
    assert!(server.outcomes.lock().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_get_with_a_body_that_never_ends_is_answered_and_cut() {
    let mut challenging = provider(&[], None);
    challenging.expect_challenge().returning(|_| Some(text(200, "one")));
    let server = TestServer::with(settings(), challenging);
    let mut connection = Connection::open(server.address).await;
    let head = "GET /webhooks/payment?x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
    connection.send(head.as_bytes()).await;
    assert_eq!(connection.answer(true).await.unwrap().body, b"one");
    let chunk = [b"1000\r\n".as_slice(), &[b' '; 0x1000], b"\r\n"].concat();
    let endless = async {
        while connection.send(&chunk).await {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), endless).await.expect("the server reads for ever");
}
