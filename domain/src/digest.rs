//! Tells things apart by what they are made of.

use std::fmt;

use sha2::{Digest as _, Sha256};

/// A SHA-256 over parts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; Digest::BYTES]);

impl Digest {
    /// How many bytes a digest has.
    pub const BYTES: usize = 32;

    /// The digest of `parts`, in their order. No two lists of parts run together into the same bytes.
    pub fn of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        Self(hash.finalize().into())
    }

    /// From stored bytes; `None` when there are not [`Self::BYTES`] of them.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// The bytes to store.
    pub const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(parts: &[&str]) -> Digest {
        Digest::of(parts.iter().map(|part| part.as_bytes()))
    }

    #[test]
    fn parts_do_not_run_together() {
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_ne!(of(&["ab"]), of(&["ab", ""]));
        assert_ne!(of(&["a", "b"]), of(&["b", "a"]));
    }

    #[test]
    fn the_same_parts_have_the_same_digest() {
        assert_eq!(of(&["a", "b"]), of(&["a", "b"]));
    }

    #[test]
    fn stored_bytes_come_back_as_the_same_digest() {
        let digest = of(&["a"]);
        assert_eq!(Digest::from_bytes(digest.as_bytes()), Some(digest));
        assert_eq!(Digest::from_bytes(&[0; 31]), None);
    }
}
