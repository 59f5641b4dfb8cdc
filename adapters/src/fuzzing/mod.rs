//! What the fuzz targets do with their input, behind the feature `fuzzing`.
//!
//! A target of `fuzz/` is one line that calls [`run`] with its name, and an ordinary test runs the same functions over
//! the fixtures, so that none of them rots. Each checks more than that nothing panics:
//!
//! - [`packs`]: requests of every provider, from noise to what is properly signed
//! - [`meaning`]: what holds for whatever a pack makes of a payload
//! - [`parsers`]: amounts, moments, signature headers, ids, XML, certificates, the options of a custom source
//! - [`messages`]: what stands in the queue, and what destinations are told

mod meaning;
mod messages;
mod packs;
mod parsers;
#[cfg(test)]
mod seeds;

/// A target: its name, and what it does with its input.
pub type Target = (&'static str, fn(&[u8]));

/// All targets, sorted by name. `fuzz/fuzz_targets` has a file for each.
pub const TARGETS: &[Target] = &[
    ("adyen", packs::adyen),
    ("amount", parsers::amount),
    ("braintree", packs::braintree),
    ("certificate", parsers::certificate),
    ("cloud_event", messages::cloud_event),
    ("custom", packs::custom),
    ("custom_options", packs::custom_options),
    ("moment", parsers::moment),
    ("native", packs::native),
    ("packs", packs::others),
    ("paypal", packs::paypal),
    ("signature", parsers::signature),
    ("stripe", packs::stripe),
    ("wire", messages::wire),
    ("xml", parsers::xml),
];

/// Runs the target of that name over `data`.
///
/// # Panics
/// Something does not hold, which is a finding; or there is no such target.
pub fn run(name: &str, data: &[u8]) {
    let target = TARGETS.iter().find(|(known, _)| *known == name);
    let (_, check) = target.unwrap_or_else(|| panic!("{name} is no target"));
    check(data);
}
