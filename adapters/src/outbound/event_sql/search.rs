//! Events by page.

use application::ports::event_reader::{EventCursor, EventFilter, EventPage, EventSummary, PAGE_EVENTS_MAX};
use application::ports::unit_of_work::StoreError;
use domain::{ConsumerName, EventKey};

use super::given_up::select_given_up;
use super::rows::EventRow;
use super::settled::select_settled;
use crate::outbound::dead_letter_sql::Statements;

/// Which events, and how many of them.
pub(super) struct Search<'a> {
    /// Whose.
    pub(super) consumer: &'a ConsumerName,
    /// Of which all of this is true.
    pub(super) filter: &'a EventFilter,
    /// Older than this one.
    pub(super) after: Option<&'a EventCursor>,
    /// At most so many.
    pub(super) limit: i64,
}

/// Events of `filter`, the newest first, after the cursor. Needs one state of the store.
pub(in crate::outbound) async fn find<S: Statements>(
    statements: &mut S,
    consumer: &ConsumerName,
    filter: &EventFilter,
    after: Option<&EventCursor>,
    limit: u32,
) -> Result<EventPage, StoreError> {
    let limit = limit.clamp(1, PAGE_EVENTS_MAX);
    // One more, to know whether there is one.
    let search = Search { consumer, filter, after, limit: i64::from(limit) + 1 };
    let mut events = read(statements, &search).await?;
    events.sort_by(|one, other| place(other).cmp(&place(one)));
    let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
    let has_more = events.len() > wanted;
    events.truncate(wanted);
    let last = events.last().filter(|_| has_more);
    let next = last.map(|event| EventCursor { at: event.at, key: event.key.clone() });
    Ok(EventPage { events, next })
}

/// One event; `None` for one that the store does not know.
pub(super) async fn get<S: Statements>(
    statements: &mut S,
    consumer: &ConsumerName,
    key: &EventKey,
) -> Result<Option<EventSummary>, StoreError> {
    let filter = EventFilter {
        source: Some(key.source.clone()),
        event_id: Some(key.event_id.clone()),
        ..EventFilter::default()
    };
    let search = Search { consumer, filter: &filter, after: None, limit: 1 };
    Ok(read(statements, &search).await?.pop())
}

/// The newest of both kinds. No event is in both: what is settled is not given up.
async fn read<S: Statements>(
    statements: &mut S,
    search: &Search<'_>,
) -> Result<Vec<EventSummary>, StoreError> {
    let mut rows: Vec<EventRow> = statements.rows(select_settled(search)).await?;
    rows.extend(statements.rows::<EventRow>(select_given_up(search)).await?);
    rows.into_iter().map(EventRow::read).collect()
}

/// What events are ordered by: the same as in the statements, which compare texts byte by byte.
fn place(event: &EventSummary) -> (domain::Timestamp, &str, &str) {
    (event.at, event.key.event_id.as_str(), event.key.source.as_str())
}
