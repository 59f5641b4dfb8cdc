//! What drives the use cases.

pub mod amqp;
pub mod embedded;
pub mod http;
pub mod ops;
