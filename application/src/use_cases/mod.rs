//! What payonce does.

pub mod accept_event;
pub mod alert_failures;
pub mod audit;
pub mod consume_events;
pub mod dead_letters;
pub mod process_events;
pub mod purge_events;
pub mod purge_outbox;
pub mod purging;
pub mod relay_outbox;
pub mod review_quarantine;

pub use accept_event::{AcceptError, AcceptEvent};
pub use alert_failures::{AlertFailures, AlertSettings};
pub use audit::{Audit, AuditReport};
pub use consume_events::{ConsumeEvents, ConsumeSettings};
pub use process_events::ProcessEvents;
pub use purge_events::PurgeEvents;
pub use purge_outbox::PurgeOutbox;
pub use purging::PurgeSettings;
pub use relay_outbox::{KindFilter, RelayOutbox, RelaySettings, Route};
pub use review_quarantine::{ReviewQuarantine, Verdict};
