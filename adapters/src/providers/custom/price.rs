//! Where a sender puts the amount and its currency.

use application::ports::provider::Untranslatable;
use domain::{Currency, Money};

use super::field::{Field, Message};
use super::mapping::field;
use super::options::{Options, bad};
use crate::providers::amount;
use crate::providers::settings::SetupError;

/// An amount, its unit and its currency.
pub struct Price {
    amount: Field,
    unit: Unit,
    currency: CurrencyPlace,
}

/// What one of an amount is.
#[derive(Debug, Clone, Copy)]
enum Unit {
    Minor,
    Major,
}

const UNITS: &[(&str, Unit)] = &[("minor", Unit::Minor), ("major", Unit::Major)];

enum CurrencyPlace {
    Field(Field),
    Fixed(Currency),
}

impl Price {
    /// The price that the options say; `None` where they say none.
    ///
    /// # Errors
    /// An option is missing, has no use without another, or is not usable.
    pub fn read(options: &mut Options) -> Result<Option<Self>, SetupError> {
        let amount = field(options, "amount")?;
        let unit = options.choice("amount_unit", UNITS)?;
        let place = field(options, "currency")?;
        let fixed = options.filled("currency_code")?;
        let set = [
            ("amount_unit", unit.is_some()),
            ("currency", place.is_some()),
            ("currency_code", fixed.is_some()),
        ];
        let Some(amount) = amount else {
            return match set.into_iter().find(|(_, set)| *set) {
                Some((name, _)) => Err(bad(name, "has no use without amount")),
                None => Ok(None),
            };
        };
        let unit = unit.ok_or_else(|| bad("amount_unit", "is missing: amount is set"))?;
        let currency = match (place, fixed) {
            (Some(field), None) => CurrencyPlace::Field(field),
            (None, Some(code)) => CurrencyPlace::Fixed(
                amount::currency_of(&code)
                    .map_err(|_| bad("currency_code", "is not an ISO 4217 currency code"))?,
            ),
            (Some(_), Some(_)) => return Err(bad("currency_code", "is set beside currency; one must go")),
            (None, None) => return Err(bad("currency", "is missing: set it, or currency_code")),
        };
        Ok(Some(Self { amount, unit, currency }))
    }

    /// The fields that it is read from.
    pub fn fields(&self) -> impl Iterator<Item = &Field> {
        let currency = match &self.currency {
            CurrencyPlace::Field(field) => Some(field),
            CurrencyPlace::Fixed(_) => None,
        };
        std::iter::once(&self.amount).chain(currency)
    }

    /// The amount that a message says.
    pub fn amount(&self, message: &Message<'_>) -> Result<Money, Untranslatable> {
        let currency = self.currency.of(message)?;
        let field = &self.amount;
        let value = field.value(message).ok_or_else(|| Untranslatable(format!("{field} is missing")))?;
        let amount = match self.unit {
            Unit::Minor => amount::minor(&value, currency.code()),
            Unit::Major => amount::major(&value, currency.code(), &[]),
        };
        amount.map_err(|what| Untranslatable(format!("{field} {what}")))
    }
}

impl CurrencyPlace {
    fn of(&self, message: &Message<'_>) -> Result<Currency, Untranslatable> {
        match self {
            Self::Fixed(currency) => Ok(*currency),
            Self::Field(field) => {
                let code =
                    field.text(message).ok_or_else(|| Untranslatable(format!("{field} is not a text")))?;
                amount::currency_of(&code).map_err(|what| Untranslatable(format!("{field} {what}")))
            }
        }
    }
}
