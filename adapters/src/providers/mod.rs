//! One module a payment provider.

pub mod native;
