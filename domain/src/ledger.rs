//! Double entry: where a payment's money stands, and the entries that move it there.
//!
//! A payment's [`Position`] is a function of what is known of it, and sums to zero. An event's entries are
//! the difference between the positions before and after it. So every event's entries sum to zero, and the
//! balances do not depend on the order in which events came.

use std::fmt;

use crate::event::EventKey;
use crate::id::{MerchantId, SourceName};
use crate::money::{Currency, Money};
use crate::payment::PaymentKey;

/// What an account stands for. Amounts are debits when positive and credits when negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LedgerAccount {
    /// What the provider holds for the account: an asset.
    ProviderClearing,
    /// What was taken from payers for the merchant, before refunds, disputes and fees: a credit.
    Merchant,
    /// What went back to payers.
    Refunds,
    /// What banks took back and did not return.
    Disputes,
    /// What the provider kept.
    Fees,
    /// What was paid out to the merchant's bank.
    Bank,
}

impl LedgerAccount {
    /// All of them, in the order in which they are locked.
    pub const ALL: [Self; 6] =
        [Self::ProviderClearing, Self::Merchant, Self::Refunds, Self::Disputes, Self::Fees, Self::Bank];

    /// The name under which it is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ProviderClearing => "provider_clearing",
            Self::Merchant => "merchant",
            Self::Refunds => "refunds",
            Self::Disputes => "disputes",
            Self::Fees => "fees",
            Self::Bank => "bank",
        }
    }

    /// The account of that stored name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|account| account.as_str() == name)
    }
}

/// Whose books: a source, or one merchant or connected account of it. Shown as `source` or
/// `source:merchant`; a source's name has no colon, so no two read alike.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountKey {
    /// Where the events come in.
    pub source: SourceName,
    /// Whose money it is, where the source has several.
    pub merchant: Option<MerchantId>,
}

impl fmt::Display for AccountKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.merchant {
            Some(merchant) => write!(f, "{}:{merchant}", self.source),
            None => write!(f, "{}", self.source),
        }
    }
}

/// One line of the ledger: never changed, never removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerEntry {
    /// The event that caused it.
    pub event: EventKey,
    /// The payment or payout whose money moved.
    pub payment: PaymentKey,
    /// Whose books.
    pub account: AccountKey,
    /// Which account of theirs.
    pub ledger: LedgerAccount,
    /// How much: positive is a debit, negative a credit; never zero.
    pub amount: Money,
}

/// Where a payment's money stands, for each of [`LedgerAccount::ALL`]; sums to zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Position([i64; LedgerAccount::ALL.len()]);

impl Position {
    /// What the accounts hold when this much was captured, refunded, disputed, charged and paid out. `None`
    /// when it does not fit 64 bits.
    pub fn of(captured: i64, refunded: i64, disputed: i64, charged: i64, paid_out: i64) -> Option<Self> {
        let clearing = captured
            .checked_sub(refunded)?
            .checked_sub(disputed)?
            .checked_sub(charged)?
            .checked_sub(paid_out)?;
        Some(Self([clearing, captured.checked_neg()?, refunded, disputed, charged, paid_out]))
    }

    /// What has to be added to `before` to come here, account by account, without what does not move.
    /// `None` when it does not fit 64 bits.
    pub fn moves_from(self, before: Self, currency: Currency) -> Option<Vec<(LedgerAccount, Money)>> {
        let mut moves = Vec::new();
        for (index, account) in LedgerAccount::ALL.into_iter().enumerate() {
            let difference = self.0[index].checked_sub(before.0[index])?;
            if difference != 0 {
                moves.push((account, Money::new(difference, currency)));
            }
        }
        Some(moves)
    }

    /// What one account holds of it.
    pub const fn at(&self, account: LedgerAccount) -> i64 {
        self.0[account as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_sums_to_zero() {
        let position = Position::of(1_000, 200, 300, 29, 400).unwrap();
        assert_eq!(position.0.iter().sum::<i64>(), 0);
        assert_eq!(position.at(LedgerAccount::ProviderClearing), 71);
        assert_eq!(position.at(LedgerAccount::Bank), 400);
    }

    #[test]
    fn moves_name_only_what_changes_and_sum_to_zero() {
        let usd = Currency::parse("USD").unwrap();
        let before = Position::of(1_000, 0, 0, 29, 0).unwrap();
        let moves = Position::of(1_000, 200, 0, 29, 0).unwrap().moves_from(before, usd).unwrap();
        assert_eq!(
            moves,
            [
                (LedgerAccount::ProviderClearing, Money::new(-200, usd)),
                (LedgerAccount::Refunds, Money::new(200, usd))
            ]
        );
    }

    #[test]
    fn what_does_not_fit_is_told() {
        assert_eq!(Position::of(i64::MIN, 1, 0, 0, 0), None);
        assert_eq!(Position::of(i64::MIN, 0, 0, 0, 0), None);
    }

    #[test]
    fn an_account_is_found_by_its_name() {
        for account in LedgerAccount::ALL {
            assert_eq!(LedgerAccount::from_name(account.as_str()), Some(account));
        }
        assert_eq!(LedgerAccount::from_name("gone"), None);
    }
}
