//! Double entry.

use application::ports::unit_of_work::StoreError;
use diesel::sql_types::{BigInt, Text};
use diesel::{RunQueryDsl, SqliteConnection};
use domain::{ConsumerName, Currency, LedgerEntry};

use crate::outbound::balance_changes::{BalanceName, balance_changes, expect_stored};
use crate::outbound::sqlite::classify::classify;
use crate::outbound::sqlite::statement::{groups, row, statement};

row! {
    /// An entry.
    EntryNow<'a> {
        consumer: &'a str => Text,
        source: &'a str => Text,
        event_id: &'a str => Text,
        account: &'a str => Text,
        ledger: &'a str => Text,
        currency: &'a str => Text,
        amount_minor: i64 => BigInt,
        payment_id: &'a str => Text,
    }
}

row! {
    /// What is added to a balance.
    ChangeNow<'a> {
        consumer: &'a str => Text,
        account: &'a str => Text,
        ledger: &'a str => Text,
        currency: &'a str => Text,
        change_minor: i64 => BigInt,
    }
}

statement! {
    /// Stores entries.
    PostEntries over EntryNow -> () {
        "INSERT INTO ledger_entries \
           (consumer, source, event_id, account, ledger, currency, amount_minor, payment_id) \
         VALUES ",
        ""
    }
}

statement! {
    /// Changes balances, from zero where there is none, and gives those that it has changed. One that the sum does
    /// not fit stays as it is: the sum would be a floating-point number.
    ChangeBalances over ChangeNow -> (Text, Text, Text) {
        "INSERT INTO account_balances (consumer, account, ledger, currency, balance_minor) VALUES ",
        " ON CONFLICT (consumer, account, ledger, currency) DO UPDATE \
         SET balance_minor = balance_minor + excluded.balance_minor, \
           updated_at = CAST(unixepoch('subsec') * 1000000 AS INTEGER) \
         WHERE CASE WHEN excluded.balance_minor > 0 \
           THEN balance_minor <= 9223372036854775807 - excluded.balance_minor \
           ELSE balance_minor >= -9223372036854775807 - 1 - excluded.balance_minor END \
         RETURNING account, ledger, currency"
    }
}

/// Appends entries and changes the balances by them.
pub(in crate::outbound::sqlite) fn post(
    connection: &mut SqliteConnection,
    consumer: &ConsumerName,
    entries: &[LedgerEntry],
) -> Result<(), StoreError> {
    let changes = balance_changes(entries)?;
    let accounts: Vec<String> = entries.iter().map(|entry| entry.account.to_string()).collect();
    let currencies: Vec<Currency> = entries.iter().map(|entry| entry.amount.currency()).collect();
    let entries: Vec<EntryNow<'_>> = entries
        .iter()
        .zip(accounts.iter().zip(&currencies))
        .map(|(entry, (account, currency))| EntryNow {
            consumer: consumer.as_str(),
            source: entry.event.source.as_str(),
            event_id: entry.event.event_id.as_str(),
            account,
            ledger: entry.ledger.as_str(),
            currency: currency.code(),
            amount_minor: entry.amount.minor_units(),
            payment_id: entry.payment.payment_id.as_str(),
        })
        .collect();
    for group in groups(&entries) {
        PostEntries(group).execute(connection).map_err(classify)?;
    }
    let rows: Vec<ChangeNow<'_>> = changes
        .iter()
        .map(|change| ChangeNow {
            consumer: consumer.as_str(),
            account: &change.account,
            ledger: change.ledger.as_str(),
            currency: change.currency.code(),
            change_minor: change.amount_minor,
        })
        .collect();
    let mut stored: Vec<BalanceName> = Vec::with_capacity(rows.len());
    for group in groups(&rows) {
        stored.extend(ChangeBalances(group).load::<BalanceName>(connection).map_err(classify)?);
    }
    expect_stored(&changes, &stored)
}
