//! A payment as both databases give it.

use application::ports::BoxError;
use application::ports::unit_of_work::StoreError;
use domain::{
    Currency, EventId, MerchantId, Money, Payment, PaymentId, PaymentKey, SourceName, Stage, Standing,
    Timestamp, Totals,
};

/// Source, payment id, merchant, last event and revision.
type Identity = (String, String, Option<String>, String, i64);

/// Currency, moment and stage of the standing, and whether the captures are closed.
type Progress<Moment> = (Option<String>, Option<Moment>, Option<i16>, bool);

/// Authorised, captured, charged, refunded singly, refunded in all, refunds failed, and disputes opened, won
/// and lost.
type Sums = (i64, i64, i64, i64, i64, i64, i64, i64, i64);

/// A payment, with moments as the database has them. In three parts, since a row of so many columns in one is
/// more than the driver has types for.
pub(super) type PaymentRow<Moment> = (Identity, Progress<Moment>, Sums);

/// The payment of a row. A row that this release cannot read may have been written by a newer one, so another
/// worker may do better: that is transient.
pub(super) fn payment<Moment>(
    row: PaymentRow<Moment>,
    timestamp: impl Fn(Moment) -> Timestamp,
) -> Result<Payment, StoreError> {
    let name = format!("payment {}/{}", row.0.0, row.0.1);
    read(row, timestamp).map_err(|error| unreadable(&name, &error))
}

/// The amount of two columns that are both null or neither.
pub(super) fn amount(minor: Option<i64>, currency: Option<&str>) -> Result<Option<Money>, StoreError> {
    let (Some(minor), Some(currency)) = (minor, currency) else { return Ok(None) };
    let currency = Currency::parse(currency).map_err(|error| unreadable("an amount", &error.into()))?;
    Ok(Some(Money::new(minor, currency)))
}

/// What is said of a row that this release cannot read.
pub(super) fn unreadable(what: &str, error: &BoxError) -> StoreError {
    StoreError::Transient(format!("cannot read {what}: {error}").into())
}

fn read<Moment>(
    (identity, progress, sums): PaymentRow<Moment>,
    timestamp: impl Fn(Moment) -> Timestamp,
) -> Result<Payment, BoxError> {
    let (source, payment_id, merchant, last_event, revision) = identity;
    let (currency, standing_at, standing_stage, captures_closed) = progress;
    let standing = match (standing_at, standing_stage) {
        (Some(at), Some(rank)) => {
            let stage = Stage::from_rank(rank).ok_or_else(|| format!("unknown stage {rank}"))?;
            Some(Standing { at: timestamp(at), stage })
        }
        _ => None,
    };
    Ok(Payment {
        key: PaymentKey { source: SourceName::parse(&source)?, payment_id: PaymentId::parse(&payment_id)? },
        merchant: merchant.as_deref().map(MerchantId::parse).transpose()?,
        currency: currency.as_deref().map(Currency::parse).transpose()?,
        standing,
        totals: totals(sums),
        captures_closed,
        last_event: EventId::parse(&last_event)?,
        revision,
    })
}

const fn totals(sums: Sums) -> Totals {
    Totals {
        authorised: sums.0,
        captured: sums.1,
        charged: sums.2,
        refunded_singly: sums.3,
        refunded_in_all: sums.4,
        refunds_failed: sums.5,
        disputes_opened: sums.6,
        disputes_won: sums.7,
        disputes_lost: sums.8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(stage: i16, currency: &str) -> PaymentRow<i64> {
        let [source, id, event] = ["payment", "pi_1", "evt_1"].map(str::to_owned);
        let sums = (1, 2, 3, 4, 5, 6, 7, 8, 9);
        ((source, id, None, event, 1), (Some(currency.to_owned()), Some(7), Some(stage), true), sums)
    }

    #[test]
    fn every_column_has_its_place() {
        let payment = payment(row(100, "USD"), Timestamp::from_micros).unwrap();
        assert_eq!(
            payment.standing,
            Some(Standing { at: Timestamp::from_micros(7), stage: Stage::Captured })
        );
        let totals = payment.totals;
        assert_eq!((totals.authorised, totals.captured, totals.charged), (1, 2, 3));
        let refunds = (totals.refunded_singly, totals.refunded_in_all, totals.refunds_failed);
        assert_eq!(refunds, (4, 5, 6));
        assert_eq!((totals.disputes_opened, totals.disputes_won, totals.disputes_lost), (7, 8, 9));
    }

    #[test]
    fn a_row_that_this_release_does_not_know_is_not_read() {
        for row in [row(99, "USD"), row(100, "ZZZ")] {
            assert!(matches!(payment(row, Timestamp::from_micros), Err(StoreError::Transient(_))));
        }
    }

    #[test]
    fn an_amount_has_both_columns_or_neither() {
        assert_eq!(amount(None, None).unwrap(), None);
        assert_eq!(amount(Some(5), Some("USD")).unwrap().unwrap().minor_units(), 5);
        assert!(matches!(amount(Some(5), Some("ZZZ")), Err(StoreError::Transient(_))));
    }
}
