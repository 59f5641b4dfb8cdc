//! Dead letters in words.

use application::dead_letter::{DeadLetterSummary, LetterState, MoneyTotal, StateTotals};
use domain::{Currency, Timestamp};

/// What stands where nothing is known.
pub(super) const UNKNOWN: &str = "-";

/// A moment, to the second.
pub(super) fn moment(at: Timestamp) -> String {
    jiff::Timestamp::from_second(at.as_secs()).map_or_else(|_| UNKNOWN.to_owned(), |at| at.to_string())
}

/// An amount in major units, such as `49.99 USD`.
fn amount(minor_units: i128, currency: Currency) -> String {
    format!("{} {currency}", currency.in_major_units(minor_units))
}

/// The first amount that a letter names.
pub(super) fn amount_of(letter: &DeadLetterSummary) -> String {
    let amount = letter.subject.amount.map(|money| amount(money.minor_units().into(), money.currency()));
    amount.unwrap_or_else(|| UNKNOWN.to_owned())
}

/// Amounts by currency, such as `49.99 USD + 500 JPY`.
pub(super) fn money(totals: &[MoneyTotal]) -> String {
    if totals.is_empty() {
        return UNKNOWN.to_owned();
    }
    let amounts = totals.iter().map(|total| amount(total.minor_units, total.currency));
    amounts.collect::<Vec<_>>().join(" + ")
}

/// The letters of one state; none where there are none.
pub(super) fn of_state(totals: &[StateTotals], state: LetterState) -> Option<&StateTotals> {
    totals.iter().find(|total| total.state == state && total.letters > 0)
}

/// Which event a letter is, as it is shown.
pub(super) fn event(letter: &DeadLetterSummary) -> String {
    letter.key.as_ref().map_or_else(|| "(unreadable)".to_owned(), ToString::to_string)
}

/// One line of a text that may have many, without control characters, at most `chars_max` characters.
pub(super) fn line(text: &str, chars_max: usize) -> String {
    let shown = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let line: String = shown.clone().take(chars_max).collect();
    if shown.count() > chars_max { line + "…" } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(code: &str, minor_units: i128) -> MoneyTotal {
        MoneyTotal { currency: Currency::parse(code).unwrap(), minor_units }
    }

    #[test]
    fn money_is_told_by_currency_in_major_units() {
        assert_eq!(money(&[total("USD", 4999), total("JPY", 500)]), "49.99 USD + 500 JPY");
        assert_eq!(money(&[]), "-");
    }

    #[test]
    fn a_moment_is_told_to_the_second() {
        assert_eq!(moment(Timestamp::from_micros(1_700_000_000_999_999)), "2023-11-14T22:13:20Z");
    }

    #[test]
    fn what_comes_from_outside_moves_no_cursor() {
        assert_eq!(line("a\n\u{1b}[2Jb", 80), "a  [2Jb");
        assert_eq!(line("abcdef", 3), "abc…");
    }
}
