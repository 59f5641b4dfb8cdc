//! The queue file: consuming.

mod queue;
mod subscription;

pub use queue::{ConsumeSettings, EmbeddedQueue};
