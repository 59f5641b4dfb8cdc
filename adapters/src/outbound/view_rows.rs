//! Histories and balances as both databases give them.

use application::ports::BoxError;
use application::ports::payment_reader::{Balance, TimelineEntry, TimelineItem};
use application::ports::unit_of_work::StoreError;
use domain::{Currency, EstablishedFact, EventId, EventKind, FactKey, LedgerAccount, Money, Timestamp};

use super::payment_row::{amount, unreadable};

/// Event, its kind and the reason why it had no effect; the fact, its amount and currency; and the moment.
pub(super) type TimelineRow<Moment> =
    ((String, Option<String>, Option<String>), (Option<String>, Option<i64>, Option<String>), Moment);

/// Ledger account, currency and minor units.
pub(super) type BalanceRow = (String, String, i64);

/// The entry of a row.
pub(super) fn timeline_entry<Moment>(
    ((event_id, kind, reason), (fact, minor, currency), at): TimelineRow<Moment>,
    timestamp: impl Fn(Moment) -> Timestamp,
) -> Result<TimelineEntry, StoreError> {
    let item = match (fact, reason) {
        (Some(fact), _) => {
            let amount = amount(minor, currency.as_deref())?;
            TimelineItem::Fact(EstablishedFact { key: FactKey::from_stored(fact), amount })
        }
        (None, reason) => TimelineItem::Recorded(reason.unwrap_or_default()),
    };
    let readable = || -> Result<(EventId, Option<EventKind>), BoxError> {
        Ok((EventId::parse(&event_id)?, kind.as_deref().map(EventKind::parse).transpose()?))
    };
    let (event_id, kind) = readable().map_err(|error| unreadable("a payment's history", &error))?;
    Ok(TimelineEntry { event_id, kind, item, at: timestamp(at) })
}

/// The balances of an account, in order.
pub(super) fn balances(rows: Vec<BalanceRow>) -> Result<Vec<Balance>, StoreError> {
    let balance = |(ledger, currency, minor): BalanceRow| -> Result<Balance, BoxError> {
        let ledger =
            LedgerAccount::from_name(&ledger).ok_or_else(|| format!("unknown ledger account {ledger:?}"))?;
        Ok(Balance { ledger, amount: Money::new(minor, Currency::parse(&currency)?) })
    };
    let balances: Result<Vec<Balance>, BoxError> = rows.into_iter().map(balance).collect();
    let mut balances = balances.map_err(|error| unreadable("a balance", &error))?;
    balances.sort_by_key(|balance| (balance.ledger, balance.amount.currency()));
    Ok(balances)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_balance_that_this_release_does_not_know_is_not_read() {
        for (ledger, currency) in [("gone", "USD"), ("fees", "ZZZ")] {
            let row = (ledger.to_owned(), currency.to_owned(), 5);
            assert!(matches!(balances(vec![row]), Err(StoreError::Transient(_))), "{ledger} {currency}");
        }
    }
}
