//! What the outbox's queries give.

use application::ports::outbox::{OutboxEntry, Standing};
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Bool, Nullable, Text};
use domain::Timestamp;

use crate::outbound::outbox_time::since_millis;

/// A message as it is stored.
#[derive(QueryableByName)]
pub(super) struct Message {
    #[diesel(sql_type = BigInt)]
    seq: i64,
    #[diesel(sql_type = Text)]
    id: String,
    #[diesel(sql_type = Text)]
    kind: String,
    #[diesel(sql_type = Text)]
    source: String,
    #[diesel(sql_type = Text)]
    payment_id: String,
    #[diesel(sql_type = Text)]
    account: String,
    #[diesel(sql_type = Text)]
    fact: String,
    #[diesel(sql_type = Nullable<BigInt>)]
    amount_minor: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    currency: Option<String>,
    #[diesel(sql_type = BigInt)]
    occurred_at: i64,
}

impl Message {
    fn entry(self, standing: Standing) -> OutboxEntry {
        OutboxEntry {
            seq: self.seq,
            id: self.id,
            kind: self.kind,
            source: self.source,
            payment_id: self.payment_id,
            account: self.account,
            fact: self.fact,
            amount_minor: self.amount_minor,
            currency: self.currency,
            occurred_at: Timestamp::from_micros(self.occurred_at),
            standing,
        }
    }
}

/// A message after the position.
#[derive(QueryableByName)]
pub(super) struct Fresh {
    #[diesel(embed)]
    message: Message,
    #[diesel(sql_type = Bool)]
    is_ours: bool,
    #[diesel(sql_type = Bool)]
    is_behind: bool,
}

impl Fresh {
    pub(super) const fn seq(&self) -> i64 {
        self.message.seq
    }

    /// `None` for another consumer's.
    pub(super) fn into_entry(self) -> Option<OutboxEntry> {
        let standing = if self.is_behind { Standing::Behind } else { Standing::New };
        self.is_ours.then(|| self.message.entry(standing))
    }
}

/// A message that waited.
#[derive(QueryableByName)]
pub(super) struct Due {
    #[diesel(embed)]
    message: Message,
    #[diesel(sql_type = BigInt)]
    attempts: i64,
    #[diesel(sql_type = BigInt)]
    tried_ms: i64,
}

impl Due {
    pub(super) fn into_entry(self) -> OutboxEntry {
        let attempts = u32::try_from(self.attempts).unwrap_or(0);
        self.message.entry(Standing::Waiting { attempts, tried_for: since_millis(self.tried_ms) })
    }
}

/// A lease that was taken.
#[derive(QueryableByName)]
pub(super) struct Taken {
    #[diesel(sql_type = BigInt)]
    pub(super) term: i64,
    #[diesel(sql_type = BigInt)]
    pub(super) position: i64,
}

/// Some number.
#[derive(QueryableByName)]
pub(super) struct Number {
    #[diesel(sql_type = BigInt)]
    pub(super) number: i64,
}

/// How far a destination has come.
#[derive(QueryableByName)]
pub(super) struct Depth {
    #[diesel(sql_type = Text)]
    pub(super) destination: String,
    #[diesel(sql_type = BigInt)]
    pub(super) behind: i64,
    #[diesel(sql_type = BigInt)]
    pub(super) oldest_ms: i64,
    #[diesel(sql_type = BigInt)]
    pub(super) waiting: i64,
    #[diesel(sql_type = BigInt)]
    pub(super) failed: i64,
}
