//! Provider packs: one module a payment provider.
//!
//! A pack says how its provider signs, where the event ids are, and what an event means; [`pack`] makes a
//! [`Provider`](application::ports::provider::Provider) of it, the same way for all. What packs share:
//!
//! - [`registry`]: every pack, by its name in the configuration
//! - [`settings`]: what a source is configured with
//! - [`options`]: what only one provider needs, read as the types that its pack wants
//! - [`signing`]: keyed hashes over several secrets, encodings, the tolerance of time
//! - [`json`]: JSON read only as deep as it is used
//! - [`members`]: members that are there, or a text that says what is wrong
//! - [`joined_id`]: ids of several parts
//! - [`amount`]: minor units, exactly
//! - [`moment`]: times as providers write them
//! - [`identity`]: ids out of bodies that name them in several ways
//! - [`facts`]: facts that many packs make alike
//!
//! How to add one: `docs/providers/adding.md`.

pub mod adyen;
pub mod amount;
pub mod braintree;
pub mod chapa;
pub mod checkout;
pub mod coinbase_commerce;
pub mod custom;
pub mod facts;
pub mod flutterwave;
pub mod github;
pub mod gocardless;
pub mod identity;
pub mod joined_id;
pub mod json;
pub mod members;
pub mod mercado_pago;
pub mod mollie;
pub mod moment;
pub mod mpesa;
pub mod native;
pub mod options;
pub mod pack;
#[cfg(test)]
mod payloads;
pub mod paypal;
pub mod paystack;
pub mod razorpay;
pub mod registry;
pub mod settings;
pub mod shopify;
pub mod signing;
pub mod square;
pub mod standard_webhooks;
pub mod stripe;
pub mod xendit;

#[cfg(test)]
mod harness;
