//! What went wrong for others, over a source that is signed as Stripe signs.

mod payloads;
mod signatures;

use std::sync::Arc;

use adapters::clock::SystemClock;
use adapters::providers::registry;
use adapters::providers::settings::{Mode, SourceSettings, TOLERANCE};
use application::ports::clock::Clock;
use application::ports::provider::Provider;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Map;
use sha2::Sha256;

use crate::client::{Answer, send};
use crate::server::TestServer;

/// The secret in use, and the one that it replaces.
const SECRET: &str = "whsec_one_for_tests";
const OLD_SECRET: &str = "whsec_another_for_tests";

/// A source with these secrets, in test mode.
fn stripe(secrets: &[&str]) -> Arc<dyn Provider> {
    let settings = SourceSettings {
        secrets: secrets.iter().map(|secret| (*secret).into()).collect(),
        tolerance: TOLERANCE,
        mode: Mode::Test,
        trust: None,
        production: false,
        options: Map::new(),
    };
    let build = registry::find("stripe").expect("stripe is known");
    build(&settings).expect("the settings are usable")
}

fn server() -> TestServer {
    TestServer::of(&[("payment", stripe(&[SECRET, OLD_SECRET]))])
}

fn now() -> i64 {
    SystemClock.now().as_secs()
}

/// The hex of a `v1` signature.
fn hash(secret: &str, timestamp: i64, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("any key");
    mac.update(format!("{timestamp}.").as_bytes());
    mac.update(body);
    mac.finalize().into_bytes().iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

/// A whole header, of now.
fn header(secret: &str, body: &[u8]) -> String {
    let timestamp = now();
    format!("t={timestamp},v1={}", hash(secret, timestamp, body))
}

async fn post_with(server: &TestServer, signature: &str, body: &[u8]) -> Answer {
    let headers = [("Stripe-Signature", signature), ("Content-Type", "application/json")];
    send(server.address, "POST", "/webhooks/payment", &headers, body).await
}

/// Posts a body with a good signature.
async fn post_signed(server: &TestServer, body: &str) -> Answer {
    post_with(server, &header(SECRET, body.as_bytes()), body.as_bytes()).await
}
