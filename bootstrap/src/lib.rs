#![doc = include_str!("../README.md")]

pub mod banner;
pub mod command;
pub mod config;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
pub mod lifecycle;
pub mod loadtest;
pub mod receiver;
pub mod run;
pub mod telemetry;
pub mod wiring;
pub mod worker;
