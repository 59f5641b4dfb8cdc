//! What a batch of ledger entries does to the balances.

use std::collections::BTreeMap;

use application::ports::unit_of_work::StoreError;
use domain::{AccountKey, Currency, LedgerAccount, LedgerEntry};

/// How a batch changes one balance.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BalanceChange {
    /// Whose, as it is stored.
    pub account: String,
    /// Which of theirs.
    pub ledger: LedgerAccount,
    /// Its currency.
    pub currency: Currency,
    /// By how much; never zero.
    pub amount_minor: i64,
}

/// The changes, each balance once, in the order in which everybody locks them: account, ledger account,
/// currency. A balance that many events share is changed once for all of them, and not at all where they
/// cancel out.
pub(super) fn balance_changes(entries: &[LedgerEntry]) -> Result<Vec<BalanceChange>, StoreError> {
    let mut sums: BTreeMap<(&AccountKey, LedgerAccount, Currency), i64> = BTreeMap::new();
    for entry in entries {
        let sum = sums.entry((&entry.account, entry.ledger, entry.amount.currency())).or_default();
        *sum = sum.checked_add(entry.amount.minor_units()).ok_or_else(|| {
            let account = format!("{} of {}", entry.ledger.as_str(), entry.account);
            StoreError::Permanent(format!("the entries to {account} do not fit 64 bits").into())
        })?;
    }
    let changes = sums.into_iter().filter(|(_, amount_minor)| *amount_minor != 0);
    Ok(changes
        .map(|((account, ledger, currency), amount_minor)| BalanceChange {
            account: account.to_string(),
            ledger,
            currency,
            amount_minor,
        })
        .collect())
}

/// A balance as its row is named: account, ledger account and currency.
pub(super) type BalanceName = (String, String, String);

/// Refuses for good what some balance has no room for: one of `changes` whose balance is not among those that
/// are `stored`.
pub(super) fn expect_stored(changes: &[BalanceChange], stored: &[BalanceName]) -> Result<(), StoreError> {
    if stored.len() == changes.len() {
        return Ok(());
    }
    let is_full = |change: &&BalanceChange| {
        !stored.iter().any(|(account, ledger, currency)| {
            *account == change.account
                && ledger == change.ledger.as_str()
                && currency == change.currency.code()
        })
    };
    let full = changes.iter().find(is_full).map_or_else(String::new, |change| {
        format!("{} {} of {}", change.currency, change.ledger.as_str(), change.account)
    });
    Err(StoreError::Permanent(format!("the balance {full} would not fit 64 bits").into()))
}

#[cfg(test)]
mod tests {
    use application::testing::{event_key, source_name};
    use domain::{MerchantId, Money, PaymentId, PaymentKey};

    use super::*;

    fn entry(merchant: Option<&str>, ledger: LedgerAccount, minor_units: i64, currency: &str) -> LedgerEntry {
        let merchant = merchant.map(|merchant| MerchantId::parse(merchant).unwrap());
        LedgerEntry {
            event: event_key("evt_1"),
            payment: PaymentKey { source: source_name(), payment_id: PaymentId::parse("pi_1").unwrap() },
            account: AccountKey { source: source_name(), merchant },
            ledger,
            amount: Money::new(minor_units, Currency::parse(currency).unwrap()),
        }
    }

    fn changes(entries: &[LedgerEntry]) -> Vec<(String, &'static str, String, i64)> {
        let change = |change: BalanceChange| {
            (change.account, change.ledger.as_str(), change.currency.to_string(), change.amount_minor)
        };
        balance_changes(entries).unwrap().into_iter().map(change).collect()
    }

    #[test]
    fn each_balance_is_changed_once_in_one_order() {
        use LedgerAccount::{Merchant, ProviderClearing};
        let entries = [
            entry(Some("acct_1"), Merchant, -5, "USD"),
            entry(None, Merchant, -3, "USD"),
            entry(None, Merchant, -4, "USD"),
            entry(None, Merchant, -1, "EUR"),
            entry(None, ProviderClearing, 7, "USD"),
        ];
        let text = |account: &str, ledger, currency: &str, minor| {
            (account.to_owned(), ledger, currency.to_owned(), minor)
        };
        let expected = [
            text("payment", "provider_clearing", "USD", 7),
            text("payment", "merchant", "EUR", -1),
            text("payment", "merchant", "USD", -7),
            text("payment:acct_1", "merchant", "USD", -5),
        ];
        assert_eq!(changes(&entries), expected);
    }

    #[test]
    fn what_cancels_out_changes_nothing() {
        let entries =
            [entry(None, LedgerAccount::Fees, 5, "USD"), entry(None, LedgerAccount::Fees, -5, "USD")];
        assert_eq!(changes(&entries), []);
    }

    #[test]
    fn a_sum_that_does_not_fit_is_refused() {
        let entries =
            [entry(None, LedgerAccount::Fees, i64::MAX, "USD"), entry(None, LedgerAccount::Fees, 1, "USD")];
        assert!(matches!(balance_changes(&entries), Err(StoreError::Permanent(_))));
    }
}
