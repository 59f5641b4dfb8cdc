//! How fast the disk lets it be. Not a test: run it with `--run-ignored all --no-capture`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use application::ports::event_publisher::EventPublisher;
use application::ports::event_queue::Action;
use application::testing::{envelope, succeeded_payload};

use crate::event_queue::embedded::EmbeddedFixture;
use crate::event_queue::{Fixture, Setup, next, settle, subscribe};

const CALLERS: usize = 64;
const CALLS: usize = 500;

/// The times that the calls took, and the whole.
async fn fill(publisher: Arc<dyn EventPublisher>) -> (Vec<Duration>, Duration) {
    let started = Instant::now();
    let callers = (0..CALLERS).map(|caller| {
        let publisher = Arc::clone(&publisher);
        tokio::spawn(async move {
            let mut took = Vec::with_capacity(CALLS);
            for n in 0..CALLS {
                let event = format!("evt_{caller}_{n}");
                let sent = envelope(&event, succeeded_payload(&event, "pi_1", 4999));
                let started = Instant::now();
                publisher.publish(vec![sent]).await.remove(0).expect("published");
                took.push(started.elapsed());
            }
            took
        })
    });
    let took = futures::future::join_all(callers).await;
    let mut took: Vec<_> = took.into_iter().flat_map(|took| took.expect("ended")).collect();
    took.sort_unstable();
    (took, started.elapsed())
}

async fn drain(fixture: &EmbeddedFixture, count: usize) -> Duration {
    let mut subscription = subscribe(fixture).await;
    let started = Instant::now();
    let mut seen = 0;
    while seen < count {
        let batch = next(&mut *subscription).await;
        seen += batch.len();
        settle(&mut *subscription, batch, &Action::Acknowledge).await;
    }
    started.elapsed()
}

fn report(what: &str, took: &[Duration], whole: Duration) {
    let count = took.len();
    let rate = count as f64 / whole.as_secs_f64();
    let (p50, p99) = (took[count / 2], took[count * 99 / 100]);
    println!("{what}: {rate:.0} publishes/s, p50 {p50:?}, p99 {p99:?}, max {:?}", took[count - 1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn publishing_and_consuming() {
    let setup = Setup { unsettled_max: 1024, batch_max: 256, linger: Duration::from_millis(5) };
    let fixture = EmbeddedFixture::new(setup).await;
    let (took, whole) = fill(fixture.publisher()).await;
    report("alone", &took, whole);
    println!("{} commits", fixture.broker.commits());
    let whole = drain(&fixture, CALLERS * CALLS).await;
    println!("draining: {:.0} events/s", (CALLERS * CALLS) as f64 / whole.as_secs_f64());
    let ((took, whole), drained) =
        futures::join!(fill(fixture.publisher()), drain(&fixture, CALLERS * CALLS));
    report("while consuming", &took, whole);
    println!("consuming: {:.0} events/s", (CALLERS * CALLS) as f64 / drained.as_secs_f64());
}
