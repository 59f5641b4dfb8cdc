//! What payonce does.

pub mod accept_event;
pub mod audit;
pub mod consume_events;
pub mod process_events;

pub use accept_event::{AcceptError, AcceptEvent};
pub use audit::{Audit, AuditReport};
pub use consume_events::{ConsumeEvents, ConsumeSettings};
pub use process_events::ProcessEvents;
