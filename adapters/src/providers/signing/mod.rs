//! What signature schemes are made of.

mod body_signature;
mod encoding;
mod keyed_hash;
mod tokens;
mod tolerance;

pub use body_signature::{BodySignature, Encoding, claimed};
pub use encoding::{base64, base64_text, hex, hex_text};
pub use keyed_hash::{Algorithm, KeyedHash, same_token};
pub use tokens::Tokens;
pub use tolerance::{Tolerance, unix_seconds};
