//! The sessions of the page: who has logged in, in this process, and when.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use domain::{Digest, Timestamp};

use super::token::TokenDigest;

/// A session that is not used for this long is over.
pub const SESSION_IDLE_MAX: Duration = Duration::from_mins(30);

/// A session is over after this long, however much it is used.
pub const SESSION_AGE_MAX: Duration = Duration::from_hours(12);

/// The most sessions; a further one ends the one that was unused for longest.
pub const SESSIONS_MAX: usize = 256;

/// Somebody's log-in.
#[derive(Debug, Clone, Copy)]
struct Session {
    /// The token that it was begun with. The session holds as long as that does.
    token: TokenDigest,
    begun: Timestamp,
    used: Timestamp,
}

impl Session {
    fn is_over(&self, now: Timestamp) -> bool {
        now.since(self.used) >= SESSION_IDLE_MAX || now.since(self.begun) >= SESSION_AGE_MAX
    }
}

/// The sessions, by the digest of their id: who can read the memory, or a dump of it, cannot take one over.
#[derive(Debug, Default)]
pub(super) struct Sessions(Mutex<HashMap<Digest, Session>>);

impl Sessions {
    /// Begins a session.
    pub fn begin(&self, id: &str, token: TokenDigest, now: Timestamp) {
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|_, session| !session.is_over(now));
        if sessions.len() >= SESSIONS_MAX
            && let Some(unused) = sessions.iter().min_by_key(|(_, session)| session.used).map(|(id, _)| *id)
        {
            sessions.remove(&unused);
        }
        sessions.insert(digest(id), Session { token, begun: now, used: now });
    }

    /// The token of the session, if there is one that is not over. This is a use of it.
    pub fn token_of(&self, id: &str, now: Timestamp) -> Option<TokenDigest> {
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let id = digest(id);
        let session = sessions.get_mut(&id)?;
        if session.is_over(now) {
            sessions.remove(&id);
            return None;
        }
        session.used = now;
        Some(session.token)
    }

    /// Ends a session.
    pub fn end(&self, id: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&digest(id));
    }
}

fn digest(id: &str) -> Digest {
    Digest::of([id.as_bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

    fn begun() -> Sessions {
        let sessions = Sessions::default();
        sessions.begin("id", TokenDigest::of("token"), START);
        sessions
    }

    #[test]
    fn a_session_gives_the_token_that_it_was_begun_with() {
        assert_eq!(begun().token_of("id", START), Some(TokenDigest::of("token")));
        assert_eq!(begun().token_of("other", START), None);
    }

    #[test]
    fn a_session_that_is_not_used_is_over() {
        let sessions = begun();
        assert!(sessions.token_of("id", START.plus(SESSION_IDLE_MAX)).is_none());
        assert!(sessions.token_of("id", START).is_none(), "what is over stays so");
    }

    #[test]
    fn a_session_that_is_used_is_over_all_the_same_in_the_end() {
        let sessions = begun();
        let mut now = START;
        while now.since(START) < SESSION_AGE_MAX {
            assert!(sessions.token_of("id", now).is_some());
            now = now.plus(SESSION_IDLE_MAX / 2);
        }
        assert!(sessions.token_of("id", now).is_none());
    }

    #[test]
    fn a_session_can_be_ended() {
        let sessions = begun();
        sessions.end("id");
        assert!(sessions.token_of("id", START).is_none());
    }

    #[test]
    fn one_session_too_many_ends_the_one_that_was_unused_for_longest() {
        let sessions = begun();
        for other in 0..SESSIONS_MAX {
            sessions.begin(&other.to_string(), TokenDigest::of("token"), START.plus(Duration::from_secs(1)));
        }
        assert!(sessions.token_of("id", START).is_none());
        assert_eq!(sessions.0.lock().unwrap().len(), SESSIONS_MAX);
    }
}
