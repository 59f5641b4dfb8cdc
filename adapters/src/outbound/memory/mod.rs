//! Caches without a service: none at all, and one in this process's memory.

mod seen_events;

pub use seen_events::{MemorySeenEvents, NoSeenEvents};
