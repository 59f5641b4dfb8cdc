//! The quarantine of rejected requests: in a file, or in memory.
//!
//! - [`settings`]: the limits
//! - [`file`](mod@file): a SQLite file, which outlives the process; [`keeper`] is its thread, [`rows`] its table
//! - [`memory`]: for receivers without a disk

mod file;
mod keeper;
mod memory;
mod rows;
mod settings;

pub use file::FileQuarantine;
pub use memory::MemoryQuarantine;
pub use settings::QuarantineLimits;
