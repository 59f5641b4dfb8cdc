//! Who may ask, and for what.
//!
//! - No tokens and a loopback address: local callers may do everything, as the operator `local`.
//! - No tokens and any other address: nobody gets in; metrics and health still answer.
//! - Tokens: the API wants one in `Authorization: Bearer`, the page a session that was begun with one.
//!
//! A browser is used by more people than its owner: every page that is open in it can send requests here. So
//! whatever comes from another site is refused ([`origin`]), and a change that is asked for on the page carries
//! a token that only the page has ([`csrf`]).
//!
//! [`guard`] stands before every path of the API and the page; handlers see a [`Principal`] or are not called.

mod csrf;
mod denied;
mod guard;
mod headers;
mod log_in;
mod log_in_limit;
mod origin;
mod principal;
mod rule;
mod sessions;
mod token;
mod token_file;
mod visit;

pub use csrf::{CSRF_FIELD, CsrfToken};
pub use denied::Denied;
pub use guard::{Deadlines, Refuse, guard_api, guard_page, harden};
pub use log_in::{after_log_in, log_in, log_out};
pub use principal::{Principal, Scope};
pub use rule::{Access, AccessSettings, AccessSetupError};
pub use token::{NewToken, TOKEN_PREFIX, TokenDigest};
pub use token_file::{TokenFileError, TokenName, Tokens};
pub use visit::Visit;
