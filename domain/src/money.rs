//! Money: whole minor units of an ISO 4217 currency, with checked arithmetic. No floats.

use std::fmt;

/// Why an amount cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MoneyError {
    /// Not an ISO 4217 code.
    #[error("is not an ISO 4217 currency code of three letters")]
    UnknownCurrency,
    /// Two amounts of different currencies do not add up.
    #[error("{left} and {right} are different currencies")]
    CurrencyMismatch {
        /// The first amount's currency.
        left: Currency,
        /// The second amount's currency.
        right: Currency,
    },
    /// The result does not fit 64 bits.
    #[error("the amount does not fit 64 bits of minor units")]
    Overflow,
}

/// An ISO 4217 currency. Parsed in either case, shown in capitals.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency([u8; 3]);

impl Currency {
    /// Parses a three-letter code that ISO 4217 lists, in either case.
    pub fn parse(text: &str) -> Result<Self, MoneyError> {
        let bytes: [u8; 3] = text.as_bytes().try_into().map_err(|_| MoneyError::UnknownCurrency)?;
        let code = bytes.map(|b| b.to_ascii_uppercase());
        let known = std::str::from_utf8(&code).ok().and_then(iso_currency::Currency::from_code).is_some();
        if known { Ok(Self(code)) } else { Err(MoneyError::UnknownCurrency) }
    }

    /// How many decimals its minor unit has, by ISO 4217: 2 for USD, 0 for JPY, 3 for KWD. Currencies without
    /// a minor unit, such as gold, count whole.
    pub fn decimals(&self) -> u32 {
        let exponent =
            iso_currency::Currency::from_code(self.code()).and_then(iso_currency::Currency::exponent);
        exponent.map_or(0, u32::from)
    }

    /// `minor_units` in major units, exactly: 4999 is `49.99` in USD and `4999` in JPY. Sums may be larger than
    /// one amount can be.
    pub fn in_major_units(&self, minor_units: i128) -> String {
        let sign = if minor_units < 0 { "-" } else { "" };
        let (all, decimals) = (minor_units.unsigned_abs(), self.decimals());
        let whole = 10_u128.pow(decimals);
        match usize::try_from(decimals) {
            Ok(width @ 1..) => format!("{sign}{}.{:0width$}", all / whole, all % whole),
            _ => format!("{sign}{all}"),
        }
    }

    /// The code in capitals.
    pub fn code(&self) -> &str {
        // Only ASCII letters pass `parse`, so this never takes the second branch.
        std::str::from_utf8(&self.0).unwrap_or("???")
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// An amount in minor units of its currency (cents for USD, yen for JPY). May be negative in a ledger.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Money {
    minor_units: i64,
    currency: Currency,
}

impl Money {
    /// `minor_units` of `currency`.
    pub const fn new(minor_units: i64, currency: Currency) -> Self {
        Self { minor_units, currency }
    }

    /// How many minor units.
    pub const fn minor_units(self) -> i64 {
        self.minor_units
    }

    /// Of which currency.
    pub const fn currency(self) -> Currency {
        self.currency
    }

    /// The sum. Fails on different currencies or when it does not fit.
    pub fn checked_add(self, other: Self) -> Result<Self, MoneyError> {
        self.combine(other, i64::checked_add)
    }

    /// The difference. Fails on different currencies or when it does not fit.
    pub fn checked_sub(self, other: Self) -> Result<Self, MoneyError> {
        self.combine(other, i64::checked_sub)
    }

    fn combine(self, other: Self, operation: fn(i64, i64) -> Option<i64>) -> Result<Self, MoneyError> {
        if self.currency != other.currency {
            return Err(MoneyError::CurrencyMismatch { left: self.currency, right: other.currency });
        }
        let minor_units = operation(self.minor_units, other.minor_units).ok_or(MoneyError::Overflow)?;
        Ok(Self { minor_units, currency: self.currency })
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} (minor units)", self.minor_units, self.currency)
    }
}

impl fmt::Debug for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Money({} {})", self.minor_units, self.currency)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usd(minor_units: i64) -> Money {
        Money::new(minor_units, Currency::parse("USD").unwrap())
    }

    #[test]
    fn a_currency_is_parsed_in_either_case() {
        assert_eq!(Currency::parse("usd").unwrap(), Currency::parse("USD").unwrap());
        assert_eq!(Currency::parse("Clp").unwrap().code(), "CLP");
    }

    #[test]
    fn what_iso_4217_does_not_list_is_refused() {
        for text in ["", "us", "usdd", "zzz", "u$d", "üs", "12 "] {
            assert_eq!(Currency::parse(text), Err(MoneyError::UnknownCurrency), "{text}");
        }
    }

    #[test]
    fn major_units_have_the_decimals_of_the_currency() {
        let told = |minor_units, code| Currency::parse(code).unwrap().in_major_units(minor_units);
        assert_eq!(told(4999, "USD"), "49.99");
        assert_eq!(told(5, "USD"), "0.05");
        assert_eq!(told(-5, "USD"), "-0.05");
        assert_eq!(told(4999, "JPY"), "4999");
        assert_eq!(told(4999, "KWD"), "4.999");
        assert_eq!(told(i128::MIN, "JPY"), "-170141183460469231731687303715884105728");
    }

    #[test]
    fn amounts_beyond_a_floats_precision_are_exact() {
        let sum = usd(9_007_199_254_740_992).checked_add(usd(1)).unwrap();
        assert_eq!(sum.minor_units(), 9_007_199_254_740_993);
    }

    #[test]
    fn overflow_is_an_error() {
        assert_eq!(usd(i64::MAX).checked_add(usd(1)), Err(MoneyError::Overflow));
        assert_eq!(usd(i64::MIN).checked_sub(usd(1)), Err(MoneyError::Overflow));
    }

    #[test]
    fn currencies_do_not_mix() {
        let eur = Money::new(1, Currency::parse("EUR").unwrap());
        assert!(matches!(usd(1).checked_add(eur), Err(MoneyError::CurrencyMismatch { .. })));
    }
}
