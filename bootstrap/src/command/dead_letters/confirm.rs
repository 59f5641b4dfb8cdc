//! Asks before something is done that cannot be undone.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use anyhow::bail;

/// Whether to go on: yes by `--yes`, otherwise the person at the terminal is asked.
///
/// # Errors
/// Nobody can be asked.
pub(super) fn confirmed(yes: bool, question: &str) -> anyhow::Result<bool> {
    if yes {
        return Ok(true);
    }
    if !std::io::stdin().is_terminal() {
        bail!("{question} There is no terminal to ask; say --yes");
    }
    eprint!("{question} [y/N] ");
    std::io::stderr().flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
