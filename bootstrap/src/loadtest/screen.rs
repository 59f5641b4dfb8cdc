//! The progress bar: on standard error, and only where that is a terminal.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::time::{MissedTickBehavior, interval};

use super::send::Live;

const TICK: Duration = Duration::from_millis(200);
const TEMPLATE: &str = "{prefix:>9} [{elapsed}] {wide_bar} {pos}/{len} {per_sec} {msg}";

/// A bar for one phase.
pub(super) struct Screen(ProgressBar);

impl Screen {
    /// A bar up to `length`; without one, only a number.
    pub fn new(phase: &'static str, length: Option<u64>) -> anyhow::Result<Self> {
        // Draws nothing unless standard error is a terminal.
        let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr());
        bar.set_style(ProgressStyle::with_template(TEMPLATE)?);
        bar.set_prefix(phase);
        Ok(Self(bar))
    }

    pub fn show(&self, done: u64) {
        self.0.set_position(done);
    }

    /// Shows how far the senders are while `sending`.
    pub async fn while_sending<T>(&self, live: Arc<Live>, sending: impl Future<Output = T> + Send) -> T {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut sending = std::pin::pin!(sending);
        loop {
            tokio::select! {
                done = &mut sending => return done,
                _ = ticks.tick() => {
                    self.show(live.sent.load(Ordering::Relaxed));
                    self.0.set_message(format!("{} accepted", live.accepted.load(Ordering::Relaxed)));
                }
            }
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
