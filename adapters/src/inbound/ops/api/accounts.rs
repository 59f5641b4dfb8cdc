//! `/api/accounts`

use actix_web::web::{Data, Json, Path};
use application::ports::payment_reader::Balance;
use domain::id::{ID_BYTES_MAX, NAME_BYTES_MAX};
use serde::Serialize;
use utoipa::ToSchema;

use super::super::services::OpsServices;
use super::document::Problems;
use super::error::ApiError;
use super::money::MoneyDoc;

/// The longest account, in bytes: a source, a colon and a merchant.
const ACCOUNT_BYTES_MAX: usize = NAME_BYTES_MAX + 1 + ID_BYTES_MAX;

/// What one of an account's ledger accounts holds.
#[derive(Debug, Serialize, ToSchema)]
pub struct BalanceDoc {
    /// Which one.
    #[schema(example = "provider_clearing")]
    ledger: &'static str,
    /// How much: a debit when positive, a credit when negative.
    amount: MoneyDoc,
}

impl From<&Balance> for BalanceDoc {
    fn from(balance: &Balance) -> Self {
        Self { ledger: balance.ledger.as_str(), amount: balance.amount.into() }
    }
}

/// What an account holds.
#[derive(Debug, Serialize, ToSchema)]
pub struct AccountDoc {
    /// The account: `source`, or `source:merchant`.
    account: String,
    /// Its balances; of each currency they sum to zero.
    balances: Vec<BalanceDoc>,
}

/// The balances of an account
#[utoipa::path(get, path = "/api/accounts/{account}/balance", tag = "payments",
    params(("account" = String, Path, description = "`source`, or `source:merchant`")),
    responses((status = 200, body = AccountDoc), Problems))]
pub async fn balance(
    services: Data<OpsServices>,
    account: Path<String>,
) -> Result<Json<AccountDoc>, ApiError> {
    let account = account.into_inner();
    let payments = &services.store()?.payments;
    let can_be_one = account.len() <= ACCOUNT_BYTES_MAX && !account.chars().any(char::is_control);
    let balances = if can_be_one { payments.balances(&account).await? } else { Vec::new() };
    if balances.is_empty() {
        return Err(ApiError::NoSuch(format!("account {account:?} to which anything was booked")));
    }
    Ok(Json(AccountDoc { account, balances: balances.iter().map(BalanceDoc::from).collect() }))
}
