//! The transmissions that have come, so that none counts again with another body.
//!
//! A signature of PayPal's binds no more of a body than 32 bits: whoever has a genuine transmission can make a
//! body of his own for it. What a process has seen is its own; another replica, or the same after a restart,
//! has not seen it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};

/// How many transmissions are remembered: the newest. 48 bytes each, and half as much again for the table.
const TRANSMISSIONS_MAX: usize = 65_536;

/// The first half of a SHA-256: nobody finds a second body for it.
type Mark = [u8; 16];

/// See the [module](self).
#[derive(Default)]
pub struct Transmissions(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    bodies: HashMap<Mark, Mark>,
    order: VecDeque<Mark>,
}

impl Transmissions {
    /// Whether a verified transmission of that id may have that body: it has not come before, or with the same.
    pub fn admit(&self, id: &str, body: &[u8]) -> bool {
        let (id, body) = (mark(id.as_bytes()), mark(body));
        // Each change is whole, so a panic elsewhere has left it whole.
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = seen.bodies.get(&id) {
            return *known == body;
        }
        if seen.order.len() >= TRANSMISSIONS_MAX
            && let Some(oldest) = seen.order.pop_front()
        {
            seen.bodies.remove(&oldest);
        }
        seen.bodies.insert(id, body);
        seen.order.push_back(id);
        true
    }
}

fn mark(bytes: &[u8]) -> Mark {
    let digest = Sha256::digest(bytes);
    std::array::from_fn(|index| digest[index])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transmission_comes_again_with_its_own_body_only() {
        let transmissions = Transmissions::default();
        assert!(transmissions.admit("t1", b"a"));
        assert!(transmissions.admit("t1", b"a"));
        assert!(!transmissions.admit("t1", b"b"));
        assert!(transmissions.admit("t2", b"b"));
    }

    #[test]
    fn the_oldest_are_forgotten_beyond_the_limit() {
        let transmissions = Transmissions::default();
        for number in 0..=TRANSMISSIONS_MAX {
            assert!(transmissions.admit(&number.to_string(), b"a"));
        }
        assert!(!transmissions.admit("1", b"b"));
        assert!(transmissions.admit("0", b"b"));
        let seen = transmissions.0.lock().unwrap();
        assert_eq!((seen.bodies.len(), seen.order.len()), (TRANSMISSIONS_MAX, TRANSMISSIONS_MAX));
    }
}
