//! The public listener in this process, with a publisher that the test owns.

use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use adapters::clock::SystemClock;
use adapters::inbound::http::{HttpSettings, serve};
use adapters::providers::native::NativeProvider;
use application::Envelope;
use application::ports::event_publisher::{EventPublisher, PublishError};
use application::ports::observer::MockObserver;
use application::ports::provider::{Provider, Sources};
use application::use_cases::accept_event::AcceptEvent;
use async_trait::async_trait;
use domain::SourceName;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Limits that suit a test.
pub fn settings() -> HttpSettings {
    HttpSettings {
        body_bytes_max: 64 * 1024,
        body_deadline: Duration::from_secs(5),
        header_timeout: Duration::from_secs(5),
        keep_alive: Duration::from_secs(75),
        workers: 1,
        connections_max: 1_000,
        shutdown_grace: Duration::from_secs(10),
        retry_after: Duration::from_secs(7),
    }
}

/// Keeps what is published.
pub struct RecordingPublisher {
    published: Mutex<Vec<Envelope>>,
    refusing: bool,
    /// A publish takes a permit; a test that holds requests back starts with none.
    pub permits: Semaphore,
    /// How many publishes have begun.
    pub begun: Semaphore,
}

impl RecordingPublisher {
    fn new(refusing: bool, permits: usize) -> Self {
        Self {
            published: Mutex::default(),
            refusing,
            permits: Semaphore::new(permits),
            begun: Semaphore::new(0),
        }
    }

    /// What was published so far.
    pub fn published(&self) -> Vec<Envelope> {
        self.published.lock().expect("no panic elsewhere").clone()
    }
}

#[async_trait]
impl EventPublisher for RecordingPublisher {
    async fn publish(&self, envelopes: Vec<Envelope>) -> Vec<Result<(), PublishError>> {
        self.begun.add_permits(1);
        self.permits.acquire().await.expect("never closed").forget();
        if self.refusing {
            return envelopes.iter().map(|_| Err(PublishError::Unavailable("away".to_owned()))).collect();
        }
        let answers = envelopes.iter().map(|_| Ok(())).collect();
        self.published.lock().expect("no panic elsewhere").extend(envelopes);
        answers
    }
}

/// A running server.
pub struct TestServer {
    /// Where it listens.
    pub address: SocketAddr,
    /// What it publishes to.
    pub publisher: Arc<RecordingPublisher>,
    /// Stops it.
    pub stop: CancellationToken,
    /// Ends when it has stopped.
    pub stopped: JoinHandle<io::Result<()>>,
    /// The outcomes that requests were counted under.
    pub outcomes: Arc<Mutex<Vec<&'static str>>>,
    /// The places of the secrets that signatures were counted under.
    pub secrets: Arc<Mutex<Vec<usize>>>,
    /// The reasons that refused signatures were counted under.
    pub refusals: Arc<Mutex<Vec<&'static str>>>,
}

impl TestServer {
    /// Unsigned, with a publisher that takes everything.
    pub fn start() -> Self {
        Self::with(settings(), NativeProvider::unsigned())
    }

    /// With other limits or another provider.
    pub fn with(settings: HttpSettings, provider: impl Provider + 'static) -> Self {
        Self::run(settings, &[("payment", Arc::new(provider))], RecordingPublisher::new(false, 100_000))
    }

    /// With these sources.
    pub fn of(sources: &[(&str, Arc<dyn Provider>)]) -> Self {
        Self::run(settings(), sources, RecordingPublisher::new(false, 100_000))
    }

    /// With a publisher that refuses everything.
    pub fn refusing() -> Self {
        let refusing = RecordingPublisher::new(true, 100_000);
        Self::run(settings(), &[("payment", Arc::new(NativeProvider::unsigned()))], refusing)
    }

    /// With a publisher that waits for permits.
    pub fn holding() -> Self {
        let holding = RecordingPublisher::new(false, 0);
        Self::run(settings(), &[("payment", Arc::new(NativeProvider::unsigned()))], holding)
    }

    fn run(
        settings: HttpSettings,
        sources: &[(&str, Arc<dyn Provider>)],
        publisher: RecordingPublisher,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a working socket");
        let address = listener.local_addr().expect("a working socket");
        let publisher = Arc::new(publisher);
        let (outcomes, secrets, refusals) = (Arc::default(), Arc::default(), Arc::default());
        let sources: HashMap<_, _> = sources
            .iter()
            .map(|(name, provider)| (SourceName::parse(name).expect("a valid name"), provider.clone()))
            .collect();
        let accept = AcceptEvent::new(
            Sources::new(sources),
            publisher.clone(),
            Arc::new(SystemClock),
            Arc::new(observer(&outcomes, &secrets, &refusals)),
        );
        let stop = CancellationToken::new();
        let stopped = tokio::spawn(serve(listener, accept, settings, stop.clone()));
        Self { address, publisher, stop, stopped, outcomes, secrets, refusals }
    }

    /// The bodies that were published.
    pub fn bodies(&self) -> Vec<Vec<u8>> {
        let published = self.publisher.published();
        published.iter().map(|envelope| envelope.payload.to_vec()).collect()
    }
}

fn observer(
    outcomes: &Arc<Mutex<Vec<&'static str>>>,
    secrets: &Arc<Mutex<Vec<usize>>>,
    refusals: &Arc<Mutex<Vec<&'static str>>>,
) -> MockObserver {
    let (outcomes, secrets, refusals) = (outcomes.clone(), secrets.clone(), refusals.clone());
    let mut observer = MockObserver::new();
    observer
        .expect_request_answered()
        .returning(move |_, outcome, _| outcomes.lock().expect("no panic elsewhere").push(outcome));
    observer.expect_events_accepted().return_const(());
    observer
        .expect_signature_matched()
        .returning(move |_, slot| secrets.lock().expect("no panic elsewhere").push(slot));
    observer
        .expect_signature_refused()
        .returning(move |_, reason| refusals.lock().expect("no panic elsewhere").push(reason));
    observer
}
