//! A provider's rules, and the one way in which they become a source.

use application::Envelope;
use application::ports::provider::{
    Answer, CannotSign, Intake, IntakeRefusal, Problem, Provider, SignedRequest, SourceDescription, Trust,
    Untranslatable, WebhookRequest,
};
use async_trait::async_trait;
use domain::{Effect, EventId, EventKind, NoEffect, PaymentEvent, Timestamp};

use super::settings::{Mode, SourceSettings};

/// What a pack's source expects, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackDescription {
    /// The headers that carry the signature, by lower-case name.
    pub signature_headers: Vec<String>,
    /// How it is signed.
    pub scheme: String,
    /// Where the event id is.
    pub event_id: String,
}

/// What an event of the provider means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Translation {
    /// The provider's name of what happened.
    pub kind: EventKind,
    /// Whether it is about real money; `None` where the provider does not say.
    pub live: Option<bool>,
    /// When it happened, where the provider says.
    pub occurred_at: Option<Timestamp>,
    /// What it does, if it can be believed.
    pub effect: Effect,
}

/// One provider's rules.
#[async_trait]
pub trait Pack: Send + Sync + 'static {
    /// The name in the configuration.
    fn name(&self) -> &'static str;

    /// What a source of it expects.
    fn description(&self) -> PackDescription;

    /// [`Trust::Signature`] only where the signature binds the whole body.
    fn default_trust(&self) -> Trust;

    /// See [`Provider::prepare`].
    async fn prepare(&self, _request: &WebhookRequest<'_>, _now: Timestamp) -> Result<(), IntakeRefusal> {
        Ok(())
    }

    /// Judges the raw bytes, in constant time. `Ok` is the secret's place, from 0; `Err` the reason, from a
    /// closed set: `missing_signature`, `malformed_signature`, `no_known_signature`, `wrong_signature`,
    /// `signature_too_old`, `signature_too_new`, or one of the pack's own. MUST NOT panic on any input.
    fn verify(&self, request: &WebhookRequest<'_>, now: Timestamp) -> Result<Option<usize>, &'static str>;

    /// The ids of the request's events. Called only for what was verified. MUST NOT panic on any input.
    fn identify(&self, request: &WebhookRequest<'_>) -> Result<Vec<EventId>, Vec<Problem>>;

    /// See [`Provider::keeps_header`].
    fn keeps_header(&self, _name: &str) -> bool {
        false
    }

    /// What the envelope's event means, taken at its word. An unknown kind is [`NoEffect::Kind`].
    fn translate(&self, envelope: &Envelope) -> Result<Translation, Untranslatable>;

    /// See [`Provider::answer`].
    fn answer(&self) -> Option<Answer> {
        None
    }

    /// See [`Provider::challenge`].
    fn challenge(&self, _query: &str) -> Option<Answer> {
        None
    }

    /// See [`Provider::sign`].
    fn sign(&self, body: &[u8], now: Timestamp) -> Result<SignedRequest, CannotSign>;
}

/// A pack with a source's policy: its mode and its trust.
pub struct PackProvider<P> {
    pack: P,
    secrets: usize,
    mode: Mode,
    trust: Trust,
}

impl<P: Pack> PackProvider<P> {
    /// `pack` for a source of these settings.
    pub fn new(pack: P, settings: &SourceSettings) -> Self {
        let trust = settings.trust.unwrap_or_else(|| pack.default_trust());
        Self { pack, secrets: settings.secrets.len(), mode: settings.mode, trust }
    }

    /// What of it is believed here.
    fn believed(&self, effect: Effect, live: Option<bool>) -> Effect {
        let other_mode = live.is_some_and(|live| live != (self.mode == Mode::Live));
        match effect {
            Effect::Change(_) if other_mode => Effect::Nothing(NoEffect::OtherMode),
            Effect::Change(_) if self.trust == Trust::Confirm => Effect::Nothing(NoEffect::Unconfirmed),
            effect => effect,
        }
    }
}

#[async_trait]
impl<P: Pack> Provider for PackProvider<P> {
    async fn prepare<'a>(&self, request: &WebhookRequest<'a>, now: Timestamp) -> Result<(), IntakeRefusal> {
        self.pack.prepare(request, now).await
    }

    fn intake<'a>(&self, request: &WebhookRequest<'a>, now: Timestamp) -> Result<Intake, IntakeRefusal> {
        let secret_slot = self.pack.verify(request, now).map_err(IntakeRefusal::Unauthentic)?;
        let events = self.pack.identify(request).map_err(IntakeRefusal::Malformed)?;
        Ok(Intake { events, secret_slot })
    }

    fn keeps_header(&self, name: &str) -> bool {
        self.pack.keeps_header(name)
    }

    fn translate(&self, envelope: &Envelope) -> Result<PaymentEvent, Untranslatable> {
        let Translation { kind, live, occurred_at, effect } = self.pack.translate(envelope)?;
        Ok(PaymentEvent {
            key: envelope.key.clone(),
            kind,
            effect: self.believed(effect, live),
            occurred_at,
            received_at: envelope.received_at,
        })
    }

    fn answer(&self) -> Option<Answer> {
        self.pack.answer()
    }

    fn challenge(&self, query: &str) -> Option<Answer> {
        self.pack.challenge(query)
    }

    fn describe(&self) -> SourceDescription {
        let PackDescription { signature_headers, scheme, event_id } = self.pack.description();
        SourceDescription {
            provider: self.pack.name(),
            signature_headers,
            scheme,
            event_id,
            trust: self.trust,
            secrets: self.secrets,
        }
    }

    fn sign(&self, body: &[u8], now: Timestamp) -> Result<SignedRequest, CannotSign> {
        self.pack.sign(body, now)
    }
}
