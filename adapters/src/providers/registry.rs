//! Every pack, by its name in the configuration. A new pack is one line here.

use std::sync::Arc;

use application::ports::provider::Provider;

use super::settings::{SetupError, SourceSettings};

/// Makes a source of a pack.
pub type Build = fn(&SourceSettings) -> Result<Arc<dyn Provider>, SetupError>;

/// The packs, sorted by name.
pub const PACKS: &[(&str, Build)] = &[
    ("adyen", super::adyen::build),
    ("braintree", super::braintree::build),
    ("chapa", super::chapa::build),
    ("checkout", super::checkout::build),
    ("coinbase-commerce", super::coinbase_commerce::build),
    ("custom", super::custom::build),
    ("flutterwave", super::flutterwave::build),
    ("github", super::github::build),
    ("gocardless", super::gocardless::build),
    ("mercado-pago", super::mercado_pago::build),
    ("mollie", super::mollie::build),
    ("mpesa", super::mpesa::build),
    ("native", super::native::build),
    ("paypal", super::paypal::build),
    ("paystack", super::paystack::build),
    ("razorpay", super::razorpay::build),
    ("shopify", super::shopify::build),
    ("square", super::square::build),
    ("standard-webhooks", super::standard_webhooks::build),
    ("stripe", super::stripe::build),
    ("xendit", super::xendit::build),
];

/// The pack of that name.
pub fn find(name: &str) -> Option<Build> {
    PACKS.iter().find(|(known, _)| *known == name).map(|(_, build)| *build)
}

/// The names of all packs.
pub fn names() -> impl Iterator<Item = &'static str> {
    PACKS.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packs_are_sorted_and_each_is_there_once() {
        let names: Vec<&str> = names().collect();
        assert!(names.is_sorted_by(|one, next| one < next), "{names:?}");
    }

    /// The native source's is the configuration's own.
    #[test]
    fn every_pack_has_its_page() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/providers");
        let list = std::fs::read_to_string(folder.join("README.md")).expect("the list of pages");
        for name in names().filter(|name| *name != "native") {
            let page = std::fs::read_to_string(folder.join(format!("{name}.md")));
            assert!(
                page.is_ok_and(|page| page.contains(&format!("provider = \"{name}\""))),
                "{name} has no page"
            );
            assert!(list.contains(&format!("({name}.md)")), "{name} is not in the list");
        }
    }
}
