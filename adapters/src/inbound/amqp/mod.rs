//! RabbitMQ: consuming.

mod acknowledge;
mod dead_letters;
mod intake;
mod queue;
mod subscription;

pub use dead_letters::{AmqpDeadLetterQueue, DeadLetterSettings};
pub use intake::ALONE_AFTER_RETURNS;
pub use queue::{AmqpQueue, ConsumeSettings};
