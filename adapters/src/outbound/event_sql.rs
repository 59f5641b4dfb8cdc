//! Events, and the paths that they took, in SQL that both databases understand.
//!
//! As with [`dead_letter_sql`](super::dead_letter_sql), each statement is written once, and an adapter brings a
//! connection that reads one state of the store.
//!
//! - [`settled`]: the events that are settled; [`given_up`]: those that are not
//! - [`rows`]: between rows and what the port speaks of
//! - [`search`]: both, by page
//! - [`mod@path`]: what one event has done; [`deliveries`]: how its messages stand with their destinations

mod deliveries;
mod given_up;
mod path;
#[cfg(test)]
mod plans;
mod rows;
mod search;
mod settled;

pub(in crate::outbound) use path::path;
pub(in crate::outbound) use search::find;
