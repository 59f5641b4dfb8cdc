//! What drives the use cases.

pub mod amqp;
pub mod http;
pub mod ops;
