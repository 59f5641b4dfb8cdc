//! The real executables, started, watched and killed.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

/// How long a process may take to say where it listens, on a machine that is busy with other tests.
const START_TIMEOUT: Duration = Duration::from_mins(1);

/// The user and group id of `nobody`.
const NOBODY: u32 = 65534;

/// Where the built executables are.
///
/// # Panics
/// The test executable's own path cannot be told.
pub fn executable(name: &str) -> PathBuf {
    let folder = if let Some(folder) = std::env::var_os("PAYONCE_TEST_BIN_DIR") {
        PathBuf::from(folder)
    } else {
        // target/debug/deps/e2e-… → target/debug
        let own = std::env::current_exe().expect("a test knows its own path");
        own.ancestors().nth(2).expect("it lies in target/PROFILE/deps").to_path_buf()
    };
    let path = folder.join(name);
    assert!(path.exists(), "{} is not built: run ./scripts/test.sh", path.display());
    path
}

/// A running executable. Killed when dropped.
pub struct Process {
    child: Child,
    name: &'static str,
    lines: Arc<Mutex<Vec<String>>>,
    reader: Option<JoinHandle<()>>,
}

impl Process {
    /// Starts it with that environment and nothing else of payonce's in it.
    ///
    /// # Panics
    /// It cannot be started.
    pub fn start(name: &'static str, arguments: &[&str], environment: &[(String, String)]) -> Self {
        let mut command = Command::new(executable(name));
        command.args(arguments);
        Self::spawn(name, command, environment)
    }

    /// As [`Self::start`], with a limit on the size of every file that it writes: beyond it, writing fails as
    /// on a full disk.
    ///
    /// # Panics
    /// It cannot be started.
    pub fn start_with_file_limit(
        name: &'static str,
        file_bytes_max: u64,
        environment: &[(String, String)],
    ) -> Self {
        let blocks = file_bytes_max / 1024;
        let mut command = Command::new("bash");
        // The signal of the limit is ignored, so that the write fails instead.
        command.args(["-c", &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\"")]);
        command.arg(executable(name));
        Self::spawn(name, command, environment)
    }

    /// As [`Self::start`], as a user whom file permissions hold: root, whom they do not, becomes `nobody`. For
    /// that `folder`, with all that is in it, is given to `nobody`, and the executable is copied into it.
    ///
    /// # Panics
    /// It cannot be started.
    pub fn start_without_privileges(
        name: &'static str,
        folder: &Path,
        environment: &[(String, String)],
    ) -> Self {
        let is_root = std::fs::metadata("/proc/self").expect("a process has an entry").uid() == 0;
        if !is_root {
            return Self::start(name, &[], environment);
        }
        let copy = folder.join(name);
        std::fs::copy(executable(name), &copy).expect("the executable can be copied");
        let entries =
            std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        for path in entries.chain([folder.to_path_buf()]) {
            std::os::unix::fs::chown(&path, Some(NOBODY), Some(NOBODY)).expect("root may give files away");
        }
        let mut command = Command::new("setpriv");
        command.args([&format!("--reuid={NOBODY}"), &format!("--regid={NOBODY}"), "--clear-groups"]);
        command.arg(copy).current_dir(folder);
        Self::spawn(name, command, environment)
    }

    fn spawn(name: &'static str, mut command: Command, environment: &[(String, String)]) -> Self {
        let mut child = command
            .env_remove("DATABASE_URL")
            .env_remove("AMQP_URL")
            .env_remove("REDIS_URL")
            .env("PAYONCE__LOG__FORMAT", "json")
            .envs(environment.iter().map(|(key, value)| (key, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|error| panic!("{name} cannot be started: {error}"));
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = lines.clone();
        let mut stderr = BufReader::new(child.stderr.take().expect("stderr is piped")).lines();
        let reader = tokio::spawn(async move {
            while let Ok(Some(line)) = stderr.next_line().await {
                kept.lock().expect("no reader panics").push(line);
            }
        });
        Self { child, name, lines, reader: Some(reader) }
    }

    /// Everything it has logged.
    ///
    /// # Panics
    /// Never in practice.
    pub fn log(&self) -> Vec<String> {
        self.lines.lock().expect("no reader panics").clone()
    }

    /// Waits until a line has `text`, and gives it.
    ///
    /// # Panics
    /// It does not come in time, or the process ends.
    pub async fn wait_for_line(&mut self, text: &str) -> String {
        let found = tokio::time::timeout(START_TIMEOUT, async {
            loop {
                if let Some(line) = self.log().into_iter().find(|line| line.contains(text)) {
                    return line;
                }
                if let Ok(Some(status)) = self.child.try_wait() {
                    panic!(
                        "{} ended with {status} before saying {text:?}:\n{}",
                        self.name,
                        self.log().join("\n")
                    );
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        })
        .await;
        found.unwrap_or_else(|_| panic!("{} never said {text:?}:\n{}", self.name, self.log().join("\n")))
    }

    /// The address in the log line that has `text`.
    ///
    /// # Panics
    /// There is no such line or no address in it.
    pub async fn address_in(&mut self, text: &str) -> String {
        let line = self.wait_for_line(text).await;
        let line: serde_json::Value = serde_json::from_str(&line).expect("log lines are JSON");
        line["address"].as_str().expect("the line has an address").to_owned()
    }

    /// `kill -9`.
    ///
    /// # Panics
    /// It cannot be killed.
    pub async fn kill_9(&mut self) {
        self.child.kill().await.expect("a child can be killed");
    }

    /// Sends a signal by name, such as `TERM`.
    ///
    /// # Panics
    /// `kill` fails.
    pub async fn signal(&self, name: &str) {
        let id = self.child.id().expect("the process is running").to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &id]).status().await;
        assert!(sent.expect("kill runs").success(), "kill -{name} {id}");
    }

    /// Waits until it has ended and everything it said is in the log.
    ///
    /// # Panics
    /// It does not end in time.
    pub async fn ended(&mut self) -> ExitStatus {
        let status = tokio::time::timeout(START_TIMEOUT, self.child.wait()).await;
        let status = status
            .unwrap_or_else(|_| panic!("{} does not end:\n{}", self.name, self.log().join("\n")))
            .expect("a child can be waited for");
        if let Some(reader) = self.reader.take() {
            reader.await.expect("the reader does not panic");
        }
        status
    }

    /// Panics when the process ever panicked.
    ///
    /// # Panics
    /// Its log has a panic.
    pub fn assert_no_panic(&self) {
        let log = self.log().join("\n");
        assert!(!log.contains("panicked at"), "{} panicked:\n{log}", self.name);
    }
}
