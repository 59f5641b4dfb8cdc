//! Adyen. Standard webhooks carry a signature in each item, over eight of its members; the answer that Adyen
//! likes best is `[accepted]`. Platform webhooks are signed as a whole, in a header.

mod amount;
mod item;
mod platform;
mod sign;
mod standard;
mod translate;

use std::borrow::Cow;
use std::sync::Arc;

use application::ports::provider::{Answer, Provider};
use serde::Deserialize;

use super::pack::PackProvider;
use super::settings::{SetupError, SourceSettings};
use super::signing::{Algorithm, KeyedHash, hex};
use platform::Platform;
use standard::Standard;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    #[serde(default)]
    platform: bool,
    capture: Option<Capture>,
}

/// When the merchant account captures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Capture {
    /// By itself, after the authorisation, as accounts do unless they are told otherwise. Of such a capture
    /// Adyen tells nothing, so the authorisation stands for it.
    #[default]
    Automatic,
    /// On request, once or several times.
    Manual,
}

/// The Adyen source of these settings.
///
/// # Errors
/// There is no HMAC key, or a blank one, or one that is not hexadecimal; an option is unknown or out of place.
pub fn build(settings: &SourceSettings) -> Result<Arc<dyn Provider>, SetupError> {
    let Options { platform, capture } = settings.read_options()?;
    if !platform {
        let pack = Standard { keyed: keyed(settings)?, capture: capture.unwrap_or_default() };
        return Ok(Arc::new(PackProvider::new(pack, settings)));
    }
    if capture.is_some() {
        let what = "capture is about payments, which platform webhooks do not tell";
        return Err(SetupError::BadOption(what.to_owned()));
    }
    Ok(Arc::new(PackProvider::new(Platform::new(keyed(settings)?), settings)))
}

fn keyed(settings: &SourceSettings) -> Result<KeyedHash, SetupError> {
    let keys = settings.keys("the HMAC key of the webhook", |text| {
        hex(text.as_bytes()).ok_or(SetupError::BadSecret("an HMAC key is in hexadecimal"))
    })?;
    KeyedHash::new(Algorithm::Sha256, &keys)
}

/// Any 2xx will do today; older accounts want this text.
fn accepted() -> Answer {
    Answer { status: 200, content_type: "text/plain", body: Cow::Borrowed("[accepted]") }
}

#[cfg(test)]
mod tests;
