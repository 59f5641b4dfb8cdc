//! Dead letters, replay jobs and operator actions, in SQL that both databases understand.
//!
//! These tables are written and searched by people's orders, not by every event, so what counts is that both
//! stores do the same, and not the last bit of speed. So each statement is written once, and so is each
//! sequence of statements; an adapter brings a connection and a transaction.
//!
//! - [`composed`]: a statement of text and values, and the few words that differ between the databases
//! - [`statements`]: what an adapter brings
//! - [`rows`], [`job_rows`]: between rows and what the ports speak of
//! - [`scope`]: which letters a statement is about
//! - [`storing`], [`listing`], [`totals`], [`discarding`]: the letters
//! - [`jobs`], [`freezing`], [`members`], [`marking`]: replay jobs
//! - [`alerting`]: which groups of failures somebody was told of
//! - [`actions`]: what operators have done

pub(in crate::outbound) mod actions;
pub(in crate::outbound) mod alerting;
mod composed;
pub(in crate::outbound) mod discarding;
pub(in crate::outbound) mod freezing;
mod job_rows;
pub(in crate::outbound) mod jobs;
pub(in crate::outbound) mod listing;
pub(in crate::outbound) mod marking;
pub(in crate::outbound) mod members;
mod rows;
pub(in crate::outbound) mod scope;
mod statements;
pub(in crate::outbound) mod storing;
pub(in crate::outbound) mod totals;

pub(in crate::outbound) use composed::Composed;
pub(in crate::outbound) use statements::{Row, Statements};
