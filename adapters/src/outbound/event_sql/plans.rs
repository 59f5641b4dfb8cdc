//! What SQLite reads for a search: what it knows of the sizes of tables is nothing, so its plans are the same for
//! an empty file and for a full one.

use application::ports::event_reader::{EventCursor, EventFilter};
use application::testing::event_key;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{Text, Untyped};
use diesel::sqlite::{Sqlite, SqliteConnection};
use diesel::{Connection, QueryResult, QueryableByName, RunQueryDsl};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use domain::{ConsumerName, Timestamp};

use super::given_up::select_given_up;
use super::search::Search;
use super::settled::select_settled;
use crate::outbound::dead_letter_sql::Composed;

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../migrations/sqlite");

struct Explained(Composed);

impl QueryFragment<Sqlite> for Explained {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql("EXPLAIN QUERY PLAN ");
        QueryFragment::<Sqlite>::walk_ast(&self.0, out)
    }
}

impl QueryId for Explained {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for Explained {
    type SqlType = Untyped;
}

impl RunQueryDsl<SqliteConnection> for Explained {}

#[derive(QueryableByName)]
struct Step {
    #[diesel(sql_type = Text)]
    detail: String,
}

fn plan(statement: Composed) -> Vec<String> {
    let mut connection = SqliteConnection::establish(":memory:").unwrap();
    connection.run_pending_migrations(MIGRATIONS).unwrap();
    let steps: Vec<Step> = Explained(statement).load(&mut connection).unwrap();
    steps.into_iter().map(|step| step.detail).collect()
}

/// The plans of both statements of a search.
fn plans(filter: &EventFilter, after: Option<&EventCursor>) -> [Vec<String>; 2] {
    let consumer = ConsumerName::parse("payments").unwrap();
    let search = Search { consumer: &consumer, filter, after, limit: 50 };
    [plan(select_settled(&search)), plan(select_given_up(&search))]
}

fn filters() -> Vec<EventFilter> {
    let source = Some("payment".parse().unwrap());
    let event_id = Some("evt_1".parse().unwrap());
    let payment = Some("pi_1".parse().unwrap());
    let (from, until) = (Some(Timestamp::from_micros(1)), Some(Timestamp::from_micros(2)));
    vec![
        EventFilter::default(),
        EventFilter { source: source.clone(), ..EventFilter::default() },
        EventFilter { from, until, ..EventFilter::default() },
        EventFilter { event_id: event_id.clone(), ..EventFilter::default() },
        EventFilter { payment: payment.clone(), ..EventFilter::default() },
        EventFilter { source: source.clone(), event_id: event_id.clone(), ..EventFilter::default() },
        EventFilter { source: source.clone(), payment: payment.clone(), ..EventFilter::default() },
        EventFilter { source, event_id, payment, from, until },
    ]
}

#[test]
fn no_search_reads_a_whole_table() {
    let cursor = EventCursor { at: Timestamp::from_micros(5), key: event_key("evt_1") };
    for filter in filters() {
        for after in [None, Some(&cursor)] {
            for step in plans(&filter, after).concat() {
                let whole = step.starts_with("SCAN ")
                    && !["SCAN e", "SCAN about", "SCAN known"].contains(&step.as_str());
                assert!(!whole, "{step} for {filter:?}");
            }
        }
    }
}

#[test]
fn a_letter_is_compared_with_those_of_its_own_event_only() {
    for filter in filters() {
        let [_, given_up] = plans(&filter, None);
        let by_event = "SEARCH n USING INDEX dead_letters_by_event (consumer=? AND source=? AND event_id=?)";
        assert!(given_up.iter().any(|step| step == by_event), "{given_up:#?} for {filter:?}");
    }
}

#[test]
fn what_is_looked_for_by_id_or_payment_is_read_by_the_key() {
    for filter in filters().into_iter().filter(|filter| filter.event_id.is_some() || filter.payment.is_some())
    {
        let [settled, _] = plans(&filter, None);
        let key = settled.iter().any(|step| step.starts_with("SEARCH p USING PRIMARY KEY (event_id=?"));
        assert!(key, "{settled:#?} for {filter:?}");
    }
}

#[test]
fn the_newest_are_read_in_the_order_of_the_index() {
    for filter in filters().into_iter().filter(|filter| filter.event_id.is_none() && filter.payment.is_none())
    {
        let [settled, given_up] = plans(&filter, None);
        let index = "SEARCH p USING INDEX processed_events_by_moment (consumer=?";
        assert!(settled.iter().any(|step| step.starts_with(index)), "{settled:#?}");
        let index = "SEARCH e USING INDEX dead_letters_by_moment (consumer=?";
        assert!(given_up.iter().any(|step| step.starts_with(index)), "{given_up:#?}");
        // The order within one moment at most.
        assert!(!given_up.iter().any(|step| step == "USE TEMP B-TREE FOR ORDER BY"), "{given_up:#?}");
    }
}
