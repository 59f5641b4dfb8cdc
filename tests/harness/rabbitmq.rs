//! The test RabbitMQ, with a vhost for each test, and the faults that a test may cause in it.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use adapters::outbound::amqp::{AmqpSettings, topology};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use lapin::options::{
    BasicGetOptions, BasicPublishOptions, ExchangeDeleteOptions, QueueDeclareOptions, QueueDeleteOptions,
    QueuePurgeOptions,
};
use lapin::types::FieldTable;
use lapin::{BasicProperties, Channel, Connection, ConnectionProperties};
use serde_json::{Value, json};
use url::Url;

mod proxy;

pub use proxy::AmqpProxy;

/// The name of the connection by which the harness itself looks and meddles; faults spare it.
const HARNESS: &str = "harness";

/// A vhost of its own on the test RabbitMQ, deleted when dropped.
pub struct TestVhost {
    /// Its name.
    pub name: String,
    url: Url,
    connection: Connection,
}

impl TestVhost {
    /// A new, empty vhost.
    ///
    /// # Panics
    /// The broker or its management API does not answer.
    pub async fn create() -> Self {
        let name = format!("test-{:016x}", RandomState::new().build_hasher().finish());
        let mut url = Url::parse(&crate::service("PAYONCE_TEST_AMQP_URL")).expect("an AMQP URL");
        url.set_path(&name);
        make(name.clone(), url.username().to_owned()).await;
        let connection = connect(&url).await;
        Self { name, url, connection }
    }

    /// Deletes it with all that is in it, and makes it anew.
    ///
    /// # Panics
    /// The broker or its management API does not answer.
    pub async fn recreate(&mut self) {
        let deleted = self.name.clone();
        tokio::task::spawn_blocking(move || api("DELETE", &format!("vhosts/{deleted}"), &Value::Null))
            .await
            .expect("the vhost is deleted");
        make(self.name.clone(), self.url.username().to_owned()).await;
        self.reconnect().await;
    }

    /// Connects anew, as after the broker was restarted.
    ///
    /// # Panics
    /// The broker does not answer.
    pub async fn reconnect(&mut self) {
        self.connection = connect(&self.url).await;
    }

    /// Its AMQP URL.
    pub fn url(&self) -> String {
        self.url.as_str().to_owned()
    }

    /// Host and port of the broker.
    ///
    /// # Panics
    /// The URL has none.
    pub fn address(&self) -> (String, u16) {
        let host = self.url.host_str().expect("a host").to_owned();
        (host, self.url.port().unwrap_or(5672))
    }

    /// Its AMQP URL by way of another port of this machine.
    ///
    /// # Panics
    /// Never: the URL can have a port.
    pub fn url_by_port(&self, port: u16) -> String {
        let mut url = self.url.clone();
        url.set_host(Some("127.0.0.1")).expect("an address");
        url.set_port(Some(port)).expect("a port");
        url.into()
    }

    /// Settings that suit a test: one retry tier of 200 ms.
    pub fn settings(&self) -> AmqpSettings {
        let tiers = vec![Duration::from_millis(200)];
        AmqpSettings::new(self.url().into(), "payonce-test".to_owned(), Duration::from_secs(5), tiers)
    }

    /// A channel of the harness's own connection.
    ///
    /// # Panics
    /// None opens.
    pub async fn channel(&self) -> Channel {
        self.connection.create_channel().await.expect("a channel")
    }

    /// Closes every connection to this vhost but the harness's own, from the broker's side. Waits until
    /// there is one to close.
    ///
    /// # Panics
    /// There is none after a while.
    pub async fn close_all_connections(&self) {
        let vhost = self.name.clone();
        let closed = tokio::task::spawn_blocking(move || {
            for _ in 0..100 {
                let list = api("GET", &format!("vhosts/{vhost}/connections"), &Value::Null);
                let names: Vec<String> = list.as_array().map_or_else(Vec::new, |connections| {
                    connections
                        .iter()
                        .filter(|connection| connection["user_provided_name"] != HARNESS)
                        .filter_map(|connection| connection["name"].as_str().map(str::to_owned))
                        .collect()
                });
                for name in &names {
                    let name = name.replace(' ', "%20").replace('>', "%3E");
                    api("DELETE", &format!("connections/{name}"), &Value::Null);
                }
                if !names.is_empty() {
                    return true;
                }
                std::thread::sleep(Duration::from_millis(100));
            }
            false
        });
        assert!(closed.await.expect("the API answers"), "no connection to close");
    }

    /// Deletes a queue, with what is in it.
    ///
    /// # Panics
    /// The broker refuses.
    pub async fn delete_queue(&self, queue: &str) {
        let deleted = self.channel().await.queue_delete(queue.into(), QueueDeleteOptions::default()).await;
        deleted.expect("the queue is deleted");
    }

    /// Deletes the main exchange.
    ///
    /// # Panics
    /// The broker refuses.
    pub async fn delete_main_exchange(&self) {
        let options = ExchangeDeleteOptions::default();
        let deleted = self.channel().await.exchange_delete(topology::MAIN_EXCHANGE.into(), options).await;
        deleted.expect("the exchange is deleted");
    }

    /// Takes the main queue off the main exchange.
    ///
    /// # Panics
    /// The broker refuses.
    pub async fn unbind_main(&self) {
        let channel = self.channel().await;
        let unbound = channel.queue_unbind(
            topology::MAIN_QUEUE.into(),
            topology::MAIN_EXCHANGE.into(),
            topology::MAIN_ROUTING_KEY.into(),
            FieldTable::default(),
        );
        unbound.await.expect("the queue is unbound");
    }

    /// Puts the main queue on the main exchange.
    ///
    /// # Panics
    /// The broker refuses.
    pub async fn bind_main(&self) {
        let channel = self.channel().await;
        let bound = channel.queue_bind(
            topology::MAIN_QUEUE.into(),
            topology::MAIN_EXCHANGE.into(),
            topology::MAIN_ROUTING_KEY.into(),
            lapin::options::QueueBindOptions::default(),
            FieldTable::default(),
        );
        bound.await.expect("the queue is bound");
    }

    /// Takes everything off a queue.
    ///
    /// # Panics
    /// There is no such queue.
    pub async fn get_all(&self, queue: &str) -> Vec<(BasicProperties, Vec<u8>)> {
        let (channel, mut all) = (self.channel().await, Vec::new());
        loop {
            let got = channel.basic_get(queue.into(), BasicGetOptions { no_ack: true }).await;
            match got.expect("the queue exists") {
                Some(message) => all.push((message.delivery.properties, message.delivery.data)),
                None => return all,
            }
        }
    }

    /// Empties a queue.
    ///
    /// # Panics
    /// The broker refuses.
    pub async fn purge(&self, queue: &str) {
        let purged = self.channel().await.queue_purge(queue.into(), QueuePurgeOptions::default()).await;
        purged.expect("the queue is purged");
    }

    /// How many messages of a queue are ready.
    ///
    /// # Panics
    /// There is no such queue.
    pub async fn depth(&self, queue: &str) -> u32 {
        let options = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::durable() };
        let declared = self.channel().await.queue_declare(queue.into(), options, FieldTable::default()).await;
        declared.expect("the queue exists").message_count()
    }

    /// Waits until a queue has `count` messages ready.
    ///
    /// # Panics
    /// It does not within ten seconds.
    pub async fn wait_for_depth(&self, queue: &str, count: u32) {
        for _ in 0..100 {
            if self.depth(queue).await == count {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("{queue} has {} messages, not {count}", self.depth(queue).await);
    }

    /// Declares a queue with these arguments.
    ///
    /// # Panics
    /// The broker refuses.
    pub async fn declare_queue(&self, queue: &str, arguments: FieldTable) {
        let options = QueueDeclareOptions::durable();
        let declared = self.channel().await.queue_declare(queue.into(), options, arguments).await;
        declared.expect("the queue is declared");
    }

    /// Takes the next message off a queue.
    ///
    /// # Panics
    /// There is no such queue.
    pub async fn get(&self, queue: &str) -> Option<(BasicProperties, Vec<u8>)> {
        let got = self.channel().await.basic_get(queue.into(), BasicGetOptions { no_ack: true }).await;
        got.expect("the queue exists").map(|message| (message.delivery.properties, message.delivery.data))
    }

    /// Puts any message into a queue.
    ///
    /// # Panics
    /// The broker refuses.
    pub async fn put(&self, queue: &str, properties: BasicProperties, payload: &[u8]) {
        let channel = self.channel().await;
        channel.confirm_select(lapin::options::ConfirmSelectOptions::default()).await.expect("confirms");
        let options = BasicPublishOptions::default();
        let published = channel.basic_publish("".into(), queue.into(), options, payload, properties).await;
        published.expect("published").await.expect("confirmed");
    }
}

impl Drop for TestVhost {
    fn drop(&mut self) {
        request("DELETE", &format!("vhosts/{}", self.name), &Value::Null).ok();
    }
}

async fn make(vhost: String, user: String) {
    tokio::task::spawn_blocking(move || {
        api("PUT", &format!("vhosts/{vhost}"), &json!({}));
        let all = json!({"configure": ".*", "write": ".*", "read": ".*"});
        api("PUT", &format!("permissions/{vhost}/{user}"), &all);
    })
    .await
    .expect("the vhost is made");
}

async fn connect(vhost: &Url) -> Connection {
    let properties = ConnectionProperties::default().with_connection_name(HARNESS.into());
    Connection::connect(vhost.as_str(), properties).await.expect("a connection to the vhost")
}

/// Asks the management API.
fn api(method: &str, path: &str, body: &Value) -> Value {
    let (status, answer) = request(method, path, body).expect("the management API answers");
    // A connection may be gone before it is closed.
    assert!(status < 300 || status == 404, "{method} {path}: {status} {answer}");
    answer
}

fn request(method: &str, path: &str, body: &Value) -> std::io::Result<(u16, Value)> {
    let base = Url::parse(&crate::service("PAYONCE_TEST_RABBITMQ_API")).map_err(std::io::Error::other)?;
    let host = base.host_str().unwrap_or("127.0.0.1");
    let port = base.port().unwrap_or(15672);
    let login = format!("{}:{}", base.username(), base.password().unwrap_or_default());
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let mut stream = TcpStream::connect((host, port))?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    // HTTP/1.0: the answer ends with the connection and is not chunked.
    write!(
        stream,
        "{method} /api/{path} HTTP/1.0\r\nAuthorization: Basic {}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        BASE64_STANDARD.encode(login),
        body.len()
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Ok((status, serde_json::from_str(body).unwrap_or(Value::Null)))
}
