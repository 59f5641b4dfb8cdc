//! An operator looks at rejected requests, and takes in those that turn out to be genuine.

use std::sync::Arc;

use domain::EventId;

use crate::envelope::TraceContext;
use crate::ports::provider::{IntakeRefusal, Sources, WebhookRequest};
use crate::ports::quarantine::{Quarantine, QuarantineError, Quarantined};
use crate::use_cases::accept_event::{AcceptError, AcceptEvent, Incoming};

/// Why a rejected request is not taken in.
#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    /// It is there no more.
    #[error("there is no rejected request {0}")]
    NotThere(i64),
    /// It is still not accepted.
    #[error("it is still refused")]
    Refused(#[from] AcceptError),
    /// The quarantine did not do it.
    #[error(transparent)]
    Quarantine(#[from] QuarantineError),
}

/// What the source says of a rejected request now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is genuine, and has these events.
    Genuine(Vec<EventId>),
    /// It is not, or cannot be told; the label says why.
    Refused(&'static str),
    /// Its source is configured no more.
    NoSource,
}

/// Reviews the quarantine.
pub struct ReviewQuarantine {
    quarantine: Arc<dyn Quarantine>,
    sources: Sources,
    accept: AcceptEvent,
}

impl ReviewQuarantine {
    /// Judges by `sources` as they are configured now, and takes in by `accept`.
    pub fn new(quarantine: Arc<dyn Quarantine>, sources: Sources, accept: AcceptEvent) -> Self {
        Self { quarantine, sources, accept }
    }

    /// At most `limit` requests before `before`, newest first, each with what its source says of it now.
    ///
    /// # Errors
    /// The quarantine cannot be read.
    pub async fn list(
        &self,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<(Quarantined, Verdict)>, QuarantineError> {
        let mut reviewed = Vec::new();
        for kept in self.quarantine.list(before, limit).await? {
            let verdict = self.judge(&kept).await;
            reviewed.push((kept, verdict));
        }
        Ok(reviewed)
    }

    /// One request, with what its source says of it now.
    ///
    /// # Errors
    /// It is there no more, or the quarantine cannot be read.
    pub async fn show(&self, id: i64) -> Result<(Quarantined, Verdict), ReviewError> {
        let kept = self.quarantine.get(id).await?.ok_or(ReviewError::NotThere(id))?;
        let verdict = self.judge(&kept).await;
        Ok((kept, verdict))
    }

    /// Takes it in as if it had just come, its age judged as of its arrival, and then lets it go here. A crash in
    /// between leaves it here; admitted again, its events are duplicates.
    ///
    /// # Errors
    /// It is still refused, is there no more, or its events could not be stored; it is still here then.
    pub async fn admit(&self, id: i64) -> Result<Vec<EventId>, ReviewError> {
        let kept = self.quarantine.get(id).await?.ok_or(ReviewError::NotThere(id))?;
        let request = kept.request;
        let incoming = Incoming {
            headers: &request.headers,
            query: &request.query,
            body: request.body.clone(),
            trace: TraceContext::default(),
        };
        let accepted = self.accept.admit(&request.source, incoming, request.received_at).await?;
        self.quarantine.remove(id).await?;
        Ok(accepted.events)
    }

    /// Lets it go. `false` when it was there no more.
    ///
    /// # Errors
    /// The quarantine did not do it.
    pub async fn discard(&self, id: i64) -> Result<bool, QuarantineError> {
        self.quarantine.remove(id).await
    }

    async fn judge(&self, kept: &Quarantined) -> Verdict {
        let request = &kept.request;
        let Some(provider) = self.sources.get(&request.source) else { return Verdict::NoSource };
        let webhook =
            WebhookRequest { body: &request.body, headers: &request.headers, query: &request.query };
        let judged = match provider.prepare(&webhook, request.received_at).await {
            Ok(()) => provider.intake(&webhook, request.received_at),
            Err(refusal) => Err(refusal),
        };
        match judged {
            Ok(intake) => Verdict::Genuine(intake.events),
            Err(IntakeRefusal::Unauthentic(reason)) => Verdict::Refused(reason),
            Err(IntakeRefusal::Malformed(_)) => Verdict::Refused("malformed"),
            Err(IntakeRefusal::Undecided(_)) => Verdict::Refused("undecided"),
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use domain::Timestamp;

    use super::*;
    use crate::ports::event_publisher::{EventPublisher, MockEventPublisher, PublishError};
    use crate::ports::observer::MockObserver;
    use crate::ports::provider::{Intake, MockProvider};
    use crate::ports::quarantine::{MockQuarantine, RejectedRequest};
    use crate::testing::{FixedClock, source_name, sources_of};

    const ARRIVED: Timestamp = Timestamp::from_micros(5);

    fn kept() -> Quarantined {
        let request = RejectedRequest {
            source: source_name(),
            received_at: ARRIVED,
            reason: "wrong_signature".to_owned(),
            headers: Vec::new(),
            query: String::new(),
            body: Bytes::from_static(b"{}"),
        };
        Quarantined { id: 7, request }
    }

    /// A provider that takes what arrived at [`ARRIVED`], if `genuine`.
    fn sources(genuine: bool) -> Sources {
        let mut provider = MockProvider::new();
        provider.expect_prepare().returning(|_, _| Ok(()));
        provider.expect_intake().returning(move |_, now| {
            assert_eq!(now, ARRIVED, "the age is judged as of the arrival");
            if !genuine {
                return Err(IntakeRefusal::Unauthentic("wrong_signature"));
            }
            Ok(Intake { events: vec![EventId::parse("evt_1").unwrap()], secret_slot: Some(0) })
        });
        provider.expect_keeps_header().return_const(false);
        provider.expect_answer().return_const(None);
        sources_of(provider)
    }

    fn review(genuine: bool, quarantine: MockQuarantine, publisher: MockEventPublisher) -> ReviewQuarantine {
        let mut observer = MockObserver::new();
        observer.expect_request_answered().return_const(());
        observer.expect_events_accepted().return_const(());
        observer.expect_signature_matched().return_const(());
        observer.expect_signature_refused().return_const(());
        let publisher: Arc<dyn EventPublisher> = Arc::new(publisher);
        let clock = Arc::new(FixedClock::at_micros(1_000_000_000_000));
        let accept = AcceptEvent::new(sources(genuine), publisher, clock, Arc::new(observer));
        ReviewQuarantine::new(Arc::new(quarantine), sources(genuine), accept)
    }

    fn holding() -> MockQuarantine {
        let mut quarantine = MockQuarantine::new();
        quarantine.expect_get().returning(|_| Ok(Some(kept())));
        quarantine
    }

    #[tokio::test]
    async fn a_genuine_request_is_published_with_its_arrival_and_then_let_go() {
        let mut publisher = MockEventPublisher::new();
        publisher.expect_publish().times(1).returning(|envelopes| {
            assert_eq!(envelopes[0].received_at, ARRIVED);
            assert!(envelopes[0].queued_at > ARRIVED, "its time to be processed begins now");
            vec![Ok(())]
        });
        let mut quarantine = holding();
        quarantine.expect_remove().times(1).returning(|_| Ok(true));
        let events = review(true, quarantine, publisher).admit(7).await.unwrap();
        assert_eq!(events[0].as_str(), "evt_1");
    }

    #[tokio::test]
    async fn what_is_still_wrong_or_cannot_be_stored_stays() {
        for genuine in [false, true] {
            let mut publisher = MockEventPublisher::new();
            publisher.expect_publish().returning(|_| vec![Err(PublishError::Refused)]);
            let mut quarantine = holding();
            quarantine.expect_remove().never();
            // Refused again, it is not kept a second time.
            quarantine.expect_keep().never();
            assert!(review(genuine, quarantine, publisher).admit(7).await.is_err());
        }
    }

    #[tokio::test]
    async fn the_verdict_is_that_of_the_source_as_it_is_now() {
        let publisher = MockEventPublisher::new;
        let (_, verdict) = review(true, holding(), publisher()).show(7).await.unwrap();
        assert!(matches!(verdict, Verdict::Genuine(_)));
        let (_, verdict) = review(false, holding(), publisher()).show(7).await.unwrap();
        assert_eq!(verdict, Verdict::Refused("wrong_signature"));
    }
}
