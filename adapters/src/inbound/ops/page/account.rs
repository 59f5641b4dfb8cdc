//! `/accounts/{account}`: what an account holds.

use actix_web::HttpResponse;
use actix_web::web::Path;
use application::ports::payment_reader::Balance;
use askama::Template;

use super::error::PageError;
use super::frame::{Frame, Place};
use super::view::Amount;
use super::view::badge::words;
use super::visitor::Visitor;

#[derive(Template)]
#[template(path = "account.html")]
struct AccountPage {
    frame: Frame,
    account: String,
    balances: Vec<BalanceRow>,
}

struct BalanceRow {
    ledger: String,
    meaning: &'static str,
    side: &'static str,
    amount: Amount,
}

/// The balances of one account.
pub async fn account(visitor: Visitor, account: Path<String>) -> Result<HttpResponse, PageError> {
    let account = account.into_inner();
    let balances = visitor.store()?.payments.balances(&account).await?;
    if balances.is_empty() {
        return Err(PageError::NoSuch(format!("account {account:?} in the books")));
    }
    Ok(visitor.show(&AccountPage {
        frame: visitor.frame(format!("Account {account}"), Place::Elsewhere),
        balances: balances.iter().map(row).collect(),
        account,
    }))
}

fn row(balance: &Balance) -> BalanceRow {
    use domain::LedgerAccount::{Bank, Disputes, Fees, Merchant, ProviderClearing, Refunds};
    let minor_units = balance.amount.minor_units();
    BalanceRow {
        ledger: words(balance.ledger.as_str()),
        meaning: match balance.ledger {
            ProviderClearing => "What the provider holds",
            Merchant => "What was taken from payers",
            Refunds => "What went back to payers",
            Disputes => "What banks took back",
            Fees => "What the provider kept",
            Bank => "What was paid out",
        },
        side: match minor_units {
            0 => "",
            1.. => "debit",
            _ => "credit",
        },
        amount: Amount::new(i128::from(minor_units).abs(), balance.amount.currency()),
    }
}
