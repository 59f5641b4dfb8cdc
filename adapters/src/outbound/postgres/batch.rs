//! What a unit of work does to the tables: a statement for each table and verb, over any number of rows.
//!
//! - [`claims`]: the idempotency keys, and what had no effect
//! - [`payments`], [`facts`], [`ledger`], [`outbox`]: what events change
//!
//! Every statement takes its locks in the order of the keys, byte by byte (`COLLATE "C"`) or as the domain
//! orders them, so that two batches with the same keys never wait for each other in a circle. Rows are sorted here
//! and stored in the order in which `unnest` gives them, which is theirs: the server would copy each of them once
//! more to sort them, and once more again where `unnest` stands behind `FROM`.
//!
//! A conflict is let pass only on the table's own key, and only where it is nothing unusual, since looking for one
//! before each row costs as much as storing it. Any other unique rule is somebody's business rule, and breaking it is
//! an error.
//!
//! Rows that are asked for by their keys are each looked up by `LATERAL … LIMIT 1`: a join would be planned by how
//! large the server believes a table to be, once a session, and in a new store read the whole of it for every batch.

pub(super) mod claims;
pub(super) mod facts;
pub(super) mod ledger;
pub(super) mod outbox;
pub(super) mod payments;
