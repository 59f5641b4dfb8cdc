//! Shopify's headers. Each has two names: webhooks have an `X-` before it, newer events have none.

/// The signature.
pub const SIGNATURE: [&str; 2] = ["x-shopify-hmac-sha256", "shopify-hmac-sha256"];

/// The id of what happened: the same for every subscription that tells of it, and for every attempt.
pub const EVENT_ID: [&str; 2] = ["x-shopify-event-id", "shopify-event-id"];

/// The id of the delivery, the same for every attempt.
pub const DELIVERY_ID: [&str; 2] = ["x-shopify-webhook-id", "shopify-webhook-id"];

/// What happened.
pub const TOPIC: [&str; 2] = ["x-shopify-topic", "shopify-topic"];

/// The shop in which it happened.
pub const SHOP_DOMAIN: [&str; 2] = ["x-shopify-shop-domain", "shopify-shop-domain"];

/// Whether a header of that lower-case name is the one that is meant.
pub fn is_named(names: [&str; 2], name: &str) -> bool {
    names.contains(&name)
}
