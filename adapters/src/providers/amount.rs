//! Amounts as providers write them, exactly: no float is ever made.

use domain::{Currency, Money};
use serde_json::value::RawValue;

use super::json::{Kind, string};

/// How a currency's minor unit differs from ISO 4217 at a provider: code and number of decimals.
pub type Exceptions = &'static [(&'static str, u32)];

/// The longest amount that is read, in characters: far more than 64 bits need.
const CHARACTERS_MAX: usize = 64;

/// Minor units: a JSON integer, or a JSON string of digits where the provider writes one. `4999.0` and `5e3`
/// are refused: each has been a sender's mistake of a factor.
///
/// # Errors
/// What is wrong with it, in words.
pub fn minor_units(value: &RawValue) -> Result<i64, String> {
    let text = number_text(value)?;
    if text.contains(['.', 'e', 'E', '+']) || text.is_empty() {
        return Err("is not a whole number of minor units".to_owned());
    }
    text.parse().map_err(|_| "is not a whole number of 64 bits".to_owned())
}

/// `minor_units` of a currency code in either case.
///
/// # Errors
/// What is wrong, in words.
pub fn minor(value: &RawValue, currency: &str) -> Result<Money, String> {
    Ok(Money::new(minor_units(value)?, currency_of(currency)?))
}

/// Major units, such as `"10.00"` or `1.4`, as minor units of `currency`. More decimals than the currency
/// has are refused unless they are zeros: nothing is rounded.
///
/// # Errors
/// What is wrong, in words.
pub fn major(value: &RawValue, currency: &str, exceptions: Exceptions) -> Result<Money, String> {
    major_text(&number_text(value)?, currency, exceptions)
}

/// [`major`], from text.
///
/// # Errors
/// What is wrong, in words.
pub fn major_text(text: &str, currency: &str, exceptions: Exceptions) -> Result<Money, String> {
    let currency = currency_of(currency)?;
    let minor = scaled(text, decimals(currency, exceptions))?;
    Ok(Money::new(minor, currency))
}

/// How many decimals the currency has.
pub fn decimals(currency: Currency, exceptions: Exceptions) -> u32 {
    exceptions
        .iter()
        .find(|(code, _)| *code == currency.code())
        .map_or_else(|| currency.decimals(), |(_, decimals)| *decimals)
}

/// An ISO 4217 code in either case.
///
/// # Errors
/// It is none.
pub fn currency_of(code: &str) -> Result<Currency, String> {
    Currency::parse(code).map_err(|error| format!("currency {error}"))
}

fn number_text(value: &RawValue) -> Result<std::borrow::Cow<'_, str>, String> {
    let text = match Kind::of(value) {
        Kind::Number => value.get().into(),
        Kind::String => string(value).ok_or("holds half of a surrogate pair")?,
        other => return Err(format!("is {}, not an amount", other.name())),
    };
    if text.len() > CHARACTERS_MAX { Err("is too long for an amount".to_owned()) } else { Ok(text) }
}

/// A decimal text times ten to the `decimals`.
fn scaled(text: &str, decimals: u32) -> Result<i64, String> {
    let wrong = || "is not a decimal number without exponent".to_owned();
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !is_digits(whole) || !is_digits(fraction) || digits.ends_with('.') {
        return Err(wrong());
    }
    let fraction = fraction.trim_end_matches('0');
    let missing = usize::try_from(decimals).ok().and_then(|wanted| wanted.checked_sub(fraction.len()));
    let Some(missing) = missing else {
        return Err(format!("has more decimals than its currency, which has {decimals}"));
    };
    let sign = if negative { "-" } else { "" };
    let zeros = "0".repeat(missing);
    format!("{sign}{whole}{fraction}{zeros}").parse().map_err(|_| "does not fit 64 bits".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn major_units_are_scaled_by_the_currencys_decimals() {
        for (text, currency, minor) in [
            ("\"10.00\"", "usd", 1_000),
            ("10", "USD", 1_000),
            ("1.4", "NGN", 140),
            ("\"400\"", "JPY", 400),
            ("\"400.00\"", "JPY", 400),
            ("\"1.234\"", "KWD", 1_234),
            ("-5.5", "EUR", -550),
            ("92233720368547758.07", "USD", i64::MAX),
            ("9007199254740993", "JPY", 9_007_199_254_740_993),
        ] {
            assert_eq!(major(&raw(text), currency, &[]).unwrap().minor_units(), minor, "{text}");
        }
    }

    #[test]
    fn a_providers_exception_counts_before_iso() {
        assert_eq!(major_text("10.00", "CLP", &[("CLP", 2)]).unwrap().minor_units(), 1_000);
        assert_eq!(major_text("10", "ISK", &[]).unwrap().minor_units(), 10);
    }

    #[test]
    fn nothing_is_rounded_and_nothing_odd_is_read() {
        for text in [
            "\"1.001\"",
            "1e3",
            "\"\"",
            "\".5\"",
            "\"5.\"",
            "\"1,5\"",
            "\" 5\"",
            "\"+5\"",
            "null",
            "true",
            "[5]",
            "92233720368547758.08",
            "\"٥\"",
        ] {
            assert!(major(&raw(text), "USD", &[]).is_err(), "{text}");
        }
        assert!(major(&raw("5"), "ZZZ", &[]).is_err());
    }

    #[test]
    fn minor_units_are_whole() {
        assert_eq!(minor_units(&raw("4999")), Ok(4_999));
        assert_eq!(minor_units(&raw("\"1000\"")), Ok(1_000));
        assert_eq!(minor_units(&raw("-7")), Ok(-7));
        for text in ["49.99", "5e3", "4999.0", "9223372036854775808", "\"\"", "\"x\"", "null", "{}"] {
            assert!(minor_units(&raw(text)).is_err(), "{text}");
        }
    }
}
