//! The time that a sender signs with its requests.

use application::ports::provider::WebhookRequest;
use domain::Timestamp;

use super::carrier::Carrier;
use super::field::header_name;
use super::options::{Options, bad};
use super::template::Template;
use super::time::{TIME_FORMATS, TimeFormat};
use crate::providers::settings::{SetupError, SourceSettings};
use crate::providers::signing::Tolerance;

/// Where the time stands, how it is written, and how far it may be from ours.
pub struct SignedTime {
    carrier: Carrier,
    format: TimeFormat,
    tolerance: Tolerance,
}

impl SignedTime {
    /// The time that the options say; `None` where none is signed.
    ///
    /// # Errors
    /// The template has a time and no header does, or the other way round.
    pub fn read(
        options: &mut Options,
        settings: &SourceSettings,
        signature: &Carrier,
        template: &Template,
    ) -> Result<Option<Self>, SetupError> {
        let header = options.filled("timestamp_header")?;
        let prefix = options.filled("timestamp_prefix")?;
        let format = options.choice("timestamp_format", TIME_FORMATS)?;
        let Some(header) = header else {
            let unused = [("timestamp_prefix", prefix.is_some()), ("timestamp_format", format.is_some())];
            return match unused.into_iter().find(|(_, set)| *set) {
                _ if template.has_timestamp() => {
                    Err(bad("timestamp_header", "is missing: signed has {timestamp}"))
                }
                Some((name, _)) => Err(bad(name, "has no use without timestamp_header")),
                None => Ok(None),
            };
        };
        if !template.has_timestamp() {
            return Err(bad(
                "timestamp_header",
                "is set, and signed has no {timestamp}: anyone could write it",
            ));
        }
        let header = header_name("timestamp_header", &header)?;
        let separator = signature.separator.clone().filter(|_| header == signature.header);
        let apart = header != signature.header;
        if !apart && (separator.is_none() || prefix.is_none() || signature.prefix.is_empty()) {
            let both = "signature_separator, signature_prefix and timestamp_prefix must be set";
            return Err(bad("timestamp_header", &format!("is signature_header, so {both}")));
        }
        let carrier = Carrier { header, prefix: prefix.unwrap_or_default(), separator };
        let tolerance = Tolerance::new(settings.tolerance);
        Ok(Some(Self { carrier, format: format.unwrap_or(TimeFormat::Unix), tolerance }))
    }

    /// The time of a request, as it is written there.
    pub fn text<'a>(&self, request: &WebhookRequest<'a>) -> Result<&'a [u8], &'static str> {
        self.carrier.values(request)?.first().copied().ok_or("missing_signature")
    }

    /// Judges a time, once it was verified.
    pub fn judge(&self, text: &[u8], now: Timestamp) -> Result<(), &'static str> {
        let at = std::str::from_utf8(text).ok().and_then(|text| self.format.read(text));
        self.tolerance.judge(at.ok_or("malformed_signature")?.as_secs(), now)
    }

    /// The header, by lower-case name.
    pub fn header(&self) -> &str {
        &self.carrier.header
    }

    /// What stands before the time.
    pub fn prefix(&self) -> &str {
        &self.carrier.prefix
    }

    /// What stands between time and signature, where both are in one header.
    pub fn separator_beside(&self, signature: &Carrier) -> Option<&str> {
        self.carrier.separator.as_deref().filter(|_| self.carrier.header == signature.header)
    }

    /// The time as the sender writes it.
    pub fn write(&self, at: Timestamp) -> String {
        self.format.write(at)
    }
}
