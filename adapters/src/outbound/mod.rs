//! What the use cases drive.

pub mod amqp;
mod balance_changes;
pub mod command;
mod dead_letter_sql;
pub mod embedded;
pub mod http;
mod invariants;
pub mod memory;
mod outbox_settlement;
mod outbox_time;
mod payment_row;
pub mod postgres;
pub mod quarantine;
pub mod redis;
pub mod sqlite;
pub mod telemetry;
mod view_rows;
