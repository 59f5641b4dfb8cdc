//! The receiver: takes webhooks and queues them.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use application::ports::observer::Observer;
use application::ports::readiness::ReadinessCheck;
use application::use_cases::{AcceptEvent, ReviewQuarantine};
use tokio_util::sync::CancellationToken;

use adapters::clock::SystemClock;
use adapters::inbound::http::{self, HttpSettings};

use crate::config::{Config, ms};
use crate::wiring::{self, Broker, Publisher};

/// A receiver whose listener is bound.
pub struct Receiver {
    listener: TcpListener,
    address: SocketAddr,
    accept: AcceptEvent,
    publisher: Publisher,
    review: Option<Arc<ReviewQuarantine>>,
    settings: HttpSettings,
    drain_delay: Duration,
}

impl Receiver {
    /// Binds the listener and starts connecting to the broker, which may be away: requests get 503 then.
    ///
    /// # Errors
    /// The address cannot be bound, or a source cannot be set up.
    pub fn build(config: &Config, broker: &Broker, observer: Arc<dyn Observer>) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(&config.http.bind)
            .with_context(|| format!("http.bind: cannot listen on {}", config.http.bind))?;
        let address = listener.local_addr()?;
        let publisher = broker.publisher(config);
        let sources = wiring::sources(config)?;
        let mut accept = AcceptEvent::new(sources.clone(), publisher.port(), Arc::new(SystemClock), observer);
        let quarantine = wiring::quarantine(config)?;
        if let Some(quarantine) = &quarantine {
            accept = accept.with_quarantine(quarantine.clone());
        }
        let review =
            quarantine.map(|quarantine| Arc::new(ReviewQuarantine::new(quarantine, sources, accept.clone())));
        Ok(Self {
            listener,
            address,
            accept,
            publisher,
            review,
            settings: http_settings(config),
            drain_delay: ms(config.http.drain_delay_ms),
        })
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Reviews what it has refused; `None` where that is not kept.
    pub fn review(&self) -> Option<Arc<ReviewQuarantine>> {
        self.review.clone()
    }

    /// The parts that its readiness depends on.
    pub fn readiness(&self) -> Vec<Arc<dyn ReadinessCheck>> {
        vec![self.publisher.readiness()]
    }

    /// Serves until `stop`: then a moment in which only readiness is false, then no new connections, then
    /// the requests in flight finish.
    ///
    /// # Errors
    /// The listener failed.
    pub async fn run(self, stop: &CancellationToken) -> anyhow::Result<()> {
        let close = CancellationToken::new();
        let _closing = close.clone().drop_guard();
        let delayed = async {
            stop.cancelled().await;
            tokio::time::sleep(self.drain_delay).await;
            close.cancel();
            std::future::pending::<()>().await;
        };
        let serving = http::serve(self.listener, self.accept, self.settings, close.clone());
        tokio::select! {
            result = serving => result.context("the webhook listener failed")?,
            () = delayed => {}
        }
        self.publisher.close().await;
        Ok(())
    }
}

fn http_settings(config: &Config) -> HttpSettings {
    let http = &config.http;
    HttpSettings {
        body_bytes_max: http.body_bytes_max,
        body_deadline: ms(http.body_deadline_ms),
        header_timeout: ms(http.header_timeout_ms),
        keep_alive: ms(http.keep_alive_ms),
        workers: http.workers,
        connections_max: http.connections_max,
        shutdown_grace: ms(http.shutdown_grace_ms),
        retry_after: Duration::from_secs(http.retry_after_s),
    }
}
