//! Alerts to an endpoint: signed and judged as every message is that goes to one.

use std::sync::Arc;

use application::alert::TYPE;
use application::ports::alert_channel::{AlertChannel, NotSent, RenderedAlert};
use application::ports::clock::Clock;
use application::ports::destination::{DeliveryOutcome, Destination, RenderedMessage};
use async_trait::async_trait;

use super::{HttpDestination, HttpSettings, HttpSetupError};

/// One endpoint that takes alerts.
pub struct HttpAlerts(HttpDestination);

impl HttpAlerts {
    /// The endpoint that `settings` describe. Does not connect.
    ///
    /// # Errors
    /// The URL or a secret cannot be used.
    pub fn new(settings: &HttpSettings, clock: Arc<dyn Clock>) -> Result<Self, HttpSetupError> {
        HttpDestination::new(settings, clock).map(Self)
    }
}

#[async_trait]
impl AlertChannel for HttpAlerts {
    async fn send(&self, alert: &RenderedAlert) -> Result<(), NotSent> {
        let message = RenderedMessage {
            id: alert.id.clone(),
            kind: TYPE.to_owned(),
            // None: an alert waits behind no other.
            payment: (String::new(), String::new()),
            body: alert.body.clone(),
        };
        match self.0.deliver(&[message]).await.pop() {
            Some(DeliveryOutcome::Delivered) => Ok(()),
            Some(DeliveryOutcome::Unavailable { error, .. } | DeliveryOutcome::Refused { error }) => {
                Err(NotSent(error))
            }
            Some(DeliveryOutcome::NotTried) | None => Err(NotSent("it was not tried".to_owned())),
        }
    }
}
