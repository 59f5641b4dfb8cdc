//! Amounts, with as many decimals as their currency has.

use application::dead_letter::MoneyTotal;
use askama::Template;
use askama::filters::HtmlSafe;
use domain::{Currency, Money};

use super::number::grouped;

/// One amount.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(
    source = r#"<span class="money">{{ figure }} <span class="money-unit">{{ unit }}</span></span>"#,
    ext = "html"
)]
pub struct Amount {
    figure: String,
    unit: String,
}

impl HtmlSafe for Amount {}

impl Amount {
    /// So many minor units of `currency`.
    pub fn new(minor_units: i128, currency: Currency) -> Self {
        Self { figure: decimal(minor_units, currency), unit: currency.code().to_owned() }
    }

    /// In plain words, such as `12.50 EUR`.
    pub fn words(&self) -> String {
        format!("{} {}", self.figure, self.unit)
    }
}

impl From<Money> for Amount {
    fn from(money: Money) -> Self {
        Self::new(money.minor_units().into(), money.currency())
    }
}

/// Amounts of several currencies.
#[derive(Debug, Clone, Default, PartialEq, Eq, Template)]
#[template(
    source = r#"{% if amounts.is_empty() %}<span class="none">no amount named</span>{% else %}<span class="moneys">{% for amount in amounts %}{{ amount }} {% endfor %}</span>{% endif %}"#,
    ext = "html"
)]
pub struct Moneys {
    amounts: Vec<Amount>,
}

impl HtmlSafe for Moneys {}

impl Moneys {
    /// The sums, those of one currency together, by currency.
    pub fn sum<'a>(totals: impl IntoIterator<Item = &'a MoneyTotal>) -> Self {
        let mut sums = std::collections::BTreeMap::<Currency, i128>::new();
        for total in totals {
            let sum = sums.entry(total.currency).or_default();
            *sum = sum.saturating_add(total.minor_units);
        }
        Self { amounts: sums.into_iter().map(|(currency, sum)| Amount::new(sum, currency)).collect() }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.amounts.is_empty()
    }

    /// In plain words, such as `12.50 EUR and 3 JPY`.
    pub fn words(&self) -> String {
        let words: Vec<_> = self.amounts.iter().map(Amount::words).collect();
        words.join(" and ")
    }
}

impl From<Option<Money>> for Moneys {
    fn from(money: Option<Money>) -> Self {
        Self { amounts: money.into_iter().map(Amount::from).collect() }
    }
}

fn decimal(minor_units: i128, currency: Currency) -> String {
    let decimals = usize::try_from(currency.decimals()).unwrap_or_default();
    let digits = format!("{:0>width$}", minor_units.unsigned_abs(), width = decimals + 1);
    let (whole, rest) = digits.split_at(digits.len() - decimals);
    let sign = if minor_units < 0 { "\u{2212}" } else { "" };
    let whole = grouped(whole);
    if rest.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{rest}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(minor_units: i128, code: &str) -> String {
        decimal(minor_units, Currency::parse(code).unwrap())
    }

    #[test]
    fn an_amount_has_the_decimals_of_its_currency() {
        assert_eq!(shown(123_456_789, "USD"), "1,234,567.89");
        assert_eq!(shown(5, "EUR"), "0.05");
        assert_eq!(shown(1_234, "JPY"), "1,234");
        assert_eq!(shown(1_234, "KWD"), "1.234");
        assert_eq!(shown(-5, "USD"), "\u{2212}0.05");
        assert_eq!(shown(0, "USD"), "0.00");
    }

    #[test]
    fn an_amount_beyond_a_floats_precision_is_exact() {
        assert_eq!(shown(9_223_372_036_854_775_807, "USD"), "92,233,720,368,547,758.07");
    }

    #[test]
    fn sums_are_by_currency() {
        let total = |code, minor_units| MoneyTotal { currency: Currency::parse(code).unwrap(), minor_units };
        let totals = [total("USD", 100), total("JPY", 7), total("USD", 250)];
        assert_eq!(Moneys::sum(&totals).words(), "7 JPY and 3.50 USD");
    }
}
