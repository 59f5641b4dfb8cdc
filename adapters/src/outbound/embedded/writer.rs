//! The one thread that writes.
//!
//! It commits together what waits together; while it waits for the disk, the next group gathers, so that no
//! linger time is needed. After any error it opens the file anew for the next group: that is also how it
//! works again by itself when the disk has room.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use application::error_chain::describe;
use application::ports::BoxError;
use diesel::connection::{AnsiTransactionManager, SimpleConnection, TransactionManager};
use diesel::dsl::{delete, insert_into, max};
use diesel::{QueryDsl, RunQueryDsl, SqliteConnection};
use tokio::sync::watch;

use super::connection::{FileId, open_to_write};
use super::inbox::{Inbox, Publish, Settle, Work, Written};
use super::rows::NewEvent;
use super::schema::{events, probe};
use super::settling::{Onward, apply, take_off};
use crate::outbound::sqlite::classify::advice_for;
use crate::outbound::sqlite::connect::Access;

/// The room that must be there for the queue to be of use again: that of many events.
const PROBE_BYTES: u32 = 64 * 1024;

pub(super) struct Writer {
    pub(super) path: PathBuf,
    /// The file that had the path when it was opened.
    pub(super) file: FileId,
    pub(super) bytes_max: Option<u64>,
    pub(super) group_max: usize,
    pub(super) inbox: Arc<Inbox>,
    /// Told after every commit that may have made an event ready.
    pub(super) changed: watch::Sender<()>,
    /// Told after every commit that has made a dead letter.
    pub(super) given_up: watch::Sender<()>,
    /// The outcome of the last group.
    pub(super) condition: watch::Sender<Written>,
    pub(super) commits: Arc<AtomicU64>,
    pub(super) open: Option<SqliteConnection>,
    pub(super) next_id: i64,
}

impl Writer {
    /// Works until the inbox is closed and empty.
    pub(super) fn run(mut self) {
        while let Some(work) = self.inbox.take(self.group_max) {
            self.work(work);
        }
    }

    fn work(&mut self, work: Work) {
        let Work { mut publishes, settles, probes } = work;
        // A caller that has gone has told the sender to send again.
        publishes.retain(|publish| !publish.answer.is_closed());
        if publishes.is_empty() && settles.is_empty() && probes.is_empty() {
            return;
        }
        let mut written = self.commit(&publishes, &settles, !probes.is_empty());
        let mut settled = written.clone();
        if written.is_err() && !settles.is_empty() {
            // Settling makes room, so it must not fail with what needs room.
            settled = self.commit(&[], &settles, false);
            if publishes.is_empty() && probes.is_empty() {
                written.clone_from(&settled);
            }
        }
        // Before the answers: whoever has one may ask at once.
        self.tell(&written);
        let published = written.is_ok() && !publishes.is_empty();
        if published || (settled.is_ok() && settles.iter().any(Settle::makes_ready_later)) {
            self.changed.send_replace(());
        }
        if settled.is_ok() && settles.iter().any(Settle::gives_up) {
            self.given_up.send_replace(());
        }
        // A caller that has gone needs no answer.
        for publish in publishes {
            publish.answer.send(written.clone()).ok();
        }
        for settle in settles {
            settle.answer.send(settled.clone()).ok();
        }
        for probe in probes {
            probe.send(written.clone()).ok();
        }
    }

    /// Logs changes only: while the disk is full, every group fails.
    fn tell(&self, written: &Written) {
        self.condition.send_modify(|condition| {
            match (&*condition, written) {
                (Ok(()), Err(error)) => tracing::error!("{error}"),
                (Err(_), Ok(())) => tracing::info!("the queue file can be written again"),
                _ => {}
            }
            condition.clone_from(written);
        });
    }

    fn commit(&mut self, publishes: &[Publish], settles: &[Settle], probed: bool) -> Written {
        let written = self.try_commit(publishes, settles, probed);
        written.map_err(|error| {
            // Whatever state the connection is in goes with it, an open transaction too.
            self.open = None;
            let text = describe(&*error);
            format!("the queue file {} cannot be written{}: {text}", self.path.display(), advice_for(&text))
        })
    }

    fn try_commit(
        &mut self,
        publishes: &[Publish],
        settles: &[Settle],
        probed: bool,
    ) -> Result<(), BoxError> {
        let mut next_id = self.next_id;
        self.file.check(&self.path)?;
        let connection = match &mut self.open {
            Some(connection) => connection,
            closed => {
                let mut connection = open_to_write(&self.path, Access::Write, self.bytes_max)?;
                let last = last_id(&mut connection)?;
                // Not lower than before: an id whose commit failed may be stored all the same.
                next_id = next_id.max(last + 1);
                closed.insert(connection)
            }
        };
        AnsiTransactionManager::begin_transaction_sql(connection, "BEGIN IMMEDIATE")?;
        for step in settles.iter().flat_map(|settle| &settle.steps) {
            apply(connection, step)?;
        }
        for settle in settles {
            take_off(connection, &settle.letters)?;
        }
        for envelope in publishes.iter().flat_map(|publish| &publish.envelopes) {
            insert_into(events::table).values(NewEvent::of(next_id, envelope)?).execute(connection)?;
            next_id += 1;
        }
        if probed {
            try_room(connection)?;
        }
        self.next_id = next_id;
        <AnsiTransactionManager as TransactionManager<SqliteConnection>>::commit_transaction(connection)?;
        self.commits.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // On the way out of a panic too: nobody shall wait for a thread that has ended.
        self.inbox.abandon();
        let ended = "the queue's writer has ended";
        self.condition.send_modify(|condition| *condition = Err(ended.to_owned()));
    }
}

impl Settle {
    fn makes_ready_later(&self) -> bool {
        self.steps.iter().any(|step| matches!(step.onward, Onward::Later { .. }))
    }

    fn gives_up(&self) -> bool {
        self.steps.iter().any(|step| matches!(step.onward, Onward::DeadLetter { .. }))
    }
}

/// The highest id in the queue, or 0.
pub(super) fn last_id(connection: &mut SqliteConnection) -> Result<i64, BoxError> {
    let last: Option<i64> = events::table.select(max(events::id)).first(connection)?;
    Ok(last.unwrap_or(0))
}

/// Takes room and gives it back: fails where the file may not grow, and makes the commit write.
fn try_room(connection: &mut SqliteConnection) -> Result<(), BoxError> {
    connection
        .batch_execute(&format!("INSERT INTO probe (id, padding) VALUES (1, zeroblob({PROBE_BYTES}))"))?;
    delete(probe::table).execute(connection)?;
    Ok(())
}
