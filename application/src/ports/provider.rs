//! A provider pack: what one payment provider's webhook looks like.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use domain::{EventId, PaymentEvent, SourceName, Timestamp};

use crate::envelope::Envelope;

/// A webhook request, as it came.
#[derive(Debug, Clone, Copy)]
pub struct WebhookRequest<'a> {
    /// The body, byte for byte.
    pub body: &'a [u8],
    /// The headers by lower-case name; a name may come several times.
    pub headers: &'a [(String, Vec<u8>)],
    /// The query of the request's URL, undecoded, without the question mark; empty where there is none.
    pub query: &'a str,
}

impl<'a> WebhookRequest<'a> {
    /// The first header of that lower-case name.
    pub fn header(&self, name: &str) -> Option<&'a [u8]> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_slice())
    }

    /// Every header of that lower-case name, in the order in which they came.
    pub fn headers_named(&self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        let headers = self.headers;
        headers.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_slice())
    }
}

/// One thing that is wrong with a body, for machines and people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where: a JSON pointer, empty for the whole body.
    pub pointer: String,
    /// What is wrong, from a closed set.
    pub code: &'static str,
    /// What is wrong, in words.
    pub message: String,
}

/// An authentic request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intake {
    /// The ids of its events, which may be none.
    pub events: Vec<EventId>,
    /// Which of the source's secrets it was signed with, from 0; `None` where no secret was needed.
    pub secret_slot: Option<usize>,
}

/// Why a request is not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IntakeRefusal {
    /// The signature is missing, malformed, wrong, too old or too new; the label says which.
    Unauthentic(&'static str),
    /// It is authentic and has no usable id, or a shape that its sender must mend.
    Malformed(Vec<Problem>),
    /// It cannot be judged now, because something that is needed for it cannot be had; the text says what.
    /// The sender shall send it again.
    Undecided(String),
}

/// What the provider wants to be answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The media type of the body.
    pub content_type: &'static str,
    /// The body.
    pub body: Cow<'static, str>,
}

/// Whether the signature binds what a request says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// An event counts as it came.
    Signature,
    /// An event is a hint, and is never credited on its own word.
    Confirm,
}

impl Trust {
    /// The name in the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Signature => "signature",
            Self::Confirm => "confirm",
        }
    }
}

/// What a source expects, for people who set it up. Never holds a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceDescription {
    /// The provider pack.
    pub provider: &'static str,
    /// The headers that carry the signature.
    pub signature_headers: Vec<String>,
    /// How it is signed, in a few words.
    pub scheme: String,
    /// Where the event id is.
    pub event_id: String,
    /// Whether its events count as they come.
    pub trust: Trust,
    /// How many secrets it has.
    pub secrets: usize,
}

/// A request as the provider would send it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedRequest {
    /// The body.
    pub body: Vec<u8>,
    /// The headers.
    pub headers: Vec<(String, String)>,
    /// The query, without the question mark; empty where there is none.
    pub query: String,
}

/// Why a payload cannot be translated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the payload cannot be translated: {0}")]
pub struct Untranslatable(pub String);

/// Why a request cannot be signed as the provider would.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CannotSign(pub String);

/// One source's provider, with its secrets.
#[cfg_attr(any(test, feature = "testing"), mockall::automock)]
#[async_trait]
pub trait Provider: Send + Sync {
    /// Gets what [`Self::intake`] needs to judge this request and does not have yet, such as a certificate.
    /// MUST NOT reach for anything that the request merely names: only for what the provider is known to use.
    async fn prepare<'a>(&self, request: &WebhookRequest<'a>, now: Timestamp) -> Result<(), IntakeRefusal>;

    /// Verifies the raw bytes, then reads the ids. MUST verify in constant time and before anything else is
    /// read; MUST NOT panic on any input.
    fn intake<'a>(&self, request: &WebhookRequest<'a>, now: Timestamp) -> Result<Intake, IntakeRefusal>;

    /// Whether [`Self::translate`] needs the header of that lower-case name.
    fn keeps_header(&self, name: &str) -> bool;

    /// The event that the envelope stands for. MUST NOT look at the time: an event that was authentic on
    /// arrival stays so. An unknown kind is an event without effect, not an error.
    fn translate(&self, envelope: &Envelope) -> Result<PaymentEvent, Untranslatable>;

    /// What to answer when its events are accepted; `None` for our own answer.
    fn answer(&self) -> Option<Answer>;

    /// The answer to a `GET` of the webhook's URL, by which some providers test who listens; `None` where
    /// there is no such test, or the query is not one.
    fn challenge(&self, query: &str) -> Option<Answer>;

    /// What the source expects.
    fn describe(&self) -> SourceDescription;

    /// `body` as the provider would send it at `now`.
    ///
    /// # Errors
    /// Only the provider can sign, or the body is not what it would send.
    fn sign(&self, body: &[u8], now: Timestamp) -> Result<SignedRequest, CannotSign>;
}

/// The configured sources.
#[derive(Clone, Default)]
pub struct Sources(HashMap<SourceName, Arc<dyn Provider>>);

impl Sources {
    /// From the provider of each source.
    pub fn new(providers: HashMap<SourceName, Arc<dyn Provider>>) -> Self {
        Self(providers)
    }

    /// The provider of that source.
    pub fn get(&self, source: &SourceName) -> Option<&Arc<dyn Provider>> {
        self.0.get(source)
    }

    /// The names, sorted.
    pub fn names(&self) -> Vec<&SourceName> {
        let mut names: Vec<_> = self.0.keys().collect();
        names.sort();
        names
    }
}

impl std::fmt::Debug for Sources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
