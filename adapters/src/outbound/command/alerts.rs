//! Alerts to a command: it gets the alert on its standard input, and has taken it when it ends well.
//!
//! It is run as it is configured, without a shell between, and gets nothing of this process's environment but the
//! `PATH`: what else is there may be secrets.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use application::ports::alert_channel::{AlertChannel, NotSent, RenderedAlert};
use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// How much of what the command complains of is told; the rest is read and dropped.
const COMPLAINT_BYTES_MAX: u64 = 1024;

/// A command and how it is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSettings {
    /// The program: a path, or a name that is looked for in `PATH`.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// How long it may take; then it is killed.
    pub timeout: Duration,
}

/// One command that takes alerts.
pub struct CommandAlerts {
    settings: CommandSettings,
}

impl CommandAlerts {
    /// The command that `settings` describe. Does not run it.
    pub const fn new(settings: CommandSettings) -> Self {
        Self { settings }
    }

    fn start(&self) -> Result<Child, NotSent> {
        let mut command = Command::new(&self.settings.program);
        command
            .args(&self.settings.arguments)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command.spawn().map_err(|error| NotSent(format!("the command cannot be run: {error}")))
    }
}

#[async_trait]
impl AlertChannel for CommandAlerts {
    async fn send(&self, alert: &RenderedAlert) -> Result<(), NotSent> {
        let mut child = self.start()?;
        // What is not there is not read; a command that has ended is killed no more.
        let (input, complaint) = (child.stdin.take(), child.stderr.take());
        let run = async {
            let write = async {
                if let Some(mut input) = input {
                    // A command may end well without reading all of it.
                    input.write_all(&alert.body).await.ok();
                }
            };
            let ((), complaint, ended) = tokio::join!(write, beginning(complaint), child.wait());
            (complaint, ended)
        };
        let Ok((complaint, ended)) = timeout(self.settings.timeout, run).await else {
            return Err(NotSent(format!("no end within {} ms", self.settings.timeout.as_millis())));
        };
        match ended {
            Ok(status) if status.success() => Ok(()),
            Ok(status) if complaint.is_empty() => Err(NotSent(status.to_string())),
            Ok(status) => Err(NotSent(format!("{status}: {complaint}"))),
            Err(error) => Err(NotSent(format!("the command cannot be waited for: {error}"))),
        }
    }
}

/// The beginning of what the command complains of, on one line. All of it is read, so that the command is not held
/// up.
async fn beginning(complaint: Option<impl AsyncRead + Unpin>) -> String {
    let Some(mut complaint) = complaint else { return String::new() };
    let mut bytes = Vec::new();
    (&mut complaint).take(COMPLAINT_BYTES_MAX).read_to_end(&mut bytes).await.ok();
    tokio::io::copy(&mut complaint, &mut tokio::io::sink()).await.ok();
    let text = String::from_utf8_lossy(&bytes);
    text.split(char::is_control).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn command(program: &str, arguments: &[&str]) -> CommandAlerts {
        CommandAlerts::new(CommandSettings {
            program: program.into(),
            arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
            timeout: Duration::from_secs(20),
        })
    }

    fn alert() -> RenderedAlert {
        RenderedAlert { id: "group/1".to_owned(), body: Bytes::from_static(br#"{"id":"group/1"}"#) }
    }

    async fn refused(command: CommandAlerts) -> String {
        command.send(&alert()).await.expect_err("it is not sent").0
    }

    #[tokio::test]
    async fn the_command_gets_the_alert_on_its_input_and_its_arguments_as_they_are() {
        let script = r#"test "$(cat)" = '{"id":"group/1"}' && test "$1" = '$HOME; *'"#;
        assert_eq!(command("sh", &["-c", script, "sh", "$HOME; *"]).send(&alert()).await, Ok(()));
    }

    #[tokio::test]
    async fn the_command_gets_nothing_of_the_environment_but_the_path() {
        // A shell itself sets these.
        let script = "test -n \"$PATH\" && test -z \"$(env | grep -v -e ^PATH= -e ^PWD= -e ^SHLVL= -e ^_=)\"";
        assert_eq!(command("sh", &["-c", script]).send(&alert()).await, Ok(()));
    }

    #[tokio::test]
    async fn a_command_that_ends_badly_is_told_with_what_it_complains_of() {
        let told = refused(command("sh", &["-c", "printf 'no\\nway\\033[1m' >&2; exit 3"])).await;
        assert_eq!(told, "exit status: 3: no way [1m");
        assert_eq!(refused(command("false", &[])).await, "exit status: 1");
    }

    #[tokio::test]
    async fn a_command_that_says_much_is_not_held_up_and_told_in_part() {
        let much = "i=0; while [ $i -lt 20000 ]; do echo line $i >&2; i=$((i+1)); done; exit 1";
        let told = refused(command("sh", &["-c", much])).await;
        assert!(told.len() < 1_200, "{}", told.len());
    }

    #[tokio::test]
    async fn a_command_that_reads_nothing_may_end_well() {
        let large = RenderedAlert { body: Bytes::from(vec![b'x'; 1 << 20]), ..alert() };
        assert_eq!(command("true", &[]).send(&large).await, Ok(()));
    }

    #[tokio::test]
    async fn a_command_that_does_not_end_is_killed() {
        let mut slow = command("sleep", &["600"]);
        slow.settings.timeout = Duration::from_millis(50);
        assert_eq!(refused(slow).await, "no end within 50 ms");
    }

    #[tokio::test]
    async fn a_command_that_is_not_there_is_told() {
        assert!(refused(command("/nowhere/tell", &[])).await.starts_with("the command cannot be run: "));
    }
}
