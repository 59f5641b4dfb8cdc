//! The certificates that are known, and one way to learn of more.
//!
//! A certificate is fetched once and kept until it expires. What is of no use is remembered for a while, so that a
//! flood of requests is no flood of fetches; of one URL there is one fetch at a time, of all a few.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::Timestamp;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use url::Url;

use super::certificate::{TrustedIssuers, TrustedKey, Useless};
use super::fetch::{CertificateSource, FETCH_TIMEOUT};

/// How many URLs are remembered. PayPal uses one or two at a time.
const URLS_MAX: usize = 64;

/// How many fetches are under way at once.
const FETCHES_MAX: usize = 4;

/// How long a fetch that failed is not tried again.
const UNAVAILABLE_FOR: Duration = Duration::from_secs(10);

/// How long a certificate that is not PayPal's is not fetched again.
const UNTRUSTED_FOR: Duration = Duration::from_mins(5);

/// Why there is no key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoKey {
    /// The certificate is not PayPal's, or not valid now.
    Untrusted,
    /// It could not be fetched; the text says why.
    Unavailable(String),
}

/// See the [module](self).
pub struct CertificateStore {
    source: Arc<dyn CertificateSource>,
    issuers: TrustedIssuers,
    name: &'static str,
    known: Mutex<Known>,
    fetches: Semaphore,
}

#[derive(Default)]
struct Known {
    entries: HashMap<String, Entry>,
    /// Counts the uses.
    uses: u64,
}

#[derive(Default)]
struct Entry {
    found: Option<Found>,
    /// Held by who fetches.
    turn: Arc<tokio::sync::Mutex<()>>,
    last_use: u64,
}

#[derive(Clone)]
enum Found {
    Key(Arc<TrustedKey>),
    Nothing { why: NoKey, until: Timestamp },
}

impl CertificateStore {
    /// Of certificates from `source`, issued by `issuers` to `name`.
    pub fn new(source: Arc<dyn CertificateSource>, issuers: TrustedIssuers, name: &'static str) -> Self {
        Self { source, issuers, name, known: Mutex::default(), fetches: Semaphore::new(FETCHES_MAX) }
    }

    /// What is known of the certificate at that URL; `None` where nothing is.
    pub fn known_key(&self, url: &Url, now: Timestamp) -> Option<Result<Arc<TrustedKey>, NoKey>> {
        match self.known().used(url).found.clone()? {
            Found::Key(key) => key.is_valid(now).then_some(Ok(key)),
            Found::Nothing { why, until } => (now < until).then_some(Err(why)),
        }
    }

    /// The key of the certificate at that URL, fetched where it is not known.
    ///
    /// # Errors
    /// There is none that can be used.
    pub async fn fetch_key(&self, url: &Url, now: Timestamp) -> Result<Arc<TrustedKey>, NoKey> {
        if let Some(known) = self.known_key(url, now) {
            return known;
        }
        let turn = self.known().used(url).turn.clone();
        let _in_turn = turn.lock().await;
        // Whoever had the turn before has perhaps fetched it.
        if let Some(known) = self.known_key(url, now) {
            return known;
        }
        let fetched = timeout(FETCH_TIMEOUT, self.fetch(url)).await;
        let judged = match fetched {
            Ok(Ok(pem)) => self.issuers.judge(&pem, self.name, now).map_err(|useless| match useless {
                Useless::Untrusted => NoKey::Untrusted,
                Useless::Unreadable => NoKey::Unavailable("the answer is no certificate".to_owned()),
            }),
            Ok(Err(why)) => Err(NoKey::Unavailable(why)),
            Err(_) => Err(NoKey::Unavailable("the fetch took too long".to_owned())),
        };
        let judged = judged.map(Arc::new);
        self.known().used(url).found = Some(match &judged {
            Ok(key) => Found::Key(key.clone()),
            Err(why) => Found::Nothing { why: why.clone(), until: now.plus(why.lasts()) },
        });
        judged
    }

    async fn fetch(&self, url: &Url) -> Result<Vec<u8>, String> {
        let _place = self.fetches.acquire().await.map_err(|error| error.to_string())?;
        self.source.fetch(url).await.map_err(|error| error.to_string())
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // Each change is whole, so a panic elsewhere has left it whole.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl NoKey {
    const fn lasts(&self) -> Duration {
        match self {
            Self::Untrusted => UNTRUSTED_FOR,
            Self::Unavailable(_) => UNAVAILABLE_FOR,
        }
    }
}

impl Known {
    /// The entry of that URL, which counts as used.
    fn used(&mut self, url: &Url) -> &mut Entry {
        if self.entries.len() >= URLS_MAX && !self.entries.contains_key(url.as_str()) {
            self.forget_one();
        }
        self.uses += 1;
        let entry = self.entries.entry(url.as_str().to_owned()).or_default();
        entry.last_use = self.uses;
        entry
    }

    /// What holds no key goes first, so that nobody pushes PayPal's certificate out by naming other URLs.
    fn forget_one(&mut self) {
        let is_key = |entry: &Entry| matches!(entry.found, Some(Found::Key(_)));
        let least = self.entries.iter().min_by_key(|(_, entry)| (is_key(entry), entry.last_use));
        if let Some(url) = least.map(|(url, _)| url.clone()) {
            self.entries.remove(&url);
        }
    }
}

#[cfg(test)]
mod tests;
