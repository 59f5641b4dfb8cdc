//! Money, as the API tells it.

use application::dead_letter::MoneyTotal;
use domain::{Currency, Money};
use serde::Serialize;
use utoipa::ToSchema;

/// An amount.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct MoneyDoc {
    /// Whole minor units, as text: a JSON number may lose digits beyond 2^53.
    #[schema(example = "4999", pattern = "^-?[0-9]+$")]
    pub minor_units: String,
    /// ISO 4217.
    #[schema(example = "USD")]
    pub currency: String,
    /// The same in major units, with as many decimals as the currency has.
    #[schema(example = "49.99")]
    pub decimal: String,
}

impl MoneyDoc {
    /// So many minor units.
    pub fn of(minor_units: i128, currency: Currency) -> Self {
        Self {
            minor_units: minor_units.to_string(),
            currency: currency.to_string(),
            decimal: currency.in_major_units(minor_units),
        }
    }
}

impl From<Money> for MoneyDoc {
    fn from(money: Money) -> Self {
        Self::of(money.minor_units().into(), money.currency())
    }
}

impl From<&MoneyTotal> for MoneyDoc {
    fn from(total: &MoneyTotal) -> Self {
        Self::of(total.minor_units, total.currency)
    }
}

/// The totals of several currencies.
pub fn totals(money: &[MoneyTotal]) -> Vec<MoneyDoc> {
    money.iter().map(MoneyDoc::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_has_the_decimals_of_its_currency() {
        let decimal = |minor_units, code| MoneyDoc::of(minor_units, Currency::parse(code).unwrap()).decimal;
        assert_eq!(decimal(4999, "USD"), "49.99");
        assert_eq!(decimal(-5, "USD"), "-0.05");
        assert_eq!(decimal(5, "KWD"), "0.005");
        assert_eq!(decimal(5, "JPY"), "5");
        assert_eq!(decimal(i128::MIN, "USD").len(), "-.".len() + 39);
    }
}
