//! What the use cases drive.

pub mod amqp;
mod balance_changes;
pub mod command;
mod dead_letter_sql;
pub mod embedded;
mod event_sql;
pub mod http;
mod invariants;
pub mod memory;
mod outbox_settlement;
mod outbox_time;
mod payment_row;
pub mod postgres;
mod purged;
pub mod quarantine;
pub mod redis;
pub mod sqlite;
pub mod telemetry;
mod view_rows;
