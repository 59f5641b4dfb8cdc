//! RabbitMQ: consuming.

mod acknowledge;
mod dead_letters;
mod queue;
mod subscription;

pub use dead_letters::{AmqpDeadLetterQueue, DeadLetterSettings};
pub use queue::{AmqpQueue, ConsumeSettings};
