//! The public and the ops listener over real sockets, with a publisher that the test owns.

mod accepting;
mod answers;
mod client;
mod field_cases;
mod limits;
mod ops;
mod payloads;
mod refusing;
mod server;
mod signatures;
mod slow;
mod stopping;

/// The documented event.
const EVENT: &str = r#"{"id":"evt_1","type":"payment_intent.succeeded","data":{"payment_intent":"pi_1","amount_cents":4999,"currency":"usd","status":"succeeded"}}"#;
