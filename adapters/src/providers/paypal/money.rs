//! Amounts as PayPal writes them: decimal text, in the members of either of its interfaces.

use application::ports::provider::Untranslatable;
use domain::Money;

use crate::providers::amount::{currency_of, major_text};
use crate::providers::members::Members;

/// Whether a sign may stand before an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// It counts.
    Kept,
    /// The older interface tells what goes back as less than nothing.
    Dropped,
}

/// The amount in a member: `{currency_code, value}`, or of the older interface `{currency, total}` or
/// `{currency, value}`. HUF, JPY and TWD come without decimals; that is exact in any currency.
///
/// # Errors
/// It is missing, or not exact.
pub fn money(parent: &Members<'_>, name: &str, sign: Sign) -> Result<Money, Untranslatable> {
    let amount = parent.child(name)?;
    let first = |names: [&'static str; 2]| {
        names.into_iter().find(|name| amount.object().get(name).is_some()).unwrap_or(names[0])
    };
    let (currency, value) = (first(["currency_code", "currency"]), first(["value", "total"]));
    let (code, text) = (amount.text(currency)?, amount.text(value)?);
    currency_of(&code).map_err(|what| amount.wrong(currency, &what))?;
    let digits = match sign {
        Sign::Kept => &text,
        Sign::Dropped => text.strip_prefix('-').unwrap_or(&text),
    };
    major_text(digits, &code, &[]).map_err(|what| amount.wrong(value, &what))
}
