//! Mollie, in its two schemes, which a source names: classic webhooks say only "look at this object" and are
//! not signed; next-gen webhooks are signed events.

mod classic;
mod next_gen;
mod translate;

use std::sync::Arc;

use application::ports::provider::Provider;
use serde::Deserialize;

use super::pack::PackProvider;
use super::settings::{SetupError, SourceSettings};
use classic::Classic;
use next_gen::NextGen;
use translate::Counted;

const NAME: &str = "mollie";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    scheme: String,
    request_id_header: Option<String>,
    counts: Option<String>,
}

/// The Mollie source of these settings.
///
/// # Errors
/// `scheme` is missing or unknown, or secrets, trust or another option do not fit it.
pub fn build(settings: &SourceSettings) -> Result<Arc<dyn Provider>, SetupError> {
    let options: Options = settings.read_options()?;
    match options.scheme.as_str() {
        "classic" => {
            if options.counts.is_some() {
                return Err(bad("counts is only for scheme = \"next-gen\": classic webhooks count nothing"));
            }
            let pack = Classic::new(settings, options.request_id_header.as_deref())?;
            Ok(Arc::new(PackProvider::new(pack, settings)))
        }
        "next-gen" => {
            if options.request_id_header.is_some() {
                return Err(bad(
                    "request_id_header is only for scheme = \"classic\": other events have an id",
                ));
            }
            let pack = NextGen::new(settings, counted(options.counts.as_deref())?)?;
            Ok(Arc::new(PackProvider::new(pack, settings)))
        }
        _ => Err(bad("scheme must be \"classic\" or \"next-gen\"")),
    }
}

fn counted(name: Option<&str>) -> Result<Counted, SetupError> {
    match name {
        None | Some("payment-links") => Ok(Counted::PaymentLinks),
        Some("payments") => Ok(Counted::Payments),
        Some(_) => Err(bad("counts must be \"payment-links\" or \"payments\"")),
    }
}

fn bad(what: &str) -> SetupError {
    SetupError::BadOption(what.to_owned())
}

#[cfg(test)]
mod tests;
