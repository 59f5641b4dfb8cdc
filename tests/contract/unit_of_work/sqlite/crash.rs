//! A process that is killed.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use adapters::outbound::sqlite::{SqliteSettings, SqliteStore, SqliteUnitOfWork};
use application::testing::succeeded;
use harness::sqlite::TestFile;

use super::super::fixture::{begin, payment, save};
use super::consumer;

const FILE: &str = "PAYONCE_TEST_CRASH_FILE";
const COMMITTED: &str = "committed ";

/// What the killed process does: it says which events are committed, until the end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "is started, and killed, by the other test"]
async fn commits_until_it_is_killed() {
    let Some(path) = std::env::var_os(FILE).map(PathBuf::from) else {
        return;
    };
    let second = Duration::from_secs(1);
    let settings = SqliteSettings { path, readers_max: 1, busy_timeout: second, acquire_timeout: second };
    let unit_of_work = SqliteUnitOfWork::new(SqliteStore::new(&settings).unwrap(), consumer());
    for number in 0..100_000 {
        let id = format!("evt_{number:06}");
        let mut unit = begin(&unit_of_work).await;
        unit.claim(&[succeeded(&id, "pi_1", 5)]).await.unwrap();
        unit.save_payments(&[payment(&format!("pi_{number:06}"), 5)]).await.unwrap();
        unit.commit().await.unwrap();
        println!("{COMMITTED}{id}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_committed_survives_a_kill_and_nothing_is_half_done() {
    for units in [3, 20, 50] {
        let file = TestFile::create().await;
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "unit_of_work::sqlite::crash::commits_until_it_is_killed"])
            .args(["--include-ignored", "--nocapture"])
            .env(FILE, file.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let mut told = BTreeSet::new();
        for line in output.lines().map_while(Result::ok) {
            // The first may come behind what the test harness says.
            if let Some((_, id)) = line.split_once(COMMITTED) {
                told.insert(id.to_owned());
            }
            if told.len() == units {
                process.kill().unwrap();
            }
        }
        process.wait().unwrap();
        assert!(told.len() >= units, "it ended by itself after {told:?}");

        let ids = |query| -> BTreeSet<String> {
            super::rows(&file, query, |row| row.get::<_, String>(0)).into_iter().collect()
        };
        let events = ids("SELECT substr(event_id, 5) FROM processed_events");
        let payments = ids("SELECT substr(payment_id, 4) FROM payments");
        assert_eq!(events, payments, "a unit is half done");
        let lost: Vec<_> = told.iter().filter(|id| !events.contains(&id[4..])).collect();
        assert!(lost.is_empty(), "{lost:?} were committed");
        assert!(events.len() <= told.len() + 1);
        // Its locks are gone with it.
        let unit_of_work = SqliteUnitOfWork::new(file.store(), consumer());
        save(&unit_of_work, &[payment("pi_after", 5)]).await.unwrap();
    }
}
