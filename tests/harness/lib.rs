//! What the system tests stand on: private services, and for each test its own database, vhost and key
//! prefix, so that tests share nothing and run side by side.

pub mod client;
pub mod collector;
pub mod embedded;
pub mod embedded_world;
pub mod endpoint;
pub mod load;
pub mod postgres;
pub mod process;
pub mod proxy;
pub mod rabbitmq;
pub mod redis;
pub mod services;
pub mod sqlite;
pub mod world;

pub use services::service;
