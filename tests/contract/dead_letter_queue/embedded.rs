//! Dead letters in a file of its own, and what they owe to being in a file.

use std::sync::Arc;
use std::time::Duration;

use adapters::inbound::embedded::{
    ConsumeSettings, DeadLetterSettings, EmbeddedDeadLetterQueue, EmbeddedQueue,
};
use adapters::outbound::embedded::{EmbeddedBroker, EmbeddedPublisher, EmbeddedSettings, UNCLEAN_STOPS_MAX};
use application::ports::dead_letter_queue::DeadLetterQueue;
use application::ports::event_publisher::EventPublisher;
use application::ports::event_queue::{EventQueue, QueueInspector};
use application::testing::envelope;
use async_trait::async_trait;
use bytes::Bytes;
use harness::embedded::{TestDataFolder, open_queue};

use super::{
    Fixture, LINGER, Setup, WORKER, acknowledge, give_up, give_up_numbers, ids, numbers, subscribe, take,
};

pub struct EmbeddedFixture {
    folder: TestDataFolder,
    broker: Arc<EmbeddedBroker>,
    publisher: Arc<EmbeddedPublisher>,
    events: Arc<EmbeddedQueue>,
    letters: Arc<EmbeddedDeadLetterQueue>,
    settings: DeadLetterSettings,
}

impl EmbeddedFixture {
    async fn open(folder: TestDataFolder, settings: DeadLetterSettings) -> Self {
        let own = EmbeddedSettings { worker: Some(WORKER.to_owned()), ..folder.settings() };
        let broker = open_queue(&own).await;
        Self {
            publisher: broker.publisher(),
            events: broker.queue(ConsumeSettings::default()),
            letters: broker.dead_letter_queue(settings),
            folder,
            broker,
            settings,
        }
    }

    fn tool(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.folder.queue()).expect("opened")
    }
}

#[async_trait]
impl Fixture for EmbeddedFixture {
    async fn new(setup: Setup) -> Self {
        let settings = DeadLetterSettings {
            in_hand_max: setup.in_hand_max,
            in_hand_bytes_max: setup.in_hand_bytes_max,
            linger: LINGER,
        };
        Self::open(TestDataFolder::create(), settings).await
    }

    fn publisher(&self) -> Arc<dyn EventPublisher> {
        self.publisher.clone()
    }

    fn events(&self) -> Arc<dyn EventQueue> {
        self.events.clone()
    }

    fn letters(&self) -> Arc<dyn DeadLetterQueue> {
        self.letters.clone()
    }

    async fn put_unreadable(&self, payload: Bytes) {
        give_up(self, vec![envelope("evt_odd", payload)]).await;
        let spoiled = self.tool().execute("UPDATE dead_letters SET source = 'No Such/Name'", []);
        assert_eq!(spoiled, Ok(1));
    }

    async fn killed(self) -> Self {
        let copy = self.folder.copy();
        Self::open(copy, self.settings).await
    }
}

crate::dead_letter_queue_contract!(contract, crate::dead_letter_queue::embedded::EmbeddedFixture);

async fn fixture() -> EmbeddedFixture {
    EmbeddedFixture::new(Setup::default()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn letters_come_in_their_order() {
    let fixture = EmbeddedFixture::new(Setup { in_hand_max: 4, ..Setup::default() }).await;
    give_up_numbers(&fixture, 0..12).await;
    let mut subscription = subscribe(&fixture).await;
    for first in [0, 4, 8] {
        let taken = take(&mut *subscription, 4).await;
        assert_eq!(ids(&taken), numbers(first..first + 4));
        acknowledge(&mut *subscription, &taken).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_letter_with_more_bytes_than_the_bound_comes_alone() {
    let fixture = EmbeddedFixture::new(Setup { in_hand_bytes_max: 100, ..Setup::default() }).await;
    let sent = ["evt_1", "evt_2"].map(|id| envelope(id, vec![0_u8; 101]));
    give_up(&fixture, sent.to_vec()).await;
    let mut subscription = subscribe(&fixture).await;
    for _ in 0..2 {
        let taken = take(&mut *subscription, 1).await;
        acknowledge(&mut *subscription, &taken).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_the_queue_ends_the_subscriptions() {
    let fixture = fixture().await;
    let mut subscription = subscribe(&fixture).await;
    let (ended, ()) = futures::join!(subscription.next_batch(), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        fixture.broker.close().await;
    });
    assert!(ended.is_err(), "{ended:?}");
    assert!(fixture.letters.subscribe().await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_ended_the_process_too_often_comes_as_the_broker_s_own() {
    let fixture = fixture().await;
    fixture.publisher.publish(vec![envelope("evt_1", "{}")]).await.remove(0).expect("published");
    // As after all unclean stops but one.
    let counted = fixture.tool().execute("UPDATE events SET unclean_stops = ?", [UNCLEAN_STOPS_MAX - 1]);
    assert_eq!(counted, Ok(1));
    let mut events = fixture.events.subscribe().await.expect("subscribed");
    events.next_batch().await.expect("handed out");
    let fixture = fixture.killed().await;
    let letter = take(&mut *subscribe(&fixture).await, 1).await.remove(0);
    assert_eq!(letter.reason.as_deref(), Some("delivery_limit"));
    assert_eq!(letter.worker, None);
    assert!(letter.detail.expect("a detail").contains("20 times"));
}

#[tokio::test(flavor = "multi_thread")]
async fn acknowledging_many_costs_one_commit() {
    let fixture = fixture().await;
    give_up_numbers(&fixture, 0..40).await;
    let mut subscription = subscribe(&fixture).await;
    let taken = take(&mut *subscription, 40).await;
    let before = fixture.broker.commits();
    acknowledge(&mut *subscription, &taken).await;
    assert_eq!(fixture.broker.commits() - before, 1);
    assert_eq!(fixture.broker.inspector().depths().await.expect("counted").dead_letters, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn letters_of_the_release_before_come_too() {
    let fixture = fixture().await;
    give_up_numbers(&fixture, 0..2).await;
    fixture.broker.close().await;
    // The file as that release knew it.
    let tool = fixture.tool();
    tool.execute_batch(
        "ALTER TABLE dead_letters DROP COLUMN worker; ALTER TABLE events DROP COLUMN queued_at; \
         DELETE FROM __diesel_schema_migrations WHERE version > '20261129000001'",
    )
    .expect("taken back");
    drop(tool);
    let EmbeddedFixture { folder, settings, .. } = fixture;
    let fixture = EmbeddedFixture::open(folder, settings).await;
    let taken = take(&mut *subscribe(&fixture).await, 2).await;
    assert_eq!(ids(&taken), numbers(0..2));
    assert!(taken.iter().all(|letter| letter.worker.is_none()));
}
