//! Where things are on this page. Ids may have any character, so each is encoded as one part of a path.

use askama::filters::urlencode_strict;
use domain::{EventKey, SourceName};

fn part(text: &str) -> String {
    urlencode_strict(text).map_or_else(|never| match never {}, |encoded| encoded.to_string())
}

/// The page of an event.
pub fn event_path(key: &EventKey) -> String {
    format!("/events/{}/{}", key.source, part(key.event_id.as_str()))
}

/// The page of a payment or payout.
pub fn payment_path(source: &SourceName, payment: &str) -> String {
    format!("/payments/{source}/{}", part(payment))
}

/// The page of an account.
pub fn account_path(account: &str) -> String {
    format!("/accounts/{}", part(account))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::EventId;

    #[test]
    fn an_id_is_one_part_of_the_path_whatever_is_in_it() {
        let key = EventKey {
            source: SourceName::parse("stripe").unwrap(),
            event_id: EventId::parse("a/b?c#d%e é").unwrap(),
        };
        assert_eq!(event_path(&key), "/events/stripe/a%2Fb%3Fc%23d%25e%20%C3%A9");
    }
}
