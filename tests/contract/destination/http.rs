//! HTTP: the contract, and what only an endpoint can do.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use adapters::clock::SystemClock;
use adapters::outbound::http::{HttpDestination, HttpSettings};
use application::cloud_event;
use application::ports::destination::{DeliveryOutcome, Destination, RenderedMessage};
use async_trait::async_trait;
use harness::endpoint::{Endpoint, Reply, Told};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::{DestinationFixture, destination_contract, message};

destination_contract!(contract, crate::destination::http::HttpFixture);

const TIMEOUT: Duration = Duration::from_secs(5);

pub struct HttpFixture {
    endpoint: Option<Endpoint>,
    port: u16,
    seen: AtomicUsize,
}

fn destination_at(url: String, secrets: &[&str], timeout: Duration) -> HttpDestination {
    // Whoever is first; the others find it installed.
    rustls::crypto::aws_lc_rs::default_provider().install_default().ok();
    let settings = HttpSettings {
        url: url.into(),
        secrets: secrets.iter().map(|secret| (*secret).into()).collect(),
        timeout,
        retry_after_max: Duration::from_mins(10),
        concurrency: 4,
    };
    HttpDestination::new(&settings, Arc::new(SystemClock)).unwrap()
}

#[async_trait]
impl DestinationFixture for HttpFixture {
    async fn create() -> Self {
        let endpoint = Endpoint::start().await;
        let port = endpoint.port();
        Self { endpoint: Some(endpoint), port, seen: AtomicUsize::new(0) }
    }

    fn destination(&self) -> Arc<dyn Destination> {
        let url = self.endpoint.as_ref().unwrap().url();
        Arc::new(destination_at(url, &["secret"], TIMEOUT))
    }

    async fn arrived(&self) -> Vec<Vec<u8>> {
        let told = self.endpoint.as_ref().unwrap().told();
        let seen = self.seen.swap(told.len(), Ordering::SeqCst);
        told[seen..].iter().map(|told| told.body.clone()).collect()
    }

    async fn take_away(&mut self) {
        self.endpoint = None;
    }

    async fn bring_back(&mut self) {
        self.endpoint = Some(Endpoint::start_on(self.port).await);
    }
}

/// The signature over what was told, by the letter of the specification.
fn signature(told: &Told, secret: &[u8]) -> String {
    use base64::Engine;
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).unwrap();
    mac.update(format!("{}.{}.", told.header("webhook-id"), told.header("webhook-timestamp")).as_bytes());
    mac.update(&told.body);
    format!("v1,{}", base64::prelude::BASE64_STANDARD.encode(mac.finalize().into_bytes()))
}

async fn deliver(
    endpoint: &Endpoint,
    secrets: &[&str],
    messages: &[RenderedMessage],
) -> Vec<DeliveryOutcome> {
    destination_at(endpoint.url(), secrets, TIMEOUT).deliver(messages).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_is_signed_by_standard_webhooks_with_every_secret() {
    let endpoint = Endpoint::start().await;
    deliver(&endpoint, &["whsec_bmV3", "old"], &[message(1, "pi_1")]).await;
    let told = endpoint.told().remove(0);
    assert_eq!(told.path, "/hook?token=canary");
    assert_eq!(told.header("content-type"), cloud_event::CONTENT_TYPE);
    assert_eq!(told.header("webhook-id"), "payment/pi_1/fact:1");
    assert_eq!(told.header("idempotency-key"), "payment/pi_1/fact:1");
    assert!(told.header("user-agent").starts_with("payonce/"));
    let expected = [signature(&told, b"new"), signature(&told, b"old")].join(" ");
    assert_eq!(told.header("webhook-signature"), expected);
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    assert!(now.abs_diff(told.header("webhook-timestamp").parse().unwrap()) < 60);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_id_that_could_be_misread_is_encoded_in_the_headers_and_the_signature_holds() {
    let endpoint = Endpoint::start().await;
    deliver(&endpoint, &["secret"], &[message(1, "ord.1 é")]).await;
    let told = endpoint.told().remove(0);
    assert_eq!(told.header("webhook-id"), "payment/ord%2E1%20%C3%A9/fact:1");
    assert_eq!(told.header("webhook-signature"), signature(&told, b"secret"));
    assert_eq!(told.id(), "payment/ord.1 é/fact:1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redirect_is_not_followed() {
    let (endpoint, elsewhere) = (Endpoint::start().await, Endpoint::start().await);
    let location = format!("location: {}\r\n", elsewhere.url());
    endpoint.answer_by(move |_| Reply { headers: location.clone(), ..Reply::status(307) });
    let outcomes = deliver(&endpoint, &[], &[message(1, "pi_1")]).await;
    assert!(matches!(outcomes[..], [DeliveryOutcome::Refused { .. }]), "{outcomes:?}");
    assert!(elsewhere.told().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_follows_a_message_that_is_not_taken_is_not_sent_and_other_payments_are() {
    let endpoint = Endpoint::start().await;
    endpoint.answer_by(|told| Reply::status(if told.id().ends_with("fact:2") { 500 } else { 200 }));
    let messages = [message(1, "pi_1"), message(2, "pi_1"), message(3, "pi_1"), message(4, "pi_2")];
    let outcomes = deliver(&endpoint, &[], &messages).await;
    let refused = DeliveryOutcome::Refused { error: "HTTP 500".to_owned() };
    assert_eq!(
        outcomes,
        [DeliveryOutcome::Delivered, refused, DeliveryOutcome::NotTried, DeliveryOutcome::Delivered]
    );
    assert_eq!(endpoint.told().len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endpoint_that_never_answers_is_given_up_and_a_payment_that_hangs_holds_back_no_other() {
    let endpoint = Endpoint::start().await;
    endpoint.answer_by(|told| Reply::status(if told.payment() == "pi_1" { 0 } else { 200 }));
    let destination = destination_at(endpoint.url(), &[], Duration::from_millis(500));
    let mut messages = vec![message(1, "pi_1")];
    messages.extend((2..40).map(|number| message(number, &format!("pi_{number}"))));
    let outcomes = destination.deliver(&messages).await;
    let error = "no answer within 500 ms".to_owned();
    assert_eq!(outcomes[0], DeliveryOutcome::Unavailable { error, retry_after: None });
    assert!(outcomes[1..].iter().all(|outcome| *outcome == DeliveryOutcome::Delivered), "{outcomes:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_status_counts_whatever_becomes_of_the_body() {
    let endpoint = Endpoint::start().await;
    // Most of the body never comes: one is too long to be waited for, the other is given up in time.
    endpoint.answer_by(|told| {
        let body_bytes = if told.payment() == "pi_1" { usize::MAX / 2 } else { 100 };
        Reply { body_bytes, ..Reply::status(if told.payment() == "pi_3" { 400 } else { 200 }) }
    });
    let destination = destination_at(endpoint.url(), &[], Duration::from_millis(500));
    let messages = [message(1, "pi_1"), message(2, "pi_2"), message(3, "pi_3")];
    let refused = DeliveryOutcome::Refused { error: "HTTP 400".to_owned() };
    assert_eq!(
        destination.deliver(&messages).await,
        [DeliveryOutcome::Delivered, DeliveryOutcome::Delivered, refused]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wait_that_the_endpoint_asks_for_is_told() {
    let endpoint = Endpoint::start().await;
    endpoint.answer_by(|_| Reply { headers: "retry-after: 7\r\n".to_owned(), ..Reply::status(503) });
    let outcomes = deliver(&endpoint, &[], &[message(1, "pi_1")]).await;
    let (error, retry_after) = ("HTTP 503".to_owned(), Some(Duration::from_secs(7)));
    assert_eq!(outcomes, [DeliveryOutcome::Unavailable { error, retry_after }]);
}
