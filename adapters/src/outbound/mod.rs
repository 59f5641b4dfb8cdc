//! What the use cases drive.

pub mod amqp;
pub mod embedded;
pub mod memory;
mod payment_row;
pub mod postgres;
pub mod redis;
pub mod sqlite;
pub mod telemetry;
