//! A payload as it came. It may hold what is masked everywhere else, so it is written down who has had it.

use application::dead_letter::DeadLetterId;
use application::operator::{OperatorAction, Why};
use application::ports::unit_of_work::StoreError;
use bytes::Bytes;

use super::access::{Denied, Principal, Scope};
use super::services::{NotHere, OpsServices};

/// What is written down as the reason: a download has none of its own.
const TO_LOOK_AT_IT: &str = "to look at it unmasked";

/// Why it is not handed out.
#[derive(Debug, thiserror::Error)]
pub enum RawPayloadError {
    /// Who asks may not have it.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// Another process has it.
    #[error(transparent)]
    NotHere(#[from] NotHere),
    /// There is no such letter.
    #[error("there is no dead letter {0}")]
    NoLetter(DeadLetterId),
    /// The store did not give it, or could not write it down.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The bytes of the letter `id`. What cannot be written down is not handed out.
///
/// # Panics
/// Never: the reason says something.
pub async fn raw_payload(
    services: &OpsServices,
    principal: &Principal,
    id: DeadLetterId,
) -> Result<Bytes, RawPayloadError> {
    principal.require(Scope::Operate)?;
    let store = services.store()?;
    let letter = store.letters.get(id).await?.ok_or(RawPayloadError::NoLetter(id))?;
    let action = OperatorAction {
        order: services.order(principal, Why::parse(TO_LOOK_AT_IT).expect("it says something")),
        what: "download payload".to_owned(),
        target: format!("dead letter {id}"),
    };
    store.actions.record(&action).await?;
    Ok(letter.content.payload)
}

/// The name of the file that it becomes.
pub fn file_name(id: DeadLetterId) -> String {
    format!("dead-letter-{id}.bin")
}
