//! The ops listener: health and metrics, who is let in, and the API over a store and a quarantine of the test's
//! own.

mod access;
mod health;
mod letters;
mod listener;
mod page;
mod quarantine;
mod reading;
mod replays;
mod tokens;
