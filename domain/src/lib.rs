//! What a payment event, a payment and money are.
//!
//! Everything here is a value or a rule over values: no async, no I/O, no clock. A value that exists is
//! valid: the constructors parse, and nothing downstream checks again.
//!
//! - [`id`]: the identifiers and the written rule that they obey
//! - [`money`]: minor units with checked arithmetic
//! - [`fact`]: what can become true of a payment or a payout
//! - [`event`]: a payment event and the fingerprint of what it means
//! - [`payment`]: a payment as its events have made it
//! - [`decide`](mod@decide): what an event does to a payment
//! - [`ledger`]: double entry
//! - [`announcement`]: what the rest of the company hears
//! - [`digest`]: tells things apart by what they are made of
//! - [`timestamp`]: a moment, in microseconds

pub mod announcement;
pub mod decide;
pub mod digest;
pub mod event;
pub mod fact;
pub mod id;
pub mod ledger;
pub mod money;
pub mod payment;
pub mod timestamp;

pub use announcement::Announcement;
pub use decide::{Change, Decision, EstablishedFact, NotReady, RecordReason, Refusal, decide};
pub use digest::Digest;
pub use event::{Effect, EventKey, Fingerprint, NoEffect, PaymentChange, PaymentEvent};
pub use fact::{Fact, FactKey, Progress};
pub use id::{ConsumerName, EventId, EventKind, FactId, IdError, MerchantId, PaymentId, SourceName};
pub use ledger::{AccountKey, LedgerAccount, LedgerEntry, Position};
pub use money::{Currency, Money, MoneyError};
pub use payment::{Payment, PaymentKey, PaymentState, Stage, Standing, Totals};
pub use timestamp::Timestamp;
