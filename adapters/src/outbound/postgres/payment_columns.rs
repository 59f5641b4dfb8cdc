//! Payments by column, as `unnest` takes them.

use domain::{Currency, Payment};

use super::statements::{ChangePayments, CreatePayments};

/// Some payments, to be stored by one statement.
pub(super) struct PaymentColumns<'a> {
    payments: &'a [&'a Payment],
    currencies: Vec<Currency>,
}

impl<'a> PaymentColumns<'a> {
    pub(super) fn of(payments: &'a [&'a Payment]) -> Self {
        Self { payments, currencies: payments.iter().map(|payment| payment.amount.currency()).collect() }
    }

    pub(super) fn create(&self) -> CreatePayments<'_> {
        CreatePayments {
            sources: self.texts(|payment| payment.key.source.as_str()),
            payment_ids: self.texts(|payment| payment.key.payment_id.as_str()),
            states: self.texts(|payment| payment.state.as_str()),
            amounts_minor: self.numbers(|payment| payment.amount.minor_units()),
            currencies: self.currencies.iter().map(Currency::code).collect(),
            last_event_ids: self.texts(|payment| payment.last_event.as_str()),
            revisions: self.numbers(|payment| payment.revision),
        }
    }

    pub(super) fn change(&self) -> ChangePayments<'_> {
        let CreatePayments {
            sources,
            payment_ids,
            states,
            amounts_minor,
            currencies,
            last_event_ids,
            revisions,
        } = self.create();
        ChangePayments { sources, payment_ids, states, amounts_minor, currencies, last_event_ids, revisions }
    }

    fn texts(&self, text: impl Fn(&'a Payment) -> &'a str) -> Vec<&'a str> {
        self.payments.iter().map(|payment| text(payment)).collect()
    }

    fn numbers(&self, number: impl Fn(&Payment) -> i64) -> Vec<i64> {
        self.payments.iter().map(|payment| number(payment)).collect()
    }
}
