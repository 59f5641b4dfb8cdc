//! RabbitMQ: consuming.

mod acknowledge;
mod queue;
mod subscription;

pub use queue::{AmqpQueue, ConsumeSettings};
