//! RabbitMQ: the topology, what a message looks like, and publishing.
//!
//! lapin's own recovery is not used: it recovers connections but not channels, and hides the gap in which
//! acknowledgements and confirms are lost. Whoever needs the broker opens a fresh connection with fresh
//! channels, so that nothing of the old one can be mistaken for the new one's.

pub mod announcer;
mod confirm_channel;
pub mod connection;
pub mod inspector;
pub mod publisher;
pub mod topology;
pub mod wire;

pub use announcer::AmqpAnnouncer;
pub(crate) use confirm_channel::{ConfirmChannel, Outcome, Outgoing};
pub use connection::{AmqpSettings, ConnectError};
pub use inspector::AmqpInspector;
pub use publisher::{AmqpPublisher, Audience, PublisherSettings};
