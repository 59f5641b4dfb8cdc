//! The private services that `scripts/services.sh` starts.

use std::process::Stdio;

use tokio::process::Command;

/// The value of a variable that `scripts/services.sh env` prints.
///
/// # Panics
/// It is not set: the test cannot run, and says what to do.
pub fn service(variable: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| {
        panic!(
            "{variable} is not set: run ./scripts/test.sh, or `./scripts/services.sh up` and then `eval \"$(./scripts/services.sh env)\"`"
        )
    })
}

/// `services.sh COMMAND NAME`, such as `kill rabbitmq` and `start rabbitmq`. Only tests that run alone may
/// do that (the binary `faults`).
///
/// # Panics
/// It fails.
pub async fn control(command: &str, name: &str) {
    run(&[command, name]).await;
}

/// Sets one of RabbitMQ's own settings, such as `consumer_timeout`, for everything that is opened from now on and
/// until it is started again. Only tests that run alone may do that.
///
/// # Panics
/// It fails.
pub async fn set_in_broker(setting: &str, value: u32) {
    run(&["rabbitmqctl", "eval", &format!("application:set_env(rabbit, {setting}, {value}).")]).await;
}

async fn run(arguments: &[&str]) {
    let output = Command::new(service("PAYONCE_TEST_SERVICES"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .await
        .expect("services.sh runs");
    assert!(
        output.status.success(),
        "services.sh {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}
