//! An alert: that events of a source fail alike, and somebody should look.
//!
//! It is a `CloudEvent` 1.0 in JSON, in structured mode, as the messages of the outbox are, so that whoever takes
//! those can take these. It says what a group of dead letters has in common and never what is in them.

use bytes::Bytes;
use domain::ConsumerName;
use serde_json::{Value, json};

use crate::cloud_event::rfc3339;
use crate::dead_letter::{GroupTotals, LetterState, StateTotals};
use crate::ports::alert_channel::RenderedAlert;
use crate::ports::alert_log::ClaimedAlert;

/// The type of the event.
pub const TYPE: &str = "payonce.failure_group";

/// The most bytes of a group's message that are sent.
const MESSAGE_BYTES_MAX: usize = 1024;

/// The alert about a group. `link_base` is where operators find it, empty for nowhere.
pub fn render(
    claimed: &ClaimedAlert,
    totals: &GroupTotals,
    consumer: &ConsumerName,
    link_base: &str,
) -> RenderedAlert {
    let group = claimed.group.to_string();
    let id = format!("{group}/{}", claimed.began.as_micros());
    let link = (!link_base.is_empty())
        .then(|| format!("{}/dead-letters?group={group}", link_base.trim_end_matches('/')));
    let open = totals.by_state.iter().find(|totals| totals.state == LetterState::Open);
    let message = &totals.message[..totals.message.floor_char_boundary(MESSAGE_BYTES_MAX)];
    let mut event = json!({
        "specversion": "1.0",
        "id": id,
        "source": format!("/payonce/{consumer}"),
        "type": TYPE,
        "subject": group,
        "datacontenttype": "application/json",
        "data": {
            "group": group,
            "source": totals.source.as_ref().map(ToString::to_string),
            "reason": totals.reason.as_str(),
            "message": message,
            "new": claimed.new_letters,
            "open": open.map_or(0, |open| open.letters),
            "money": open.map_or(Value::Array(Vec::new()), money),
            "first_seen": rfc3339(totals.first_seen),
            "last_seen": rfc3339(totals.last_seen),
            "newest": claimed.newest.0,
            "link": link,
        },
    });
    if let Some(time) = rfc3339(claimed.began) {
        event["time"] = time.into();
    }
    RenderedAlert { id, body: Bytes::from(event.to_string()) }
}

/// Sums as texts of digits: a sum may be larger than the numbers that JSON keeps exact everywhere.
fn money(open: &StateTotals) -> Value {
    open.money
        .iter()
        .map(|total| {
            json!({ "currency": total.currency.code(), "amount_minor": total.minor_units.to_string() })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use domain::{Currency, SourceName, Timestamp};

    use super::*;
    use crate::dead_letter::{DeadLetterId, FailureGroup, LetterReason, MoneyTotal};
    use crate::testing::dead_letters::consumer;

    fn claimed() -> ClaimedAlert {
        ClaimedAlert {
            group: FailureGroup::from_bytes(&[0xab; 16]).unwrap(),
            began: Timestamp::from_micros(1_700_000_000_000_000),
            failures: 0,
            new_letters: 3,
            newest: DeadLetterId(42),
        }
    }

    fn totals() -> GroupTotals {
        let sum =
            MoneyTotal { currency: Currency::parse("USD").unwrap(), minor_units: i128::from(i64::MAX) + 1 };
        GroupTotals {
            group: claimed().group,
            source: Some(SourceName::parse("stripe").unwrap()),
            reason: LetterReason::Refused,
            message: "payment <id> is not known".to_owned(),
            newest: DeadLetterId(42),
            letters: 9,
            first_seen: Timestamp::from_micros(1_699_999_990_000_000),
            last_seen: Timestamp::from_micros(1_699_999_999_500_000),
            by_state: vec![
                StateTotals { state: LetterState::Replayed, letters: 2, money: Vec::new() },
                StateTotals { state: LetterState::Open, letters: 7, money: vec![sum] },
            ],
        }
    }

    fn told(totals: &GroupTotals, link_base: &str) -> Value {
        serde_json::from_slice(&render(&claimed(), totals, &consumer(), link_base).body).unwrap()
    }

    #[test]
    fn it_says_what_fails_since_when_how_often_and_how_much_money_is_in_it() {
        let group = "ab".repeat(16);
        let expected = json!({
            "specversion": "1.0",
            "id": format!("{group}/1700000000000000"),
            "source": "/payonce/payments",
            "type": "payonce.failure_group",
            "subject": group,
            "time": "2023-11-14T22:13:20Z",
            "datacontenttype": "application/json",
            "data": {
                "group": group,
                "source": "stripe",
                "reason": "refused",
                "message": "payment <id> is not known",
                "new": 3,
                "open": 7,
                "money": [{"currency": "USD", "amount_minor": "9223372036854775808"}],
                "first_seen": "2023-11-14T22:13:10Z",
                "last_seen": "2023-11-14T22:13:19.5Z",
                "newest": 42,
                "link": format!("https://ops.example/dead-letters?group={group}"),
            },
        });
        for link_base in ["https://ops.example", "https://ops.example/"] {
            assert_eq!(told(&totals(), link_base), expected);
        }
    }

    #[test]
    fn without_a_base_there_is_no_link_and_without_a_source_none_is_told() {
        let event = told(&GroupTotals { source: None, by_state: Vec::new(), ..totals() }, "");
        assert_eq!((&event["data"]["link"], &event["data"]["source"]), (&Value::Null, &Value::Null));
        assert_eq!((&event["data"]["open"], &event["data"]["money"]), (&json!(0), &json!([])));
    }

    #[test]
    fn the_id_is_the_same_however_often_it_is_tried_and_another_in_another_window() {
        let id = |claimed: ClaimedAlert| render(&claimed, &totals(), &consumer(), "").id;
        let again = ClaimedAlert { failures: 4, new_letters: 9, newest: DeadLetterId(50), ..claimed() };
        assert_eq!(id(again), id(claimed()));
        let later = ClaimedAlert { began: Timestamp::from_micros(1_700_003_600_000_000), ..claimed() };
        assert_ne!(id(later), id(claimed()));
    }

    #[test]
    fn a_long_message_is_cut_between_characters() {
        let long = told(&GroupTotals { message: "é".repeat(2_000), ..totals() }, "");
        assert_eq!(long["data"]["message"].as_str().unwrap().len(), MESSAGE_BYTES_MAX);
    }
}
