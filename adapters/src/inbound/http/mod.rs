//! The public listener: `POST /webhooks/{source}` and `GET /health`, nothing else; and `GET` of a webhook's
//! path for the providers that test by it who listens.
//!
//! Written rules:
//! - The body is judged by its raw bytes, whatever its `Content-Type`. A compressed body is refused (415): a
//!   signature is over bytes, and which ones would be a guess.
//! - Refusals are RFC 9457 problem details, and never repeat anything of the request.
//! - 2xx means durable; 503 with `Retry-After` means nothing was wrong with the request.

mod answer;
pub(super) mod body;
mod health;
mod refusal;
mod server;
mod settings;
mod webhook;

pub use server::serve;
pub use settings::HttpSettings;
