//! Disputes.

use application::ports::provider::Untranslatable;
use domain::{Fact, FactId, Money};

use super::object::StripeObject;
use super::translate::{Meaning, payment_of};

/// A dispute was opened. An inquiry (`warning_…`) and a dispute that was prevented take no money.
pub fn opened(dispute: &StripeObject<'_>) -> Result<Meaning, Untranslatable> {
    let status = dispute.wanted_text("status")?;
    if status.starts_with("warning_") || status == "prevented" { Ok(None) } else { withdrawn(dispute) }
}

/// The bank took the money: an inquiry has become a dispute, or what [`opened`] said.
pub fn withdrawn(dispute: &StripeObject<'_>) -> Result<Meaning, Untranslatable> {
    let (dispute_id, amount) = identity(dispute)?;
    of(dispute, vec![Fact::DisputeOpened { dispute: dispute_id, amount }])
}

/// It was decided. That it was opened is said with it, since this may be the first that we hear of it. An
/// inquiry that is closed was none.
pub fn closed(dispute: &StripeObject<'_>) -> Result<Meaning, Untranslatable> {
    let status = dispute.wanted_text("status")?;
    let closing: fn(FactId, Money) -> Fact = match &*status {
        "won" => |dispute, amount| Fact::DisputeWon { dispute, amount },
        "lost" => |dispute, amount| Fact::DisputeLost { dispute, amount },
        _ => return Ok(None),
    };
    let (dispute_id, amount) = identity(dispute)?;
    let opened = Fact::DisputeOpened { dispute: dispute_id.clone(), amount };
    of(dispute, vec![opened, closing(dispute_id, amount)])
}

/// The dispute's id and amount. Old versions of the API give it no id: then a charge has one dispute at most.
fn identity(dispute: &StripeObject<'_>) -> Result<(FactId, Money), Untranslatable> {
    let id = if dispute.get("id").is_some() { dispute.fact_id()? } else { dispute.fact_id_in("charge")? };
    Ok((id, dispute.amount("amount")?))
}

fn of(dispute: &StripeObject<'_>, facts: Vec<Fact>) -> Result<Meaning, Untranslatable> {
    Ok(Some((payment_of(dispute, "charge")?, facts)))
}
