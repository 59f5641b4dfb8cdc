//! A command of the operator's that is told things.

mod alerts;

pub use alerts::{CommandAlerts, CommandSettings};
