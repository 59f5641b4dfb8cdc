use tokio::task::JoinSet;

use super::{OLD_SECRET, SECRET, hash, header, now, post_signed, post_with, server};
use crate::client::{Connection, request, send};

/// Legal JSON that nobody would write again byte for byte: its order, its spaces, its escapes, its numbers.
const ODD: &str = "\t{ \"type\" :\"charge.succeeded\",\r\n  \"created\": 1700000000 ,\"id\":\"evt_odd\",\"livemode\":false,\n\
                   \"data\":{\"object\":{\"z\":-0, \"rate\":1.0,\"note\":\"\\u00fc \\/ \\u2029\",\"id\":\"ch_odd\",\
                   \"currency\":\"eur\",\"amount\":1250}} }\n\n";

#[tokio::test(flavor = "multi_thread")]
async fn the_bytes_that_came_are_judged_and_kept() {
    let server = server();
    assert_eq!(post_signed(&server, ODD).await.status, 200);
    assert_eq!(server.bodies(), [ODD.as_bytes()]);
    let value: serde_json::Value = serde_json::from_str(ODD).unwrap();
    let again = serde_json::to_vec(&value).unwrap();
    assert_eq!(post_with(&server, &header(SECRET, ODD.as_bytes()), &again).await.status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn any_content_type_is_accepted_after_the_same_check_and_none_without_it() {
    let server = server();
    let types = [
        Some("application/json"),
        Some("application/json; charset=utf-8"),
        Some("APPLICATION/JSON"),
        Some("application/json; charset=latin-1"),
        Some("text/plain"),
        Some("application/x-www-form-urlencoded"),
        Some("multipart/form-data; boundary=x"),
        Some("nonsense"),
        None,
    ];
    for content_type in types {
        let good = header(SECRET, ODD.as_bytes());
        let bad = header("another", ODD.as_bytes());
        for (signature, status) in [(Some(good), 200), (Some(bad), 401), (None, 401)] {
            let headers: Vec<_> = [
                content_type.map(|value| ("Content-Type", value)),
                signature.as_deref().map(|value| ("Stripe-Signature", value)),
            ]
            .into_iter()
            .flatten()
            .collect();
            let answer = send(server.address, "POST", "/webhooks/payment", &headers, ODD.as_bytes()).await;
            assert_eq!(answer.status, status, "{content_type:?}");
        }
    }
    assert_eq!(server.bodies(), vec![ODD.as_bytes(); types.len()]);
}

#[tokio::test(flavor = "multi_thread")]
async fn several_signatures_may_stand_in_any_order_while_a_secret_is_replaced() {
    let server = server();
    let at = now();
    let (good, old) = (hash(SECRET, at, ODD.as_bytes()), hash(OLD_SECRET, at, ODD.as_bytes()));
    let wrong = "0".repeat(64);
    let accepted = [
        (format!("t={at},v1={good}"), 0),
        (format!("t={at},v1={old}"), 1),
        (format!("t={at},v1={good},v1={wrong}"), 0),
        (format!("t={at},v1={wrong},v1={good}"), 0),
        (format!("t={at},v1={wrong},v1={wrong},v1={old}"), 1),
        (format!("t={at},v0={wrong},v1={good}"), 0),
        (format!("t={at},v1={good},v0={wrong}"), 0),
    ];
    for (signature, _) in &accepted {
        assert_eq!(post_with(&server, signature, ODD.as_bytes()).await.status, 200, "{signature}");
    }
    assert_eq!(*server.secrets.lock().unwrap(), accepted.map(|(_, slot)| slot));
    let refused = [format!("t={at},v0={good}"), format!("t={at},v1={wrong},v1={wrong}")];
    for signature in &refused {
        assert_eq!(post_with(&server, signature, ODD.as_bytes()).await.status, 401, "{signature}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_signature_is_refused_and_counted_and_the_next_good_one_accepted() {
    let server = server();
    let at = now();
    let good = hash(SECRET, at, ODD.as_bytes());
    let refused = [
        String::new(),
        ",".to_owned(),
        format!("t={at}"),
        format!("v1={good}"),
        format!("t={at},v1="),
        format!("t=,v1={good}"),
        format!("t=later,v1={good}"),
        format!("t=99999999999999999999,v1={good}"),
        format!("t={at},v1={}", &good[1..]),
        format!("t={at},v1={good}0"),
        format!("t={at},v1={}g", &good[1..]),
        format!("t={at},v1=caf\u{e9}"),
        format!("t={at},v1={}", "a".repeat(60_000)),
        format!("t={at},v1={}", hash("", at, ODD.as_bytes())),
    ];
    for signature in &refused {
        let answer = post_with(&server, signature, ODD.as_bytes()).await;
        assert_eq!(answer.status, 401, "{signature}");
        assert_eq!(answer.json()["type"], "urn:payonce:problem:unauthentic");
    }
    assert_eq!(server.refusals.lock().unwrap().len(), refused.len());
    assert!(server.bodies().is_empty());
    assert_eq!(post_signed(&server, ODD).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_requests_with_bytes_that_are_no_text_are_refused_and_the_next_good_one_accepted() {
    const CONNECTIONS: usize = 50;
    const REQUESTS: usize = 20;
    let server = server();
    let address = server.address;
    let template = request("POST", "/webhooks/payment", &[("Stripe-Signature", "%")], ODD.as_bytes());
    let place = template.iter().position(|byte| *byte == b'%').unwrap();
    let senders: JoinSet<_> = (0..CONNECTIONS)
        .map(|sender| {
            let (before, after) = (template[..place].to_vec(), template[place + 1..].to_vec());
            async move {
                let mut connection = Connection::open(address).await;
                for number in 0..REQUESTS {
                    let odd = 0x80 + u8::try_from((sender * REQUESTS + number) % 0x80).unwrap();
                    let junk = [b"t=1,v1=".as_slice(), &[odd, 0xff, odd]].concat();
                    let bytes = [before.as_slice(), &junk, &after].concat();
                    assert!(connection.send(&bytes).await);
                    assert_eq!(connection.answer(true).await.expect("an answer").status, 401);
                }
            }
        })
        .collect();
    senders.join_all().await;
    assert_eq!(server.refusals.lock().unwrap().len(), CONNECTIONS * REQUESTS);
    assert!(server.bodies().is_empty());
    assert_eq!(post_signed(&server, ODD).await.status, 200);
}
