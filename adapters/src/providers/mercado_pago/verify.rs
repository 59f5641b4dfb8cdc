//! `x-signature: ts=…,v1=…` over `id:…;request-id:…;ts:…;`.

use std::borrow::Cow;

use application::ports::provider::{CannotSign, SignedRequest, WebhookRequest};
use domain::Timestamp;
use url::form_urlencoded;

use crate::providers::json::Object;
use crate::providers::signing::{KeyedHash, Tolerance, hex, hex_text, unix_seconds};

/// The headers that carry a signature.
pub const HEADERS: [&str; 2] = ["x-signature", "x-request-id"];

/// The parameter of the query that is signed.
const ID_PARAMETER: &str = "data.id";

/// How many parts of the header are read: far more than are sent, few enough to cost nothing.
const PARTS_MAX: usize = 32;

/// From here on a time is in milliseconds: as seconds it would be in the year 5138, as milliseconds in 1973.
const MILLISECONDS_FROM: i64 = 100_000_000_000;

pub struct Verifier {
    keyed: KeyedHash,
    tolerance: Tolerance,
}

impl Verifier {
    pub const fn new(keyed: KeyedHash, tolerance: Tolerance) -> Self {
        Self { keyed, tolerance }
    }

    /// `Ok` is the place of the secret; `Err` is the reason, from a closed set.
    pub fn verify(&self, request: &WebhookRequest<'_>, now: Timestamp) -> Result<usize, &'static str> {
        let header = request.header(HEADERS[0]).ok_or("missing_signature")?;
        let header = std::str::from_utf8(header).map_err(|_| "malformed_signature")?;
        let Signature { time, claimed } = Signature::parse(header)?;
        let signed_at = seconds(time).ok_or("malformed_signature")?;
        let request_id = request.header(HEADERS[1]);
        let slot = self.slot(data_id(request.query).as_deref(), request_id, time, &claimed);
        let slot = slot.ok_or("wrong_signature")?;
        self.tolerance.judge(signed_at, now)?;
        Ok(slot)
    }

    /// The pages say that an id of letters is signed in lower case, the SDKs sign it as it stands in the URL.
    fn slot(
        &self,
        id: Option<&str>,
        request_id: Option<&[u8]>,
        time: &str,
        claimed: &[Vec<u8>],
    ) -> Option<usize> {
        let as_given = self.keyed.matching(&[&manifest(id, request_id, time)], claimed);
        as_given.or_else(|| {
            let lowered = id?.to_ascii_lowercase();
            self.keyed.matching(&[&manifest(Some(&lowered), request_id, time)], claimed)
        })
    }

    /// The request for a body, by the first secret.
    pub fn sign(&self, body: &[u8], now: Timestamp) -> Result<SignedRequest, CannotSign> {
        let unsignable = || CannotSign("the body is not a notification with an id and data.id".to_owned());
        let root = Object::parse(body).ok_or_else(unsignable)?;
        let notification = root.text_or_number("id").ok_or_else(unsignable)?;
        let id = root.object("data").ok_or_else(unsignable)?;
        let id = id.text_or_number("id").ok_or_else(unsignable)?.to_ascii_lowercase();
        let (request_id, time) = (format!("request-{notification}"), now.as_secs().to_string());
        let signature = self.keyed.sign(&[&manifest(Some(&id), Some(request_id.as_bytes()), &time)]);
        let values = [format!("ts={time},v1={}", hex_text(&signature)), request_id];
        Ok(SignedRequest {
            body: body.to_vec(),
            headers: HEADERS.iter().map(|name| (*name).to_owned()).zip(values).collect(),
            query: form_urlencoded::Serializer::new(String::new()).append_pair(ID_PARAMETER, &id).finish(),
        })
    }
}

/// The header's time and its signatures, decoded.
struct Signature<'a> {
    time: &'a str,
    claimed: Vec<Vec<u8>>,
}

impl<'a> Signature<'a> {
    fn parse(header: &'a str) -> Result<Self, &'static str> {
        let parts: Vec<(&str, &str)> = header
            .split(',')
            .take(PARTS_MAX)
            .filter_map(|part| part.split_once('='))
            .map(|(name, value)| (name.trim(), value.trim()))
            .collect();
        let named = |wanted: &'static str| {
            parts.iter().filter(move |(name, _)| *name == wanted).map(|(_, value)| *value)
        };
        let time = named("ts").next().ok_or("malformed_signature")?;
        if named("v1").next().is_none() {
            return Err("no_known_signature");
        }
        let claimed: Vec<Vec<u8>> = named("v1").filter_map(|value| hex(value.as_bytes())).collect();
        if claimed.is_empty() { Err("malformed_signature") } else { Ok(Self { time, claimed }) }
    }
}

/// What is signed: the pairs that have a value, each with a semicolon after it.
fn manifest(id: Option<&str>, request_id: Option<&[u8]>, time: &str) -> Vec<u8> {
    let mut text = Vec::new();
    let pairs = [("id", id.map(str::as_bytes)), ("request-id", request_id), ("ts", Some(time.as_bytes()))];
    for (name, value) in pairs {
        let Some(value) = value.filter(|value| !value.is_empty()) else { continue };
        text.extend([name.as_bytes(), b":", value, b";"].concat());
    }
    text
}

fn data_id(query: &str) -> Option<Cow<'_, str>> {
    form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == ID_PARAMETER).map(|(_, value)| value)
}

/// Seconds since the epoch, of a time in seconds or in milliseconds: both are sent.
fn seconds(time: &str) -> Option<i64> {
    let time = unix_seconds(time.as_bytes())?;
    Some(if time < MILLISECONDS_FROM { time } else { time / 1_000 })
}
