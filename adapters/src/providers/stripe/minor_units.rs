//! Stripe's minor units, as ISO 4217 has them.
//!
//! Stripe's integers count a currency's smallest unit by Stripe's own list
//! (<https://docs.stripe.com/currencies>). It differs from ISO 4217 in three places: ISK and UGX, which have no
//! minor unit, are sent as if they had two decimals, always with 00 at the end; MGA is sent whole, and ISO
//! gives it two decimals.

use domain::Money;
use serde_json::value::RawValue;

use crate::providers::amount::{Exceptions, currency_of, decimals, minor_units};

/// Where Stripe's list differs from ISO 4217.
const DIFFERENT: Exceptions = &[("ISK", 2), ("MGA", 0), ("UGX", 2)];

/// The amount that Stripe writes so.
///
/// # Errors
/// What is wrong with it, in words. Nothing is rounded: a fraction of what ISO 4217 can say is refused.
pub fn money(value: &RawValue, currency: &str) -> Result<Money, String> {
    let (sent, currency) = (minor_units(value)?, currency_of(currency)?);
    let (theirs, ours) = (decimals(currency, DIFFERENT), currency.decimals());
    let factor = 10_i64.checked_pow(theirs.abs_diff(ours)).ok_or("has a currency of too many decimals")?;
    let minor = if theirs > ours { divided(sent, factor)? } else { multiplied(sent, factor)? };
    Ok(Money::new(minor, currency))
}

fn divided(sent: i64, factor: i64) -> Result<i64, String> {
    match sent.checked_rem(factor) {
        Some(0) => Ok(sent / factor),
        _ => Err("is a fraction of a unit that its currency does not divide".to_owned()),
    }
}

fn multiplied(sent: i64, factor: i64) -> Result<i64, String> {
    sent.checked_mul(factor).ok_or_else(|| "does not fit 64 bits".to_owned())
}
