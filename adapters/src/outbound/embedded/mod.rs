//! The broker without a service: a durable queue in an SQLite file of its own.
//!
//! One process owns the file, so who has what in hand is kept in memory and nothing is written when a batch
//! is handed out: after a crash everything that is not settled is simply ready again, in its order. Only
//! `in_hand` remembers, beside the file, what was in hand, so that an event that kills the process is found.
//!
//! All writes go through one thread (`writer`), which commits together what waits together; reads have
//! connections of their own, which SQLite's write-ahead log lets run beside the writer.

mod broker;
mod claims;
mod connection;
mod folder_lock;
mod in_hand;
mod inbox;
mod inspector;
mod letter_claims;
mod publisher;
mod recovery;
mod rows;
mod schema;
mod settling;
mod writer;

pub use broker::{EmbeddedBroker, EmbeddedSettings, OpenError};
pub use folder_lock::{DataFolderInUse, DataFolderLock, LOCK_FILE, lock_data_folder};
pub use inspector::{EmbeddedInspector, KeptDeadLetter};
pub use publisher::EmbeddedPublisher;
pub use recovery::{ALONE_AFTER_UNCLEAN_STOPS, UNCLEAN_STOPS_MAX};

pub(crate) use claims::{Claimed, SubscriptionId};
pub(crate) use letter_claims::{ClaimedLetters, Room};
pub(crate) use settling::{Onward, Step};
