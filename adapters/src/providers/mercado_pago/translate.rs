//! What Mercado Pago's notifications mean: that there is something to look up.

use application::ports::provider::Untranslatable;
use domain::{Effect, NoEffect};

use crate::providers::json::Object;
use crate::providers::members::{Members, event_kind};
use crate::providers::moment;
use crate::providers::pack::Translation;

pub fn translate(payload: &[u8]) -> Result<Translation, Untranslatable> {
    let root = Members::of_body(payload)?;
    let object = root.object();
    let name = ["action", "type", "topic"].iter().find_map(|name| object.text(name));
    Ok(Translation {
        kind: event_kind(name.as_deref())?,
        live: object.boolean("live_mode"),
        occurred_at: object.get("date_created").and_then(moment::rfc3339),
        effect: Effect::Nothing(if is_about_money(object) { NoEffect::Unconfirmed } else { NoEffect::Kind }),
    })
}

/// What has to be looked up to be known: a notification never says how much, or whether it was paid.
fn is_about_money(root: &Object<'_>) -> bool {
    let name = ["type", "topic"].iter().find_map(|name| root.text(name));
    matches!(
        name.as_deref(),
        Some("payment" | "order" | "topic_chargebacks_wh" | "topic_claims_integration_wh")
    )
}
