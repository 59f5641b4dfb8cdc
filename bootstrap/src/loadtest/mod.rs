//! The instrument: drives a running system, and says what it took, how fast, and whether all of it is there.
//!
//! - `plan`, `pace`: what is sent and when; `event`, `signing`: how it looks
//! - `send`, `connection`, `tally`: sending, and counting the answers
//! - `drain`: waiting for the commits, told by `system` (payonce) or by `count_query` (anything)
//! - `age`: the workers' own figures; `accounting`: is every accepted event somewhere
//! - `run`: all of it in order; `report`: what comes of it; `screen`: meanwhile

mod accounting;
mod age;
mod args;
mod connection;
mod count_query;
mod drain;
mod event;
mod pace;
mod plan;
mod report;
mod run;
mod screen;
mod send;
mod signing;
mod system;
mod tally;

pub use accounting::Accounting;
pub use args::LoadtestArgs;
pub use report::{AcceptLatency, AgeAtCommit, LoadtestReport};
pub use run::run;
pub use system::SystemUnderTest;
