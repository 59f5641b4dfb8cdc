//! One test's world: `payonce` on a data folder of its own, its dead letters, and a browser.

use std::time::Duration;

use adapters::clock::SystemClock;
use adapters::outbound::sqlite::{SqliteDeadLetters, SqliteSettings, SqliteStore};
use application::dead_letter::{LetterFilter, LetterState, NewDeadLetter};
use application::ports::clock::Clock;
use application::ports::dead_letters::DeadLetters;
use domain::Timestamp;
use harness::embedded_world::{EmbeddedWorld, Payonce};
use harness::world::wait_until_ready;

use super::browser::Browser;
use super::letters::{consumer, refused};

/// How long an event may take to be applied, on a machine that is busy with other tests.
const SETTLE_TIMEOUT: Duration = Duration::from_mins(1);

/// The world.
pub struct PageWorld {
    /// The running process.
    pub payonce: Payonce,
    /// Looks at its page.
    pub browser: Browser,
    letters: SqliteDeadLetters,
    _world: EmbeddedWorld,
}

impl PageWorld {
    /// A process that is ready, and a browser that shows nothing yet.
    pub async fn start() -> Self {
        Self::start_in(EmbeddedWorld::create()).await
    }

    /// The same with other settings.
    pub async fn start_in(world: EmbeddedWorld) -> Self {
        let payonce = world.start().await;
        wait_until_ready(&payonce.ops).await;
        let settings = SqliteSettings {
            path: world.folder.path().join("payonce.db"),
            readers_max: 1,
            busy_timeout: Duration::from_secs(10),
            acquire_timeout: Duration::from_secs(10),
        };
        let store = SqliteStore::new(&settings).expect("the settings can be used");
        let letters = SqliteDeadLetters::new(store, consumer());
        Self { payonce, browser: Browser::start().await, letters, _world: world }
    }

    /// Stores letters, as the archiver does. Their numbers are in the order in which they are given.
    pub async fn store(&self, letters: Vec<NewDeadLetter>) {
        for letter in letters {
            assert_eq!(self.letters.store(vec![letter]).await.expect("the store takes it"), 1);
        }
    }

    /// Stores so many letters that failed alike.
    pub async fn store_refused(&self, count: usize) {
        let letters = (0..count).map(|number| refused(&format!("evt_{number}"), ago(count - number)));
        self.store(letters.collect()).await;
    }

    /// How many letters are in `state`.
    pub async fn count(&self, state: LetterState) -> u64 {
        let counts = self.letters.counts(&LetterFilter::default()).await.expect("the store can be read");
        counts.iter().find(|totals| totals.state == state).map_or(0, |totals| totals.letters)
    }

    /// Goes to a page.
    pub async fn open(&self, path: &str) {
        self.browser.goto(&format!("http://{}{path}", self.payonce.ops)).await;
    }

    /// Waits until the page knows the event of that id.
    pub async fn wait_until_settled(&self, event_id: &str) {
        let waited = tokio::time::timeout(SETTLE_TIMEOUT, async {
            loop {
                self.open("/events").await;
                if self.browser.text().await.contains(event_id) {
                    return;
                }
            }
        });
        waited.await.unwrap_or_else(|_| panic!("{event_id} is not settled"));
    }

    /// Ends the test: the browser must have nothing to complain of.
    pub async fn end(self) {
        assert_eq!(self.browser.complaints().await, Vec::<String>::new());
        self.payonce.process.assert_no_panic();
        self.browser.close().await;
    }
}

/// So many minutes ago.
pub fn ago(minutes: usize) -> Timestamp {
    let micros = i64::try_from(minutes).expect("few") * 60_000_000;
    Timestamp::from_micros(SystemClock.now().as_micros() - micros)
}
