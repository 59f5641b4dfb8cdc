use std::time::Duration;

use tokio::net::TcpStream;

use crate::EVENT;
use crate::client::{Connection, request};
use crate::server::TestServer;

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_finishes_the_request_in_flight_and_then_ends() {
    let server = TestServer::holding();
    let mut idle = Connection::open(server.address).await;
    let mut connection = Connection::open(server.address).await;
    let bytes = request("POST", "/webhooks/payment", &[], EVENT.as_bytes());
    assert!(connection.send(&bytes).await);
    server.publisher.begun.acquire().await.unwrap().forget();

    server.stop.cancel();
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!server.stopped.is_finished(), "a request is in flight");
    assert!(TcpStream::connect(server.address).await.is_err(), "new connections are refused");

    server.publisher.permits.add_permits(1);
    assert_eq!(connection.answer(true).await.unwrap().status, 200);
    tokio::time::timeout(Duration::from_secs(5), server.stopped)
        .await
        .expect("the server ends")
        .unwrap()
        .unwrap();
    assert!(idle.is_closed().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_without_requests_ends_at_once() {
    let server = TestServer::start();
    assert_eq!(crate::client::post(server.address, EVENT).await.status, 200);
    server.stop.cancel();
    tokio::time::timeout(Duration::from_secs(3), server.stopped)
        .await
        .expect("the server ends")
        .unwrap()
        .unwrap();
}
