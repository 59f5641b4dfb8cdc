//! Which letters a statement is about.

use application::dead_letter::{DeadLetterId, LetterFilter};
use application::replay::Selection;
use domain::ConsumerName;

use super::composed::Composed;

/// Letters of one consumer.
#[derive(Debug, Clone)]
pub(in crate::outbound) struct Scope {
    consumer: ConsumerName,
    ids: Option<Vec<i64>>,
    filter: LetterFilter,
}

impl Scope {
    /// Those that `filter` leaves over.
    pub(in crate::outbound) const fn of_filter(consumer: ConsumerName, filter: LetterFilter) -> Self {
        Self { consumer, ids: None, filter }
    }

    /// Those that are selected.
    pub(in crate::outbound) fn of_selection(consumer: ConsumerName, selection: &Selection) -> Self {
        let ids = selection.ids().map(numbers);
        Self { consumer, ids, filter: selection.filter() }
    }

    /// The letters of these numbers.
    pub(super) fn of_ids(consumer: ConsumerName, ids: &[DeadLetterId]) -> Self {
        Self { consumer, ids: Some(numbers(ids)), filter: LetterFilter::default() }
    }

    /// How many letters are named by number, where they are.
    pub(super) fn named(&self) -> Option<usize> {
        self.ids.as_ref().map(Vec::len)
    }

    /// `statement` with `WHERE` and what makes a letter one of these; more conditions may follow.
    pub(super) fn restrict(&self, statement: Composed) -> Composed {
        let filter = &self.filter;
        let mut statement = statement.sql(" WHERE consumer = ").text(self.consumer.as_str());
        statement = match filter.copies_of {
            Some(original) => statement.sql(" AND linked_to = ").number(original.0),
            None => statement.sql(" AND linked_to IS NULL"),
        };
        if let Some(ids) = &self.ids {
            statement = statement.sql(" AND id").one_of(ids.clone());
        }
        let texts = [
            (" AND source = ", filter.source.as_ref().map(domain::SourceName::as_str)),
            (" AND event_id = ", filter.event_id.as_ref().map(domain::EventId::as_str)),
            (" AND kind = ", filter.kind.as_ref().map(domain::EventKind::as_str)),
            (" AND reason = ", filter.reason.map(application::dead_letter::LetterReason::as_str)),
            (" AND account = ", filter.account.as_ref().map(domain::MerchantId::as_str)),
            (" AND payment_id = ", filter.payment.as_ref().map(domain::PaymentId::as_str)),
        ];
        for (condition, text) in texts {
            if let Some(text) = text {
                statement = statement.sql(condition).text(text);
            }
        }
        if let Some(group) = filter.group {
            statement = statement.sql(" AND failure_group = ").bytes(group.as_bytes().to_vec().into());
        }
        if let Some(from) = filter.from {
            statement = statement.sql(" AND dead_lettered_at >= ").moment(from);
        }
        if let Some(until) = filter.until {
            statement = statement.sql(" AND dead_lettered_at < ").moment(until);
        }
        statement
    }
}

/// Numbers to bind.
pub(super) fn numbers(ids: &[DeadLetterId]) -> Vec<i64> {
    ids.iter().map(|id| id.0).collect()
}
