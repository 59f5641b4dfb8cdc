//! What a unit of work does to the tables: a statement for each table and verb, over any number of rows.
//!
//! - [`claims`]: the idempotency keys, and what had no effect
//! - [`payments`], [`facts`], [`ledger`], [`outbox`]: what events change
//!
//! Every statement takes its locks in the order of the keys, byte by byte (`COLLATE "C"`) or as the domain
//! orders them, so that two batches with the same keys never wait for each other in a circle. A conflict is
//! let pass only on the table's own key: any other unique rule is somebody's business rule, and breaking it is
//! an error.

pub(super) mod claims;
pub(super) mod facts;
pub(super) mod ledger;
pub(super) mod outbox;
pub(super) mod payments;
