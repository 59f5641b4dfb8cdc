//! The ops listener in this process.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use adapters::inbound::ops::access::{Access, AccessSettings, Deadlines};
use adapters::inbound::ops::masking::Masking;
use adapters::inbound::ops::services::{OpsServices, StoreServices};
use adapters::inbound::ops::{Metrics, OpsListener, serve};
use adapters::outbound::sqlite::{
    SqliteAudit, SqliteDeadLetters, SqliteEventReader, SqliteOutbox, SqlitePaymentReader, SqliteStore,
    SqliteUnitOfWork,
};
use adapters::providers::native::NativeProvider;
use application::dead_letter::NewDeadLetter;
use application::ports::clock::Clock;
use application::ports::dead_letters::DeadLetters;
use application::ports::event_queue::{MockQueueInspector, QueueDepths};
use application::ports::provider::Sources;
use application::ports::readiness::ReadinessCheck;
use application::testing::dead_letters::consumer;
use application::testing::sources_of;
use application::use_cases::ReviewQuarantine;
use application::use_cases::dead_letters::{DiscardDeadLetters, ReplayDeadLetters};
use domain::Timestamp;
use harness::sqlite::TestFile;
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::client::{Answer, send};

/// A moment in the past, at which a test's clock begins.
pub const START: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

/// A clock that a test moves.
#[derive(Debug, Clone)]
pub struct HandClock(Arc<AtomicI64>);

impl HandClock {
    fn new() -> Self {
        Self(Arc::new(AtomicI64::new(START.as_micros())))
    }

    /// Moves it.
    pub fn advance(&self, by: std::time::Duration) {
        self.0.fetch_add(i64::try_from(by.as_micros()).expect("a short while"), Ordering::SeqCst);
    }
}

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}

/// What a listener is made of.
pub struct Setup {
    /// Where it is said to listen; the test itself always comes by loopback.
    pub address: IpAddr,
    /// Who is let in.
    pub tokens_file: Option<PathBuf>,
    /// Further hosts.
    pub hosts: Vec<String>,
    /// The store.
    pub store: Option<StoreServices>,
    /// The rejected requests.
    pub quarantine: Option<Arc<ReviewQuarantine>>,
    /// The parts that it depends on.
    pub checks: Vec<Arc<dyn ReadinessCheck>>,
    /// The metrics.
    pub metrics: Metrics,
    /// How long answers may take.
    pub deadlines: Deadlines,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            tokens_file: None,
            hosts: Vec::new(),
            store: None,
            quarantine: None,
            checks: Vec::new(),
            metrics: Arc::new(|| Ok(String::new())),
            deadlines: Deadlines::default(),
        }
    }
}

/// A running listener.
pub struct Ops {
    /// Where it listens.
    pub address: SocketAddr,
    /// Its clock.
    pub clock: HandClock,
    /// Makes it say that it is not ready.
    pub draining: CancellationToken,
    /// Stops it.
    pub stop: CancellationToken,
    /// Ends when it has stopped.
    pub stopped: JoinHandle<io::Result<()>>,
}

impl Ops {
    /// Starts it.
    pub fn start(setup: Setup) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let (draining, stop, clock) = (CancellationToken::new(), CancellationToken::new(), HandClock::new());
        let access = AccessSettings {
            address: setup.address,
            tokens_file: setup.tokens_file,
            hosts: setup.hosts,
            cookie_secure: false,
        };
        let mut queue = MockQueueInspector::new();
        queue.expect_depths().returning(|| Ok(QueueDepths { main: 3, retry: 2, dead_letters: 1 }));
        let services = OpsServices {
            consumer: consumer(),
            sources: vec![application::testing::source_name()],
            queue: setup.store.is_some().then(|| Arc::new(queue) as _),
            store: setup.store,
            quarantine: setup.quarantine,
            checks: setup.checks,
            metrics: setup.metrics,
            clock: Arc::new(clock.clone()),
            masking: Masking::new(["email"]),
        };
        let serving = OpsListener {
            services: Arc::new(services),
            access: Arc::new(Access::new(&access, Arc::new(clock.clone())).expect("usable settings")),
            draining: draining.clone(),
            deadlines: setup.deadlines,
        };
        let stopped = tokio::spawn(serve(listener, serving, stop.clone()));
        Self { address, clock, draining, stop, stopped }
    }

    /// `GET` of a path.
    pub async fn get(&self, path: &str) -> Answer {
        send(self.address, "GET", path, &[], b"").await
    }

    /// `GET` of a path that must work, as JSON.
    pub async fn read(&self, path: &str) -> Value {
        let answer = self.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        answer.json()
    }

    /// `POST` of JSON.
    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        let headers = [("Content-Type", "application/json")];
        send(self.address, "POST", path, &headers, body.to_string().as_bytes()).await
    }

    /// What operators have done, the newest first: who, what, to what, why.
    pub async fn actions(&self) -> Vec<[String; 4]> {
        let document = self.read("/api/operator-actions").await;
        let text = |action: &Value, member: &str| action[member].as_str().expect("a text").to_owned();
        let actions = document["actions"].as_array().expect("actions");
        actions.iter().map(|action| ["actor", "what", "target", "why"].map(|it| text(action, it))).collect()
    }
}

/// A store of the test's own.
pub struct TestStore {
    /// The file, gone with it.
    _file: TestFile,
    store: SqliteStore,
}

impl TestStore {
    /// An empty one.
    pub async fn create() -> Self {
        let file = TestFile::create().await;
        let store = file.store();
        Self { _file: file, store }
    }

    /// What operators do with it.
    pub fn services(&self) -> StoreServices {
        let letters = Arc::new(SqliteDeadLetters::new(self.store.clone(), consumer()));
        let sources: Sources = sources_of(NativeProvider::unsigned());
        StoreServices {
            replay: ReplayDeadLetters::new(letters.clone(), letters.clone(), sources),
            discard: DiscardDeadLetters::new(letters.clone()),
            jobs: letters.clone(),
            actions: letters.clone(),
            letters,
            payments: Arc::new(SqlitePaymentReader::new(self.store.clone(), consumer())),
            events: Arc::new(SqliteEventReader::new(self.store.clone(), consumer())),
            audit: Arc::new(SqliteAudit::new(self.store.clone(), consumer())),
            outbox: Arc::new(SqliteOutbox::new(self.store.clone(), consumer())),
        }
    }

    /// Stores dead letters.
    pub async fn keep(&self, letters: Vec<NewDeadLetter>) {
        let store = SqliteDeadLetters::new(self.store.clone(), consumer());
        store.store(letters).await.expect("they are stored");
    }

    /// What applies events to it.
    pub fn unit_of_work(&self) -> SqliteUnitOfWork {
        SqliteUnitOfWork::new(self.store.clone(), consumer())
    }

    /// A listener on loopback without tokens, over it.
    pub fn listen(&self) -> Ops {
        Ops::start(Setup { store: Some(self.services()), ..Setup::default() })
    }
}
