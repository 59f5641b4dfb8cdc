//! What one event has done.

use application::dead_letter::{DeadLetterSummary, LetterFilter};
use application::ports::BoxError;
use application::ports::event_reader::{EventMessage, EventOutcome, EventPath, PATH_LETTERS_MAX};
use application::ports::unit_of_work::StoreError;
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Nullable, Text};
use domain::{
    AccountKey, Announcement, ConsumerName, Currency, EstablishedFact, EventKey, FactKey, LedgerAccount,
    LedgerEntry, MerchantId, Money, PaymentId, PaymentKey,
};

use super::deliveries::{DeliveryRow, messages, select_deliveries};
use super::search;
use crate::outbound::dead_letter_sql::scope::Scope;
use crate::outbound::dead_letter_sql::{Composed, Statements, listing};
use crate::outbound::payment_row::{amount, unreadable};

/// The path of the event `key`; `None` for one that the store does not know. `gaps` is the column of a
/// destination `d` with the places that may still come. Needs one state of the store.
pub(in crate::outbound) async fn path<S: Statements>(
    statements: &mut S,
    consumer: &ConsumerName,
    key: &EventKey,
    gaps: &'static str,
) -> Result<Option<EventPath>, StoreError> {
    let Some(event) = search::get(statements, consumer, key).await? else { return Ok(None) };
    let letters = letters(statements, consumer, key).await?;
    let mut path = EventPath {
        event,
        facts: Vec::new(),
        entries: Vec::new(),
        messages: Vec::new(),
        letters,
        payload_bytes: None,
    };
    match (&path.event.outcome, path.event.payment.clone()) {
        (EventOutcome::Applied, Some(payment_id)) => {
            let payment = PaymentKey { source: key.source.clone(), payment_id };
            path.facts = facts(statements, consumer, key, &payment).await?;
            path.entries = entries(statements, consumer, key).await?;
            path.messages = announced(statements, consumer, &payment, &path.facts, gaps).await?;
        }
        (EventOutcome::Recorded { .. }, _) => {
            path.payload_bytes = payload_bytes(statements, consumer, key).await?;
        }
        _ => {}
    }
    Ok(Some(path))
}

async fn letters<S: Statements>(
    statements: &mut S,
    consumer: &ConsumerName,
    key: &EventKey,
) -> Result<Vec<DeadLetterSummary>, StoreError> {
    let scope = Scope::of_filter(consumer.clone(), LetterFilter::of_event(key.clone()));
    Ok(listing::page(statements, &scope, None, None, PATH_LETTERS_MAX).await?.letters)
}

#[derive(QueryableByName)]
struct FactRow {
    #[diesel(sql_type = Text)]
    fact: String,
    #[diesel(sql_type = Nullable<BigInt>)]
    amount_minor: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    currency: Option<String>,
}

async fn facts<S: Statements>(
    statements: &mut S,
    consumer: &ConsumerName,
    key: &EventKey,
    payment: &PaymentKey,
) -> Result<Vec<EstablishedFact>, StoreError> {
    let statement = Composed::new("SELECT fact, amount_minor, currency FROM payment_facts WHERE consumer = ")
        .text(consumer.as_str())
        .sql(" AND source = ")
        .text(key.source.as_str())
        .sql(" AND payment_id = ")
        .text(payment.payment_id.as_str())
        .sql(" AND event_id = ")
        .text(key.event_id.as_str())
        .sql(" ORDER BY fact");
    let rows: Vec<FactRow> = statements.rows(statement).await?;
    let fact = |row: FactRow| {
        let amount = amount(row.amount_minor, row.currency.as_deref())?;
        Ok(EstablishedFact { key: FactKey::from_stored(row.fact), amount })
    };
    rows.into_iter().map(fact).collect()
}

#[derive(QueryableByName)]
struct EntryRow {
    #[diesel(sql_type = Text)]
    payment_id: String,
    #[diesel(sql_type = Text)]
    account: String,
    #[diesel(sql_type = Text)]
    ledger: String,
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = BigInt)]
    amount_minor: i64,
}

impl EntryRow {
    fn read(self, event: &EventKey) -> Result<LedgerEntry, BoxError> {
        let merchant = self.account.split_once(':').map(|(_, merchant)| MerchantId::parse(merchant));
        let ledger = LedgerAccount::from_name(&self.ledger)
            .ok_or_else(|| format!("unknown ledger account {:?}", self.ledger))?;
        Ok(LedgerEntry {
            event: event.clone(),
            payment: PaymentKey {
                source: event.source.clone(),
                payment_id: PaymentId::parse(&self.payment_id)?,
            },
            account: AccountKey { source: event.source.clone(), merchant: merchant.transpose()? },
            ledger,
            amount: Money::new(self.amount_minor, Currency::parse(&self.currency)?),
        })
    }
}

async fn entries<S: Statements>(
    statements: &mut S,
    consumer: &ConsumerName,
    key: &EventKey,
) -> Result<Vec<LedgerEntry>, StoreError> {
    let statement = Composed::new(
        "SELECT payment_id, account, ledger, currency, amount_minor FROM ledger_entries WHERE consumer = ",
    )
    .text(consumer.as_str())
    .sql(" AND source = ")
    .text(key.source.as_str())
    .sql(" AND event_id = ")
    .text(key.event_id.as_str());
    let rows: Vec<EntryRow> = statements.rows(statement).await?;
    let entries: Result<Vec<LedgerEntry>, BoxError> = rows.into_iter().map(|row| row.read(key)).collect();
    let mut entries =
        entries.map_err(|error| unreadable(&format!("the ledger entries of event {key}"), &error))?;
    entries.sort_by(|one, other| {
        let place = |entry: &LedgerEntry| (entry.account.clone(), entry.ledger, entry.amount.currency());
        place(one).cmp(&place(other))
    });
    Ok(entries)
}

/// The messages that tell these facts; each is found by its id.
async fn announced<S: Statements>(
    statements: &mut S,
    consumer: &ConsumerName,
    payment: &PaymentKey,
    facts: &[EstablishedFact],
    gaps: &'static str,
) -> Result<Vec<EventMessage>, StoreError> {
    let ids: Vec<String> = facts.iter().map(|fact| Announcement::id_of(payment, &fact.key)).collect();
    let mut rows: Vec<DeliveryRow> = Vec::new();
    for ids in ids.chunks(MESSAGES_AT_ONCE_MAX) {
        rows.extend(statements.rows::<DeliveryRow>(select_deliveries(consumer, ids, gaps)).await?);
    }
    messages(rows)
}

/// The most messages that one statement asks for. An event has a few.
const MESSAGES_AT_ONCE_MAX: usize = 500;

#[derive(QueryableByName)]
struct SizeRow {
    #[diesel(sql_type = BigInt)]
    bytes: i64,
}

async fn payload_bytes<S: Statements>(
    statements: &mut S,
    consumer: &ConsumerName,
    key: &EventKey,
) -> Result<Option<u64>, StoreError> {
    let statement = Composed::new("SELECT ")
        .size("payload")
        .sql(" AS bytes FROM recorded_events WHERE event_id = ")
        .text(key.event_id.as_str())
        .sql(" AND source = ")
        .text(key.source.as_str())
        .sql(" AND consumer = ")
        .text(consumer.as_str());
    let rows: Vec<SizeRow> = statements.rows(statement).await?;
    Ok(rows.first().map(|row| row.bytes.unsigned_abs()))
}
