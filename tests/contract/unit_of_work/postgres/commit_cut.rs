//! F056: the connection breaks around COMMIT, so that nobody can tell whether it has happened.

use adapters::outbound::postgres::{PostgresPool, PostgresSettings, PostgresUnitOfWork};
use application::ports::unit_of_work::{Claim, StoreError};
use application::testing::succeeded;
use harness::postgres::TestDatabase;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

use super::super::fixture::{begin, payment};
use super::consumer;

const COMMIT: &[u8] = b"COMMIT\0";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    BeforeTheServerHasIt,
    AfterTheServerHasDoneIt,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_is_lost_on_the_way_has_one_effect_after_a_rerun() {
    one_effect_after_a_rerun(Cut::BeforeTheServerHasIt, Claim::Fresh).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_whose_answer_is_lost_has_one_effect_after_a_rerun() {
    one_effect_after_a_rerun(Cut::AfterTheServerHasDoneIt, Claim::Duplicate).await;
}

async fn one_effect_after_a_rerun(cut: Cut, claim_of_the_rerun: Claim) {
    let database = TestDatabase::create().await;
    let url = through_a_proxy_that_cuts(&database.url(), cut).await;
    let settings = PostgresSettings { pool_max: 1, ..TestDatabase::settings_through(&url) };
    let pool = PostgresPool::new(&settings).unwrap();
    let unit_of_work = PostgresUnitOfWork::new(pool, consumer());

    let mut unit = begin(&unit_of_work).await;
    unit.claim(&[succeeded("evt_1", "pi_1", 5)]).await.unwrap();
    unit.save_payments(&[payment("pi_1", 5)]).await.unwrap();
    let lost = unit.commit().await;
    assert!(matches!(lost, Err(StoreError::Unavailable(_))), "{lost:?}");

    let direct = PostgresUnitOfWork::new(database.pool(1), consumer());
    let mut rerun = begin(&direct).await;
    let claims = rerun.claim(&[succeeded("evt_1", "pi_1", 5)]).await.unwrap();
    assert_eq!(claims, [claim_of_the_rerun]);
    if claims == [Claim::Fresh] {
        rerun.save_payments(&[payment("pi_1", 5)]).await.unwrap();
    }
    rerun.commit().await.unwrap();

    let client = database.client().await;
    let effects =
        "SELECT (SELECT count(*) FROM processed_events), (SELECT sum(revision)::bigint FROM payments)";
    let row = client.query_one(effects, &[]).await.unwrap();
    assert_eq!((row.get::<_, i64>(0), row.get::<_, i64>(1)), (1, 1));
}

async fn through_a_proxy_that_cuts(url: &str, cut: Cut) -> String {
    let mut url = Url::parse(url).unwrap();
    let upstream = format!("{}:{}", url.host_str().unwrap(), url.port().unwrap_or(5432));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    url.set_host(Some("127.0.0.1")).unwrap();
    url.set_port(Some(listener.local_addr().unwrap().port())).unwrap();
    // What is encrypted cannot be looked into.
    url.query_pairs_mut().append_pair("sslmode", "disable");
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let server = TcpStream::connect(&upstream).await.unwrap();
            tokio::spawn(forward_until_commit(client, server, cut));
        }
    });
    url.to_string()
}

/// Forwards both ways, and drops both connections at the first COMMIT.
async fn forward_until_commit(client: TcpStream, server: TcpStream, cut: Cut) -> std::io::Result<()> {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let (mut requests, mut answers) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    loop {
        tokio::select! {
            read = from_client.read(&mut requests) => {
                let request = &requests[..read?];
                if request.is_empty() {
                    return Ok(());
                }
                let commits = request.windows(COMMIT.len()).any(|window| window == COMMIT);
                if commits && cut == Cut::BeforeTheServerHasIt {
                    return Ok(());
                }
                to_server.write_all(request).await?;
                if commits {
                    // Whatever the server says, the client never hears it.
                    let _answered = from_server.read(&mut answers).await?;
                    return Ok(());
                }
            }
            read = from_server.read(&mut answers) => {
                let answer = &answers[..read?];
                if answer.is_empty() {
                    return Ok(());
                }
                to_client.write_all(answer).await?;
            }
        }
    }
}
