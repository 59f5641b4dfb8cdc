//! A test's own file of tokens.

use std::path::PathBuf;

use adapters::inbound::ops::access::TokenDigest;
use harness::sqlite::TestFile;

/// The token of somebody who may operate.
pub const ANN: &str = "payonce_ann";

/// The token of somebody who may only look.
pub const BOB: &str = "payonce_bob";

/// A file of tokens, in a folder that is gone with it.
pub struct TokenFile(TestFile);

impl TokenFile {
    /// One that lets [`ANN`] operate, and [`BOB`] look.
    pub fn create() -> Self {
        let file = Self(TestFile::create_empty());
        file.write(&[("ann", "operate", ANN), ("bob", "read", BOB)]);
        file
    }

    /// Its path.
    pub fn path(&self) -> PathBuf {
        self.0.folder().join("tokens")
    }

    /// Replaces it, as an editor does.
    pub fn write(&self, tokens: &[(&str, &str, &str)]) {
        let line =
            |(name, scope, token): &(&str, &str, &str)| format!("{name} {scope} {}", TokenDigest::of(token));
        let text = tokens.iter().map(line).collect::<Vec<_>>().join("\n");
        let new = self.path().with_extension("new");
        std::fs::write(&new, text).expect("a writable folder");
        std::fs::rename(&new, self.path()).expect("a writable folder");
    }
}
