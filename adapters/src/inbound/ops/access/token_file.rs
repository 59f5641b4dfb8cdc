//! The file of tokens: who is let in. It is read again whenever it has changed, so that tokens can be rotated
//! without a restart.

use std::collections::BTreeSet;
use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use application::operator::Actor;
use tracing::{error, info};

use super::principal::{Principal, Scope};
use super::token::TokenDigest;

/// The most tokens of a file.
pub const TOKENS_MAX: usize = 1_000;

/// The longest file that is read, in bytes.
pub const FILE_BYTES_MAX: u64 = 256 * 1024;

/// The longest name of a token, in bytes.
pub const NAME_BYTES_MAX: usize = 64;

/// Why a file of tokens is of no use.
#[derive(Debug, thiserror::Error)]
pub enum TokenFileError {
    /// It cannot be read.
    #[error("{path} cannot be read: {source}")]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is longer than a file of tokens can be.
    #[error("{path} has {bytes} bytes; at most {FILE_BYTES_MAX} are read")]
    TooLong {
        /// Which file.
        path: PathBuf,
        /// How long it is.
        bytes: u64,
    },
    /// A line is none.
    #[error("{path}: line {line} {wrong}")]
    Line {
        /// Which file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// What is wrong with it. Never what is in it: it may be a token in the wrong place.
        wrong: &'static str,
    },
}

/// The name of a token: letters, digits, `.`, `_`, `@` and `-`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TokenName(String);

impl TokenName {
    /// The name of that text; `None` for one that is none.
    pub fn parse(text: &str) -> Option<Self> {
        let in_alphabet = |c: char| c.is_ascii_alphanumeric() || "._@-".contains(c);
        let valid = !text.is_empty() && text.len() <= NAME_BYTES_MAX && text.chars().all(in_alphabet);
        valid.then(|| Self(text.to_owned()))
    }
}

impl fmt::Display for TokenName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One token, by its digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub name: TokenName,
    pub scope: Scope,
    pub digest: TokenDigest,
}

impl Token {
    /// Whoever has it.
    ///
    /// # Panics
    /// Never: what is the name of a token is the name of an operator.
    pub fn principal(&self) -> Principal {
        let actor = Actor::parse(&self.name.0).expect("a token's name is an operator's");
        Principal { actor, scope: self.scope }
    }
}

/// The tokens of a file, as they were when it was last well-formed.
#[derive(Debug)]
pub struct Tokens {
    path: PathBuf,
    loaded: Mutex<Loaded>,
}

#[derive(Debug)]
struct Loaded {
    tokens: Vec<Token>,
    stamp: Option<Stamp>,
}

/// What changes when a file does: it is written to, or replaced by another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
}

impl Tokens {
    /// Reads the file.
    ///
    /// # Errors
    /// It is of no use; nobody would know whom to let in.
    pub fn open(path: PathBuf) -> Result<Self, TokenFileError> {
        // The stamp first: a change in between is seen as one later.
        let stamp = Stamp::of(&path);
        let tokens = read(&path)?;
        info!(path = %path.display(), tokens = tokens.len(), "operators' tokens read");
        Ok(Self { path, loaded: Mutex::new(Loaded { tokens, stamp }) })
    }

    /// The names, in the file's order.
    pub fn names(&self) -> Vec<String> {
        let loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.tokens.iter().map(|token| token.name.to_string()).collect()
    }

    /// The token of that digest. Every token is compared, each in constant time.
    pub(super) fn find(&self, digest: TokenDigest) -> Option<Token> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.refresh(&self.path);
        let mut found = None;
        for token in &loaded.tokens {
            if token.digest == digest {
                found = Some(token.clone());
            }
        }
        found
    }
}

impl Loaded {
    /// Reads the file again where it has changed. What is of no use changes nothing: a slip of the pen must not
    /// lock everybody out, and it is told once.
    fn refresh(&mut self, path: &Path) {
        let stamp = Stamp::of(path);
        if stamp == self.stamp {
            return;
        }
        self.stamp = stamp;
        match read(path) {
            Ok(tokens) => {
                let (before, after) = (names(&self.tokens), names(&tokens));
                info!(
                    path = %path.display(),
                    tokens = tokens.len(),
                    added = listed(&after, &before),
                    dropped = listed(&before, &after),
                    "operators' tokens read again"
                );
                self.tokens = tokens;
            }
            Err(problem) => {
                error!(%problem, "the operators' tokens have changed and cannot be used; those before still hold");
            }
        }
    }
}

fn names(tokens: &[Token]) -> BTreeSet<&TokenName> {
    tokens.iter().map(|token| &token.name).collect()
}

fn listed(these: &BTreeSet<&TokenName>, without: &BTreeSet<&TokenName>) -> String {
    these.difference(without).map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(path).ok()?;
        Some(Self {
            inode: metadata.ino(),
            bytes: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        })
    }
}

fn read(path: &Path) -> Result<Vec<Token>, TokenFileError> {
    let unreadable = |source| TokenFileError::Unreadable { path: path.to_owned(), source };
    let bytes = std::fs::metadata(path).map_err(unreadable)?.len();
    if bytes > FILE_BYTES_MAX {
        return Err(TokenFileError::TooLong { path: path.to_owned(), bytes });
    }
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    parse(&text).map_err(|(line, wrong)| TokenFileError::Line { path: path.to_owned(), line, wrong })
}

/// The tokens of a file's text; else the number of a line, and what is wrong with it.
fn parse(text: &str) -> Result<Vec<Token>, (usize, &'static str)> {
    let mut tokens: Vec<Token> = Vec::new();
    for (place, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let token = parse_line(line).map_err(|wrong| (place + 1, wrong))?;
        if tokens.iter().any(|other| other.name == token.name) {
            return Err((place + 1, "has the name of an earlier line; give each token a name of its own"));
        }
        if tokens.iter().any(|other| other.digest == token.digest) {
            return Err((place + 1, "has the digest of an earlier line"));
        }
        if tokens.len() == TOKENS_MAX {
            return Err((place + 1, "is one too many; a file has at most 1000 tokens"));
        }
        tokens.push(token);
    }
    Ok(tokens)
}

fn parse_line(line: &str) -> Result<Token, &'static str> {
    let parts: Vec<&str> = line.split_whitespace().collect();
    let [name, scope, digest] = parts[..] else {
        return Err("is not `NAME SCOPE sha256:DIGEST`, as `payonce token NAME` prints it");
    };
    Ok(Token {
        name: TokenName::parse(name)
            .ok_or("has a name with other than letters, digits, '.', '_', '@', '-'")?,
        scope: Scope::from_name(scope).ok_or("has a scope that is neither read nor operate")?,
        digest: TokenDigest::parse(digest).ok_or("does not end with sha256: and 64 hexadecimal digits")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, scope: &str, token: &str) -> String {
        format!("{name} {scope} {}\n", TokenDigest::of(token))
    }

    /// A file of its own for each test, gone with it.
    struct File(PathBuf);

    impl File {
        fn new(name: &str, text: &str) -> Self {
            let path = std::env::temp_dir().join(format!("payonce-tokens-{name}-{}", std::process::id()));
            std::fs::write(&path, text).unwrap();
            Self(path)
        }

        fn replace(&self, text: &str) {
            let new = self.0.with_extension("new");
            std::fs::write(&new, text).unwrap();
            std::fs::rename(&new, &self.0).unwrap();
        }
    }

    impl Drop for File {
        fn drop(&mut self) {
            std::fs::remove_file(&self.0).ok();
        }
    }

    #[test]
    fn comments_and_empty_lines_are_passed_over() {
        let text = format!("# operators\n\n  {}", line("ann", "operate", "a"));
        let tokens = parse(&text).unwrap();
        assert_eq!((tokens[0].name.to_string().as_str(), tokens[0].scope), ("ann", Scope::Operate));
        assert!(parse("").unwrap().is_empty());
    }

    #[test]
    fn a_line_that_is_none_is_named_by_its_number_only() {
        let good = line("ann", "read", "a");
        for bad in ["secret-token", "bob admin sha256:00", &line("b/b", "read", "b"), "bob read sha256:0"] {
            let (number, wrong) = parse(&format!("{good}{bad}")).unwrap_err();
            assert_eq!(number, 2, "{bad}");
            assert!(!wrong.contains("secret"), "{wrong}");
        }
    }

    #[test]
    fn no_two_tokens_have_one_name_or_one_digest() {
        for second in [line("ann", "read", "b"), line("bob", "read", "a")] {
            assert_eq!(parse(&format!("{}{second}", line("ann", "read", "a"))).unwrap_err().0, 2);
        }
    }

    #[test]
    fn a_changed_file_counts_at_once() {
        let file = File::new("changed", &line("ann", "read", "a"));
        let tokens = Tokens::open(file.0.clone()).unwrap();
        assert!(tokens.find(TokenDigest::of("a")).is_some());
        file.replace(&line("bob", "operate", "b"));
        assert!(tokens.find(TokenDigest::of("a")).is_none());
        assert_eq!(tokens.find(TokenDigest::of("b")).unwrap().scope, Scope::Operate);
    }

    #[test]
    fn a_broken_or_missing_file_changes_nothing_until_it_is_mended() {
        let file = File::new("broken", &line("ann", "read", "a"));
        let tokens = Tokens::open(file.0.clone()).unwrap();
        file.replace("ann read");
        assert!(tokens.find(TokenDigest::of("a")).is_some());
        std::fs::remove_file(&file.0).unwrap();
        assert!(tokens.find(TokenDigest::of("a")).is_some());
        file.replace("");
        assert!(tokens.find(TokenDigest::of("a")).is_none());
    }

    #[test]
    fn a_file_that_is_of_no_use_from_the_beginning_is_refused() {
        let file = File::new("useless", "ann");
        assert!(matches!(Tokens::open(file.0.clone()), Err(TokenFileError::Line { line: 1, .. })));
        assert!(matches!(
            Tokens::open(file.0.with_extension("missing")),
            Err(TokenFileError::Unreadable { .. })
        ));
    }
}
