use std::sync::atomic::Ordering;

use super::*;
use crate::providers::paypal::fetch::FetchError;
use crate::providers::paypal::tests::Stub;

const PEM: &[u8] = include_bytes!("../fixtures/live-2024.pem");
const NAME: &str = "messageverificationcerts.paypal.com";
/// In August 2024.
const NOW: Timestamp = Timestamp::from_micros(1_722_600_000_000_000);

fn url(name: &str) -> Url {
    Url::parse(&format!("https://api.paypal.com/v1/notifications/certs/{name}")).unwrap()
}

fn store(stub: &Arc<Stub>) -> CertificateStore {
    CertificateStore::new(stub.clone(), TrustedIssuers::public("").unwrap(), NAME)
}

fn fetches(stub: &Stub) -> usize {
    stub.fetches.load(Ordering::SeqCst)
}

#[tokio::test]
async fn a_certificate_is_fetched_once() {
    let stub = Stub::of(url("a").as_str(), PEM);
    let store = store(&stub);
    assert!(store.known_key(&url("a"), NOW).is_none());
    for _ in 0..3 {
        store.fetch_key(&url("a"), NOW).await.unwrap();
    }
    assert!(matches!(store.known_key(&url("a"), NOW), Some(Ok(_))));
    assert_eq!(fetches(&stub), 1);
}

#[tokio::test]
async fn many_at_once_wait_for_one_fetch() {
    let stub = Stub::of(url("a").as_str(), PEM);
    let (store, place) = (store(&stub), url("a"));
    let waiting = (0..50).map(|_| store.fetch_key(&place, NOW));
    assert!(futures::future::join_all(waiting).await.iter().all(Result::is_ok));
    assert_eq!(fetches(&stub), 1);
}

#[tokio::test]
async fn a_failed_fetch_is_not_tried_again_for_a_while() {
    let stub = Arc::new(Stub::default());
    let store = store(&stub);
    for _ in 0..3 {
        let why = store.fetch_key(&url("a"), NOW).await.unwrap_err();
        assert_eq!(why, NoKey::Unavailable("the answer has status 404".to_owned()));
    }
    assert_eq!(fetches(&stub), 1);
    store.fetch_key(&url("a"), NOW.plus(UNAVAILABLE_FOR)).await.unwrap_err();
    assert_eq!(fetches(&stub), 2);
}

#[tokio::test]
async fn an_answer_that_is_no_certificate_is_a_failed_fetch() {
    let stub = Stub::of(url("a").as_str(), b"<html>out of order</html>");
    let why = store(&stub).fetch_key(&url("a"), NOW).await.unwrap_err();
    assert_eq!(why, NoKey::Unavailable("the answer is no certificate".to_owned()));
}

#[tokio::test]
async fn a_certificate_that_is_not_paypals_is_remembered_longer() {
    let stub = Stub::of(url("a").as_str(), include_bytes!("../fixtures/test-self.pem"));
    let store = store(&stub);
    for _ in 0..3 {
        assert_eq!(store.fetch_key(&url("a"), NOW).await.unwrap_err(), NoKey::Untrusted);
    }
    assert_eq!(store.known_key(&url("a"), NOW.plus(UNAVAILABLE_FOR)).unwrap().unwrap_err(), NoKey::Untrusted);
    assert!(store.known_key(&url("a"), NOW.plus(UNTRUSTED_FOR)).is_none());
    assert_eq!(fetches(&stub), 1);
}

#[tokio::test]
async fn an_expired_certificate_is_fetched_anew() {
    let stub = Stub::of(url("a").as_str(), PEM);
    let store = store(&stub);
    store.fetch_key(&url("a"), NOW).await.unwrap();
    let next_year = NOW.plus(Duration::from_hours(366 * 24));
    assert!(store.known_key(&url("a"), next_year).is_none());
    // The same is served still, and is no longer PayPal's word.
    assert_eq!(store.fetch_key(&url("a"), next_year).await.unwrap_err(), NoKey::Untrusted);
    assert_eq!(fetches(&stub), 2);
}

#[tokio::test]
async fn other_urls_do_not_push_the_known_certificate_out() {
    let stub = Stub::of(url("a").as_str(), PEM);
    let store = store(&stub);
    store.fetch_key(&url("a"), NOW).await.unwrap();
    for number in 0..3 * URLS_MAX {
        store.fetch_key(&url(&format!("other-{number}")), NOW).await.unwrap_err();
    }
    assert_eq!(store.known().entries.len(), URLS_MAX);
    assert!(matches!(store.known_key(&url("a"), NOW), Some(Ok(_))));
}

#[tokio::test(start_paused = true)]
async fn a_fetch_that_takes_too_long_is_given_up() {
    struct Silent;

    #[async_trait::async_trait]
    impl CertificateSource for Silent {
        async fn fetch(&self, _url: &Url) -> Result<Vec<u8>, FetchError> {
            std::future::pending().await
        }
    }

    let store = CertificateStore::new(Arc::new(Silent), TrustedIssuers::public("").unwrap(), NAME);
    // More than may be under way at once: those that wait for a place give up, too.
    let urls: Vec<Url> = (0..=FETCHES_MAX).map(|number| url(&number.to_string())).collect();
    let all = futures::future::join_all(urls.iter().map(|url| store.fetch_key(url, NOW))).await;
    for told in all {
        assert_eq!(told.unwrap_err(), NoKey::Unavailable("the fetch took too long".to_owned()));
    }
}
