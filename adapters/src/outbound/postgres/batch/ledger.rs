//! Double entry.

use application::ports::unit_of_work::StoreError;
use diesel::sql_types::{Array, BigInt, Text};
use domain::{Currency, LedgerEntry};

use crate::outbound::balance_changes::{BalanceName, balance_changes, expect_stored};
use crate::outbound::postgres::session::Session;
use crate::outbound::postgres::statement::statement;

statement! {
    /// Stores entries.
    PostEntries<'a> -> () {
        "INSERT INTO ledger_entries \
           (consumer, source, event_id, account, ledger, currency, amount_minor, payment_id) \
         SELECT " consumer: &'a str => Text,
        ", unnest(" sources: Vec<&'a str> => Array<Text>,
        "), unnest(" event_ids: Vec<&'a str> => Array<Text>,
        "), unnest(" accounts: Vec<&'a str> => Array<Text>,
        "), unnest(" ledgers: Vec<&'a str> => Array<Text>,
        "), unnest(" currencies: Vec<&'a str> => Array<Text>,
        "), unnest(" amounts_minor: Vec<i64> => Array<BigInt>,
        "), unnest(" payment_ids: Vec<&'a str> => Array<Text>,
        ")"
    }
}

statement! {
    /// Changes balances one by one in the order in which they are given, from zero where there is none, and gives
    /// those that it has changed. One that the sum does not fit stays as it is: an overflow would be an error like
    /// any other, as the driver tells it.
    ChangeBalances<'a> -> (Text, Text, Text) {
        "INSERT INTO account_balances (consumer, account, ledger, currency, balance_minor) \
         SELECT " consumer: &'a str => Text,
        ", unnest(" accounts: Vec<&'a str> => Array<Text>,
        "), unnest(" ledgers: Vec<&'a str> => Array<Text>,
        "), unnest(" currencies: Vec<&'a str> => Array<Text>,
        "), unnest(" changes_minor: Vec<i64> => Array<BigInt>,
        ") ON CONFLICT (consumer, account, ledger, currency) DO UPDATE \
         SET balance_minor = account_balances.balance_minor + excluded.balance_minor, \
           updated_at = clock_timestamp() \
         WHERE CASE WHEN excluded.balance_minor > 0 \
           THEN account_balances.balance_minor <= 9223372036854775807 - excluded.balance_minor \
           ELSE account_balances.balance_minor >= -9223372036854775807 - 1 - excluded.balance_minor END \
         RETURNING account, ledger, currency"
    }
}

/// Appends entries and then changes the balances by them: many units wait for a balance that all their events
/// share, so it is locked as late as can be.
pub(in crate::outbound::postgres) async fn post(
    session: &mut Session,
    consumer: &str,
    entries: &[LedgerEntry],
) -> Result<(), StoreError> {
    let changes = balance_changes(entries).map_err(|error| session.fail(error))?;
    let accounts: Vec<String> = entries.iter().map(|entry| entry.account.to_string()).collect();
    let currencies: Vec<Currency> = entries.iter().map(|entry| entry.amount.currency()).collect();
    let post = PostEntries {
        consumer,
        sources: entries.iter().map(|entry| entry.event.source.as_str()).collect(),
        event_ids: entries.iter().map(|entry| entry.event.event_id.as_str()).collect(),
        accounts: accounts.iter().map(String::as_str).collect(),
        ledgers: entries.iter().map(|entry| entry.ledger.as_str()).collect(),
        currencies: currencies.iter().map(Currency::code).collect(),
        amounts_minor: entries.iter().map(|entry| entry.amount.minor_units()).collect(),
        payment_ids: entries.iter().map(|entry| entry.payment.payment_id.as_str()).collect(),
    };
    session.change(post).await?;
    let change = ChangeBalances {
        consumer,
        accounts: changes.iter().map(|change| change.account.as_str()).collect(),
        ledgers: changes.iter().map(|change| change.ledger.as_str()).collect(),
        currencies: changes.iter().map(|change| change.currency.code()).collect(),
        changes_minor: changes.iter().map(|change| change.amount_minor).collect(),
    };
    let stored: Vec<BalanceName> = session.rows(change).await?;
    expect_stored(&changes, &stored).map_err(|error| session.fail(error))
}
