//! A provider pack: what one payment provider's webhook looks like.

use std::collections::HashMap;
use std::sync::Arc;

use domain::{EventId, PaymentEvent, SourceName, Timestamp};

use crate::envelope::Envelope;

/// A webhook request, as it came.
#[derive(Debug, Clone, Copy)]
pub struct WebhookRequest<'a> {
    /// The body, byte for byte.
    pub body: &'a [u8],
    /// The headers by lower-case name; a name may come several times.
    pub headers: &'a [(String, Vec<u8>)],
}

impl<'a> WebhookRequest<'a> {
    /// The first header of that lower-case name.
    pub fn header(&self, name: &str) -> Option<&'a [u8]> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_slice())
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

/// Why a request is not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IntakeRefusal {
    /// The signature is missing, malformed, wrong, too old or too new; the label says which.
    Unauthentic(&'static str),
    /// It is authentic and has no usable id, or a shape that its sender must mend.
    Malformed(Vec<Problem>),
}

/// Why a payload cannot be translated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the payload cannot be translated: {0}")]
pub struct Untranslatable(pub String);

/// One source's provider, with its secrets.
#[cfg_attr(any(test, feature = "testing"), mockall::automock)]
pub trait Provider: Send + Sync {
    /// Verifies the raw bytes, then reads the ids. MUST verify in constant time and before anything else is
    /// read; MUST NOT panic on any input. Never gives an empty list.
    fn intake<'a>(&self, request: &WebhookRequest<'a>, now: Timestamp)
    -> Result<Vec<EventId>, IntakeRefusal>;

    /// The lower-case names of the headers that [`Self::translate`] needs.
    fn kept_headers(&self) -> &'static [&'static str];

    /// The event that the envelope stands for. MUST NOT look at the time: an event that was authentic on
    /// arrival stays so. An unknown kind is an event without a change, not an error.
    fn translate(&self, envelope: &Envelope) -> Result<PaymentEvent, Untranslatable>;
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
