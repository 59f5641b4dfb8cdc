//! What a payment event, a payment and money are.
//!
//! Everything here is a value or a rule over values: no async, no I/O, no clock. A value that exists is
//! valid: the constructors parse, and nothing downstream checks again.
//!
//! - [`id`]: the identifiers and the written rule that they obey
//! - [`money`]: minor units with checked arithmetic
//! - [`event`]: a payment event and the fingerprint of what it means
//! - [`payment`]: a payment's state and what an event does to it
//! - [`timestamp`]: a moment, in microseconds

pub mod event;
pub mod id;
pub mod money;
pub mod payment;
pub mod timestamp;

pub use event::{EventKey, Fact, Fingerprint, PaymentChange, PaymentEvent};
pub use id::{ConsumerName, EventId, EventKind, IdError, PaymentId, SourceName};
pub use money::{Currency, Money, MoneyError};
pub use payment::{Decision, Payment, PaymentKey, PaymentState, RecordReason, Refusal, decide};
pub use timestamp::Timestamp;
