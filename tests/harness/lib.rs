//! What the system tests stand on: private services, and for each test its own database, vhost and key
//! prefix, so that tests share nothing and run side by side.

pub mod postgres;
pub mod rabbitmq;
pub mod redis;

/// The value of a variable that `scripts/services.sh env` prints.
///
/// # Panics
/// It is not set: the test cannot run, and says what to do.
pub fn service(variable: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| {
        panic!("{variable} is not set: run ./scripts/test.sh, or `./scripts/services.sh up` and then `eval \"$(./scripts/services.sh env)\"`")
    })
}
