//! Adyen's minor units, which are not always those of ISO 4217.
//! <https://docs.adyen.com/development-resources/currency-codes>

use domain::Money;

use crate::providers::amount::{Exceptions, currency_of, decimals};

/// The currencies that Adyen counts in other decimals than ISO 4217.
const DECIMALS: Exceptions = &[("CLP", 2), ("CVE", 0), ("IDR", 0), ("ISK", 2)];

/// Adyen's minor units as ISO's: `100000` of CLP, which Adyen counts in hundredths and ISO whole, is 1,000
/// pesos. Nothing is rounded.
///
/// # Errors
/// What is wrong, in words.
pub fn money(value: &str, currency: &str) -> Result<Money, String> {
    let currency = currency_of(currency)?;
    let digits = value.strip_prefix('-').unwrap_or(value);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("is not a whole number of minor units".to_owned());
    }
    let units: i64 = value.parse().map_err(|_| "is not a whole number of 64 bits".to_owned())?;
    let (theirs, iso) = (decimals(currency, DECIMALS), currency.decimals());
    let factor = 10_i64.pow(theirs.abs_diff(iso));
    let minor = if theirs <= iso {
        units.checked_mul(factor).ok_or_else(|| "does not fit 64 bits".to_owned())?
    } else if units % factor == 0 {
        units / factor
    } else {
        return Err("has a part smaller than its currency's minor unit".to_owned());
    };
    Ok(Money::new(minor, currency))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adyens_units_become_isos() {
        for (value, currency, minor) in [
            ("1130", "EUR", 1_130),
            ("5125", "KWD", 5_125),
            ("400", "JPY", 400),
            ("100000", "CLP", 1_000),
            ("2500", "ISK", 25),
            ("15000", "IDR", 1_500_000),
            ("300", "CVE", 30_000),
            ("0", "eur", 0),
            ("-5", "EUR", -5),
            ("9223372036854775807", "USD", i64::MAX),
        ] {
            assert_eq!(money(value, currency).unwrap().minor_units(), minor, "{value} {currency}");
        }
    }

    #[test]
    fn nothing_is_rounded_and_nothing_odd_is_read() {
        for (value, currency) in [
            ("100050", "CLP"),
            ("1", "ISK"),
            ("9223372036854775807", "IDR"),
            ("9223372036854775808", "EUR"),
            ("", "EUR"),
            ("-", "EUR"),
            ("10.0", "EUR"),
            ("1e3", "EUR"),
            ("+5", "EUR"),
            (" 5", "EUR"),
            ("\u{665}", "EUR"),
            ("5", "ZZZ"),
            ("5", ""),
        ] {
            assert!(money(value, currency).is_err(), "{value} {currency}");
        }
    }
}
