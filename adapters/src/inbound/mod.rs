//! What drives the use cases.

pub mod amqp;
pub mod embedded;
mod held;
pub mod http;
pub mod ops;
mod problem;
