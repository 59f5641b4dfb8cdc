//! What is done with dead letters.
//!
//! - [`archive`]: from the broker into the store
//! - [`replay`]: an operator sends some of them to the main queue again; [`run_replays`]: they go there
//! - [`discard`]: an operator decides that some of them shall have no effect

pub mod archive;
pub mod discard;
pub mod replay;
pub mod run_replays;

pub use archive::{ArchiveDeadLetters, ArchiveSettings};
pub use discard::DiscardDeadLetters;
pub use replay::{Edit, EditError, ReplayDeadLetters};
pub use run_replays::{RunReplays, RunReplaysSettings};
