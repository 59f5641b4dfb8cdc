//! Double entry.

use application::ports::unit_of_work::StoreError;
use diesel::sql_types::{Array, BigInt, Text};
use domain::{Currency, LedgerEntry};

use crate::outbound::balance_changes::{BalanceName, balance_changes, expect_stored};
use crate::outbound::postgres::session::Session;
use crate::outbound::postgres::statement::statement;

statement! {
    /// Stores entries, and changes balances one by one in the order in which they are given. Counting the
    /// entries has all of them stored before the first balance is locked: many units wait for a balance that
    /// all their events share. A balance that the sum does not fit stays as it is, and is not among those that
    /// are given: an overflow would be an error like any other, as the driver tells it.
    PostEntries<'a> -> (Text, Text, Text) {
        "WITH posted AS ( \
           INSERT INTO ledger_entries \
             (consumer, source, event_id, account, ledger, currency, amount_minor, payment_id) \
           SELECT " consumer: &'a str => Text,
        ", source, event_id, account, ledger, currency, amount_minor, payment_id \
           FROM unnest(" sources: Vec<&'a str> => Array<Text>,
        ", " event_ids: Vec<&'a str> => Array<Text>,
        ", " accounts: Vec<&'a str> => Array<Text>,
        ", " ledgers: Vec<&'a str> => Array<Text>,
        ", " currencies: Vec<&'a str> => Array<Text>,
        ", " amounts_minor: Vec<i64> => Array<BigInt>,
        ", " payment_ids: Vec<&'a str> => Array<Text>,
        ") AS given (source, event_id, account, ledger, currency, amount_minor, payment_id) \
           RETURNING 1) \
         INSERT INTO account_balances (consumer, account, ledger, currency, balance_minor) \
         SELECT " balances_of: &'a str => Text,
        ", account, ledger, currency, change_minor \
         FROM unnest(" balance_accounts: Vec<&'a str> => Array<Text>,
        ", " balance_ledgers: Vec<&'a str> => Array<Text>,
        ", " balance_currencies: Vec<&'a str> => Array<Text>,
        ", " changes_minor: Vec<i64> => Array<BigInt>,
        ") WITH ORDINALITY AS given (account, ledger, currency, change_minor, ordinality) \
         WHERE (SELECT count(*) FROM posted) > 0 \
         ORDER BY ordinality \
         ON CONFLICT (consumer, account, ledger, currency) DO UPDATE \
         SET balance_minor = account_balances.balance_minor + excluded.balance_minor, \
           updated_at = clock_timestamp() \
         WHERE CASE WHEN excluded.balance_minor > 0 \
           THEN account_balances.balance_minor <= 9223372036854775807 - excluded.balance_minor \
           ELSE account_balances.balance_minor >= -9223372036854775807 - 1 - excluded.balance_minor END \
         RETURNING account, ledger, currency"
    }
}

/// Appends entries and changes the balances by them.
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
        balances_of: consumer,
        balance_accounts: changes.iter().map(|change| change.account.as_str()).collect(),
        balance_ledgers: changes.iter().map(|change| change.ledger.as_str()).collect(),
        balance_currencies: changes.iter().map(|change| change.currency.code()).collect(),
        changes_minor: changes.iter().map(|change| change.amount_minor).collect(),
    };
    let stored: Vec<BalanceName> = session.rows(post).await?;
    expect_stored(&changes, &stored).map_err(|error| session.fail(error))
}
