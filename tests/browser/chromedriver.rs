//! A `ChromeDriver` of the test's own, on a free port.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// How long it may take to say where it listens, on a machine that is busy with other tests.
const START_TIMEOUT: Duration = Duration::from_mins(1);

/// What it says then, before the port.
const STARTED: &str = "started successfully on port ";

/// The variable that names another `ChromeDriver`, and where Debian has its own.
const DRIVER: (&str, &str) = ("PAYONCE_TEST_CHROMEDRIVER", "/usr/bin/chromedriver");

/// The same for the browser.
const BROWSER: (&str, &str) = ("PAYONCE_TEST_CHROMIUM", "/usr/bin/chromium");

/// A running `ChromeDriver`. Killed when dropped.
pub struct ChromeDriver {
    url: String,
    _child: Child,
}

/// Where the browser is.
pub fn chromium() -> PathBuf {
    program(BROWSER, "chromium")
}

fn program((variable, usual): (&str, &str), package: &str) -> PathBuf {
    let path = std::env::var_os(variable).map_or_else(|| PathBuf::from(usual), PathBuf::from);
    assert!(
        path.exists(),
        "{} is not there: install {package} (Debian: apt-get install chromium chromium-driver), or set {variable}",
        path.display()
    );
    path
}

impl ChromeDriver {
    /// Starts one, and waits until it listens.
    pub async fn start() -> Self {
        let mut child = Command::new(program(DRIVER, "chromium-driver"))
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("ChromeDriver can be started");
        let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
        let port = tokio::time::timeout(START_TIMEOUT, async {
            while let Ok(Some(line)) = lines.next_line().await {
                if let Some((_, port)) = line.split_once(STARTED) {
                    return port.trim_end_matches('.').to_owned();
                }
            }
            panic!("ChromeDriver ended before it said where it listens");
        });
        let port = port.await.expect("ChromeDriver says where it listens");
        // It goes on talking; nobody may hold it up.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self { url: format!("http://127.0.0.1:{port}"), _child: child }
    }

    /// Where it listens.
    pub fn url(&self) -> &str {
        &self.url
    }
}
