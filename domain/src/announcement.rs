//! What the rest of the company hears of a change.

use crate::fact::FactKey;
use crate::ledger::AccountKey;
use crate::money::Money;
use crate::payment::PaymentKey;
use crate::timestamp::Timestamp;

/// One message about one fact. It says nothing that depends on the order in which events came, so the same
/// facts make the same messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announcement {
    /// What happened, such as `payment.succeeded`.
    pub kind: &'static str,
    /// The payment or payout.
    pub payment: PaymentKey,
    /// Whose money it is.
    pub account: AccountKey,
    /// The fact, which with the payment is the message's identity.
    pub fact: FactKey,
    /// How much, where the fact names an amount.
    pub amount: Option<Money>,
    /// When it happened, by the provider; by our arrival time where the provider does not say.
    pub at: Timestamp,
}

impl Announcement {
    /// The message's id: the same however often the fact is told, and that of no other fact.
    pub fn id(&self) -> String {
        Self::id_of(&self.payment, &self.fact)
    }

    /// The id of the message about `fact` of `payment`: `source/payment/fact`. A `/` or `%` within a part is
    /// percent-encoded, since a provider may put either into its ids, and two facts must not share one id.
    pub fn id_of(payment: &PaymentKey, fact: &FactKey) -> String {
        let (payment_id, fact) = (encoded(payment.payment_id.as_str()), encoded(fact.as_str()));
        format!("{}/{payment_id}/{fact}", payment.source)
    }
}

fn encoded(part: &str) -> String {
    part.replace('%', "%25").replace('/', "%2F")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::id::{PaymentId, SourceName};

    fn id(source: &str, payment: &str, fact: &str) -> String {
        let payment = PaymentKey {
            source: SourceName::parse(source).unwrap(),
            payment_id: PaymentId::parse(payment).unwrap(),
        };
        Announcement::id_of(&payment, &FactKey::from_stored(fact.to_owned()))
    }

    #[test]
    fn an_ordinary_id_stands_as_it_is() {
        assert_eq!(id("stripe", "pi_1", "refunded:re_1"), "stripe/pi_1/refunded:re_1");
        assert_eq!(id("eu-2", "é|a.b", "captured:single"), "eu-2/é|a.b/captured:single");
    }

    #[test]
    fn a_slash_or_percent_sign_within_a_part_is_encoded() {
        assert_eq!(id("eu", "order/7", "refunded:50%/2"), "eu/order%2F7/refunded:50%25%2F2");
    }

    proptest! {
        #[test]
        fn different_facts_have_different_ids(
            one in ("[ab]", "[a/%2F5]{1,6}", "[a/%2F5:]{1,6}"),
            other in ("[ab]", "[a/%2F5]{1,6}", "[a/%2F5:]{1,6}"),
        ) {
            let is_same = id(&one.0, &one.1, &one.2) == id(&other.0, &other.1, &other.2);
            prop_assert_eq!(is_same, one == other);
        }

        #[test]
        fn an_id_gives_back_its_parts(
            payment in "[a/%2F5]{1,6}",
            fact in "[a/%2F5:]{1,6}",
        ) {
            let id = id("eu", &payment, &fact);
            let parts: Vec<String> =
                id.split('/').map(|part| part.replace("%2F", "/").replace("%25", "%")).collect();
            prop_assert_eq!(parts, ["eu".to_owned(), payment, fact]);
        }
    }
}
