//! The queue file: consuming.

mod dead_letters;
mod queue;
mod subscription;

pub use dead_letters::{DeadLetterSettings, EmbeddedDeadLetterQueue};
pub use queue::{ConsumeSettings, EmbeddedQueue};
