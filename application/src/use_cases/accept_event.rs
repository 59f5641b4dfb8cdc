//! A webhook becomes a durably queued envelope, or a refusal.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use domain::{EventId, EventKey, SourceName};

use crate::envelope::{Envelope, TraceContext};
use crate::ports::clock::Clock;
use crate::ports::event_publisher::{EventPublisher, PublishError};
use crate::ports::observer::Observer;
use crate::ports::provider::{Answer, Intake, IntakeRefusal, Problem, Provider, Sources, WebhookRequest};
use crate::ports::quarantine::{Quarantine, RejectedRequest};

/// Why a request was not accepted.
#[derive(Debug, thiserror::Error)]
pub enum AcceptError {
    /// No such source is configured.
    #[error("there is no source of this name")]
    UnknownSource,
    /// The signature does not hold.
    #[error("the signature does not hold: {0}")]
    Unauthentic(&'static str),
    /// The sender must mend the body.
    #[error("the body is not a usable event")]
    Malformed(Vec<Problem>),
    /// It cannot be judged now; the sender shall send it again.
    #[error("the request cannot be judged now: {0}")]
    Undecided(String),
    /// Nothing is wrong with the request; the sender shall send it again.
    #[error("the event could not be stored")]
    NotStored(#[from] PublishError),
}

impl AcceptError {
    /// The error as a metric label.
    pub const fn label(&self) -> &'static str {
        match self {
            Self::UnknownSource => "unknown_source",
            Self::Unauthentic(_) => "unauthentic",
            Self::Malformed(_) => "malformed",
            Self::Undecided(_) => "undecided",
            Self::NotStored(error) => error.label(),
        }
    }
}

/// A request, as it came.
#[derive(Debug, Clone)]
pub struct Incoming<'a> {
    /// The headers by lower-case name.
    pub headers: &'a [(String, Vec<u8>)],
    /// The query of its URL, undecoded, without the question mark.
    pub query: &'a str,
    /// The body.
    pub body: Bytes,
    /// The trace that it belongs to.
    pub trace: TraceContext,
}

/// What was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// The ids of the events, every one of which is durable.
    pub events: Vec<EventId>,
    /// What the provider wants to be answered; `None` for our own answer.
    pub answer: Option<Answer>,
}

/// Takes webhooks.
#[derive(Clone)]
pub struct AcceptEvent {
    sources: Sources,
    publisher: Arc<dyn EventPublisher>,
    clock: Arc<dyn Clock>,
    observer: Arc<dyn Observer>,
    quarantine: Option<Arc<dyn Quarantine>>,
}

impl AcceptEvent {
    /// Takes webhooks of `sources` and publishes them by `publisher`.
    pub fn new(
        sources: Sources,
        publisher: Arc<dyn EventPublisher>,
        clock: Arc<dyn Clock>,
        observer: Arc<dyn Observer>,
    ) -> Self {
        Self { sources, publisher, clock, observer, quarantine: None }
    }

    /// Keeps requests whose signature does not hold in `quarantine`.
    #[must_use]
    pub fn with_quarantine(self, quarantine: Arc<dyn Quarantine>) -> Self {
        Self { quarantine: Some(quarantine), ..self }
    }

    /// Verifies, identifies and publishes. `Ok` means that every event of the request is durable.
    ///
    /// # Errors
    /// Nothing was accepted: [`AcceptError`] says whose turn it is. After [`AcceptError::NotStored`] some
    /// events of a request may be queued all the same; sent again, they are duplicates.
    pub async fn accept(&self, source: &SourceName, incoming: Incoming<'_>) -> Result<Accepted, AcceptError> {
        let received_at = self.clock.now();
        let result = self.admit(source, incoming.clone(), received_at).await;
        if let (Err(AcceptError::Unauthentic(reason)), Some(quarantine)) = (&result, &self.quarantine) {
            quarantine.keep(RejectedRequest {
                source: source.clone(),
                received_at,
                reason: (*reason).to_owned(),
                headers: incoming.headers.to_vec(),
                query: incoming.query.to_owned(),
                body: incoming.body,
            });
        }
        result
    }

    /// [`Self::accept`] for a request that arrived at `received_at`, which is when its age is judged. What is
    /// refused is not put into quarantine.
    ///
    /// # Errors
    /// As for [`Self::accept`].
    pub async fn admit(
        &self,
        source: &SourceName,
        incoming: Incoming<'_>,
        received_at: domain::Timestamp,
    ) -> Result<Accepted, AcceptError> {
        let provider = self.sources.get(source).ok_or(AcceptError::UnknownSource)?;
        let started = self.clock.now();
        let result = self.accept_from(provider.as_ref(), source, &incoming, received_at).await;
        let took = self.clock.now().since(started);
        match &result {
            Ok(intake) => {
                self.observer.events_accepted(source, intake.events.len());
                if let Some(slot) = intake.secret_slot {
                    self.observer.signature_matched(source, slot);
                }
                self.observer.request_answered(source, "accepted", took);
            }
            Err(error) => {
                if let AcceptError::Unauthentic(reason) = error {
                    self.observer.signature_refused(source, reason);
                }
                self.observer.request_answered(source, error.label(), took);
            }
        }
        Ok(Accepted { events: result?.events, answer: provider.answer() })
    }

    /// The answer to a `GET` by which a provider tests who listens; `None` where that is no such test.
    pub fn challenge(&self, source: &SourceName, query: &str) -> Option<Answer> {
        self.sources.get(source)?.challenge(query)
    }

    /// Counts a request that was refused before its body could be judged, such as for its length. Of a
    /// source that is not configured nothing is counted: a stranger's names must not become labels.
    pub fn refused_unread(&self, source: &SourceName, reason: &'static str, took: Duration) {
        if self.sources.get(source).is_some() {
            self.observer.request_answered(source, reason, took);
        }
    }

    async fn accept_from(
        &self,
        provider: &dyn Provider,
        source: &SourceName,
        incoming: &Incoming<'_>,
        received_at: domain::Timestamp,
    ) -> Result<Intake, AcceptError> {
        let Incoming { headers, query, body, trace } = incoming;
        let request = WebhookRequest { body, headers, query };
        provider.prepare(&request, received_at).await?;
        let intake = provider.intake(&request, received_at)?;
        if intake.events.is_empty() {
            return Ok(intake);
        }
        let kept = kept_headers(&request, provider);
        let queued_at = self.clock.now();
        let content_type = request.header("content-type").and_then(text);
        let envelopes = intake
            .events
            .iter()
            .map(|event_id| Envelope {
                key: EventKey { source: source.clone(), event_id: event_id.clone() },
                received_at,
                queued_at,
                content_type: content_type.clone(),
                headers: kept.clone(),
                trace: trace.clone(),
                payload: body.clone(),
            })
            .collect();
        for confirmed in self.publisher.publish(envelopes).await {
            confirmed?;
        }
        Ok(intake)
    }
}

impl From<IntakeRefusal> for AcceptError {
    fn from(refusal: IntakeRefusal) -> Self {
        match refusal {
            IntakeRefusal::Unauthentic(reason) => Self::Unauthentic(reason),
            IntakeRefusal::Malformed(problems) => Self::Malformed(problems),
            IntakeRefusal::Undecided(why) => Self::Undecided(why),
        }
    }
}

fn kept_headers(request: &WebhookRequest<'_>, provider: &dyn Provider) -> Vec<(String, String)> {
    let kept = request.headers.iter().filter(|(name, _)| provider.keeps_header(name));
    kept.filter_map(|(name, value)| Some((name.clone(), text(value)?))).collect()
}

fn text(value: &[u8]) -> Option<String> {
    std::str::from_utf8(value).ok().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::event_publisher::MockEventPublisher;
    use crate::ports::observer::MockObserver;
    use crate::ports::provider::MockProvider;
    use crate::testing::{FixedClock, source_name, sources_of};

    fn quiet_observer() -> MockObserver {
        let mut observer = MockObserver::new();
        observer.expect_request_answered().return_const(());
        observer.expect_events_accepted().return_const(());
        observer.expect_signature_matched().return_const(());
        observer.expect_signature_refused().return_const(());
        observer
    }

    fn provider(answer: Result<Vec<EventId>, IntakeRefusal>) -> MockProvider {
        let mut provider = MockProvider::new();
        provider.expect_prepare().returning(|_, _| Ok(()));
        let intake = answer.map(|events| Intake { events, secret_slot: Some(1) });
        provider.expect_intake().return_once(move |_, _| intake);
        provider.expect_keeps_header().returning(|name| name == "x-kept");
        provider.expect_answer().return_const(None);
        provider
    }

    fn incoming<'a>(headers: &'a [(String, Vec<u8>)], body: &'static [u8]) -> Incoming<'a> {
        Incoming { headers, query: "", body: Bytes::from_static(body), trace: TraceContext::default() }
    }

    fn ids(texts: &[&str]) -> Vec<EventId> {
        texts.iter().map(|text| EventId::parse(text).unwrap()).collect()
    }

    async fn accept(
        provider: MockProvider,
        publisher: MockEventPublisher,
        body: &'static [u8],
    ) -> Result<Accepted, AcceptError> {
        let use_case = AcceptEvent::new(
            sources_of(provider),
            Arc::new(publisher),
            Arc::new(FixedClock::at_micros(7)),
            Arc::new(quiet_observer()),
        );
        let headers =
            [("x-kept".to_owned(), b"yes".to_vec()), ("x-signature".to_owned(), b"secret".to_vec())];
        use_case.accept(&source_name(), incoming(&headers, body)).await
    }

    #[tokio::test]
    async fn an_event_is_published_with_its_raw_bytes_and_only_the_needed_headers() {
        let mut publisher = MockEventPublisher::new();
        publisher.expect_publish().times(1).returning(|envelopes| {
            assert_eq!(envelopes.len(), 1);
            assert_eq!(&envelopes[0].payload[..], b"{ \"odd\" :1.0}");
            assert_eq!(envelopes[0].headers, [("x-kept".to_owned(), "yes".to_owned())]);
            assert_eq!(envelopes[0].received_at.as_micros(), 7);
            vec![Ok(())]
        });
        let accepted = accept(provider(Ok(ids(&["evt_1"]))), publisher, b"{ \"odd\" :1.0}").await;
        assert_eq!(accepted.unwrap().events, ids(&["evt_1"]));
    }

    #[tokio::test]
    async fn a_request_of_several_events_becomes_an_envelope_for_each() {
        let mut publisher = MockEventPublisher::new();
        publisher.expect_publish().times(1).returning(|envelopes| {
            assert_eq!(envelopes.iter().map(|e| e.key.event_id.as_str()).collect::<Vec<_>>(), ["a", "b"]);
            vec![Ok(()), Ok(())]
        });
        assert!(accept(provider(Ok(ids(&["a", "b"]))), publisher, b"[]").await.is_ok());
    }

    #[tokio::test]
    async fn one_unconfirmed_event_of_several_refuses_the_request() {
        let mut publisher = MockEventPublisher::new();
        publisher.expect_publish().return_once(|_| vec![Ok(()), Err(PublishError::Refused)]);
        let refused = accept(provider(Ok(ids(&["a", "b"]))), publisher, b"[]").await;
        assert!(matches!(refused, Err(AcceptError::NotStored(PublishError::Refused))));
    }

    #[tokio::test]
    async fn nothing_is_published_for_a_refused_request() {
        for refusal in [IntakeRefusal::Unauthentic("wrong_signature"), IntakeRefusal::Malformed(Vec::new())] {
            let mut publisher = MockEventPublisher::new();
            publisher.expect_publish().never();
            assert!(accept(provider(Err(refusal)), publisher, b"").await.is_err());
        }
    }

    #[test]
    fn a_request_refused_unread_is_counted_for_configured_sources_only() {
        let mut observer = MockObserver::new();
        observer
            .expect_request_answered()
            .times(1)
            .withf(|source, outcome, _| source == &source_name() && *outcome == *"too_long")
            .return_const(());
        let use_case = AcceptEvent::new(
            sources_of(MockProvider::new()),
            Arc::new(MockEventPublisher::new()),
            Arc::new(FixedClock::at_micros(0)),
            Arc::new(observer),
        );
        use_case.refused_unread(&source_name(), "too_long", Duration::ZERO);
        use_case.refused_unread(&SourceName::parse("stranger").unwrap(), "too_long", Duration::ZERO);
    }

    #[tokio::test]
    async fn an_unknown_source_is_told() {
        let use_case = AcceptEvent::new(
            Sources::default(),
            Arc::new(MockEventPublisher::new()),
            Arc::new(FixedClock::at_micros(0)),
            Arc::new(MockObserver::new()),
        );
        let refused = use_case.accept(&source_name(), incoming(&[], b"")).await;
        assert!(matches!(refused, Err(AcceptError::UnknownSource)));
    }
}
