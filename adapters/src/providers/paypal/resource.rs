//! Which payment a refund belongs to.

use application::ports::provider::Untranslatable;
use domain::PaymentId;
use url::Url;

use crate::providers::members::Members;

/// The capture or sale that a refund belongs to. The older interface names it; the newer one has it in the link
/// `up` alone, which of a capture leads to an order or an authorisation instead.
///
/// # Errors
/// The refund does not say.
pub fn refunded_payment(refund: &Members<'_>) -> Result<PaymentId, Untranslatable> {
    for name in ["sale_id", "capture_id"] {
        if refund.object().get(name).is_some() {
            return refund.id(name, PaymentId::parse);
        }
    }
    let links = refund.object().array("links").unwrap_or_default();
    let linked =
        links.into_iter().filter_map(|link| Members::of_value(link, String::new())).find_map(|link| {
            let wanted = matches!(link.object().text("rel")?.as_ref(), "up" | "sale" | "capture");
            if wanted { payment_of(&link.object().text("href")?) } else { None }
        });
    linked.ok_or_else(|| refund.wrong("links", "have no link to the capture or sale that was refunded"))
}

/// The id at the end of `…/captures/ID`, `…/capture/ID` or `…/sale/ID`.
fn payment_of(href: &str) -> Option<PaymentId> {
    let url = Url::parse(href).ok()?;
    let mut segments = url.path_segments()?.rev();
    let (id, kind) = (segments.next()?, segments.next()?);
    if matches!(kind, "captures" | "capture" | "sale") { PaymentId::parse(id).ok() } else { None }
}
