//! What the tests of several packs need.

use application::ports::provider::{IntakeRefusal, Provider, SignedRequest, WebhookRequest};
use application::testing::envelope;
use domain::{Effect, Fact, PaymentChange, Timestamp};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Map, Value};

use super::pack::{Pack, Translation};
use super::settings::{Mode, SourceSettings, TOLERANCE};

/// When the requests of the tests arrive.
pub const NOW: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

/// A live source with these secrets and options.
pub fn settings(secrets: &[&str], options: &[(&str, Value)]) -> SourceSettings {
    let options: Map<String, Value> =
        options.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    SourceSettings {
        secrets: secrets.iter().map(|secret| (*secret).into()).collect(),
        tolerance: TOLERANCE,
        mode: Mode::Live,
        trust: None,
        production: true,
        options,
    }
}

/// Headers as they come.
pub fn headers(list: &[(&str, &[u8])]) -> Vec<(String, Vec<u8>)> {
    list.iter().map(|(name, value)| ((*name).to_owned(), value.to_vec())).collect()
}

/// The place of the secret of an authentic request, or the reason why it is none. What has no usable id is
/// authentic all the same.
pub fn verdict(
    pack: &dyn Pack,
    headers: &[(String, Vec<u8>)],
    body: &[u8],
) -> Result<Option<usize>, &'static str> {
    verdict_at(pack, headers, body, "", NOW)
}

/// [`verdict`] of a request with that query at that moment.
pub fn verdict_at(
    pack: &dyn Pack,
    headers: &[(String, Vec<u8>)],
    body: &[u8],
    query: &str,
    now: Timestamp,
) -> Result<Option<usize>, &'static str> {
    pack.verify(&WebhookRequest { body, headers, query }, now)
}

/// The ids of a request that the provider would send with that body and these further headers.
pub fn ids(
    provider: &dyn Provider,
    body: &str,
    further: &[(&str, &[u8])],
) -> Result<Vec<String>, Vec<(String, &'static str)>> {
    let SignedRequest { body, headers: signed, query } =
        provider.sign(body.as_bytes(), NOW).expect("it is signed");
    let mut all: Vec<_> = signed.into_iter().map(|(name, value)| (name, value.into_bytes())).collect();
    all.retain(|(name, _)| !further.iter().any(|(other, _)| other == name));
    all.extend(headers(further));
    match provider.intake(&WebhookRequest { body: &body, headers: &all, query: &query }, NOW) {
        Ok(intake) => Ok(intake.events.iter().map(|id| id.as_str().to_owned()).collect()),
        Err(IntakeRefusal::Malformed(problems)) => {
            Err(problems.into_iter().map(|p| (p.pointer, p.code)).collect())
        }
        Err(other) => panic!("{other:?}"),
    }
}

/// What the payload means, taken at its word.
pub fn translated(pack: &dyn Pack, payload: &str) -> Translation {
    pack.translate(&envelope("evt_1", payload.to_owned())).expect("it can be translated")
}

/// What the payload changes, taken at its word.
pub fn changed(pack: &dyn Pack, payload: &str) -> PaymentChange {
    match translated(pack, payload).effect {
        Effect::Change(change) => change,
        Effect::Nothing(reason) => panic!("nothing changes: {reason:?}"),
    }
}

/// The payment's id and the facts, each with its key and its amount: `captured:single 4999 USD`.
pub fn told(pack: &dyn Pack, payload: &str) -> (String, Vec<String>) {
    let PaymentChange { payment, facts, .. } = changed(pack, payload);
    (payment.as_str().to_owned(), facts.iter().map(fact).collect())
}

fn fact(fact: &Fact) -> String {
    let amount = fact.amount().map(|amount| format!(" {} {}", amount.minor_units(), amount.currency()));
    format!("{}{}", fact.key(None), amount.unwrap_or_default())
}

/// Why the payload cannot be translated.
pub fn untranslatable(pack: &dyn Pack, payload: &str) -> String {
    pack.translate(&envelope("evt_1", payload.to_owned())).expect_err("it cannot be translated").0
}

/// Whatever bit of the body or of a signing header is turned over, the request is refused. Hexadecimal digits
/// may come in either case, so a flip that only changes the case is none.
pub fn refuses_every_flip(pack: &dyn Pack, body: &str, hexadecimal: bool) {
    let signed = pack.sign(body.as_bytes(), NOW).expect("it is signed");
    let good: Vec<_> =
        signed.headers.iter().map(|(name, value)| (name.clone(), value.clone().into_bytes())).collect();
    assert!(verdict_at(pack, &good, &signed.body, &signed.query, NOW).is_ok());
    let signing = pack.description().signature_headers;
    proptest!(|(place: Index, bit in 0_u32..8, header: Index)| {
        let mut body = signed.body.clone();
        body[place.index(signed.body.len())] ^= 1 << bit;
        prop_assert!(verdict_at(pack, &good, &body, &signed.query, NOW).is_err());

        let mut changed = good.clone();
        let mut values: Vec<_> = changed.iter_mut().filter(|(name, _)| signing.contains(name)).collect();
        let chosen = header.index(values.len());
        let value = &mut values[chosen].1;
        let before = value.clone();
        let byte = place.index(value.len());
        value[byte] ^= 1 << bit;
        prop_assume!(!(hexadecimal && value.eq_ignore_ascii_case(&before)));
        prop_assert!(verdict_at(pack, &changed, &signed.body, &signed.query, NOW).is_err());
    });
}

/// What stands in a payload in the place of something else.
const ODD: [&str; 12] =
    ["null", "[]", "{}", "\"\"", "-1", "1e9", "\"\\u0000\"", "\"\\ud800\"", "true", "0.5", "\"x\"", "\u{e9}"];

/// Nothing that may come in these headers, in the query or in the body makes the pack panic.
pub fn never_panics(pack: &dyn Pack, names: &[&str], payloads: &[&str]) {
    let arbitrary = || prop::collection::vec(any::<u8>(), 0..200);
    let all_values = || prop::collection::vec(arbitrary(), names.len());
    proptest!(|(values in all_values(), body in arbitrary(), query in ".*")| {
        let list: Vec<_> = names.iter().copied().zip(values.iter().map(Vec::as_slice)).collect();
        let all = headers(&list);
        let request = WebhookRequest { body: &body, headers: &all, query: &query };
        let _verdict = pack.verify(&request, NOW);
        let _ids = pack.identify(&request);
        let _translation = pack.translate(&envelope("evt_1", body.clone()));
    });
    // A payload with a hole, or with something else in one place, gets further than noise does.
    proptest!(|(which: Index, from: Index, length in 0_usize..40, odd in 0_usize..ODD.len())| {
        let text = payloads[which.index(payloads.len())];
        let from = from.index(text.len());
        let to = text.len().min(from + length);
        let body = [&text.as_bytes()[..from], ODD[odd].as_bytes(), &text.as_bytes()[to..]].concat();
        let _ids = pack.identify(&WebhookRequest { body: &body, headers: &[], query: "" });
        let _translation = pack.translate(&envelope("evt_1", body.clone()));
    });
}
