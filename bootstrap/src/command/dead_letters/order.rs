//! Who orders it, and why.

use anyhow::Context as _;
use application::operator::{Actor, OperatorOrder, Why};
use domain::Timestamp;

/// Who and why, for the record of what operators do.
#[derive(Debug, clap::Args)]
pub(super) struct OrderArgs {
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    why: String,
    /// Who, for the record; the name of the user where it is not given
    #[arg(long, value_name = "NAME", env = "PAYONCE_ACTOR")]
    actor: Option<String>,
}

impl OrderArgs {
    /// The order, given at `now`.
    pub(super) fn order(&self, now: Timestamp) -> anyhow::Result<OperatorOrder> {
        let user = || std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).ok();
        let actor = self.actor.clone().or_else(user).context("say who you are: --actor NAME")?;
        Ok(OperatorOrder {
            actor: Actor::parse(&actor).context("--actor")?,
            at: now,
            why: Why::parse(&self.why).context("--why")?,
        })
    }
}
