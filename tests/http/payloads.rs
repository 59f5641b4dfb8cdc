use crate::client::{Connection, post};
use crate::server::TestServer;

fn with(id: &str, amount: &str) -> String {
    format!(
        r#"{{"id":"{id}","type":"payment_intent.succeeded","data":{{"payment_intent":"pi_1","amount_cents":{amount},"currency":"usd","status":"succeeded"}}}}"#
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn ids_are_taken_up_to_the_written_maximum() {
    let server = TestServer::with(
        adapters::inbound::http::HttpSettings { body_bytes_max: 1 << 20, ..crate::server::settings() },
        adapters::providers::native::NativeProvider::unsigned(),
    );
    assert_eq!(post(server.address, with(&"x".repeat(255), "1")).await.status, 200);
    let random: String = (0_u32..4_096)
        .map(|n| char::from(b'a' + u8::try_from(n.wrapping_mul(2_654_435_761) >> 28).unwrap()))
        .collect();
    for id in ["", " evt", "x".repeat(300).as_str(), &random, &"ab".repeat(50_000)] {
        let answer = post(server.address, with(id, "1")).await;
        assert_eq!((answer.status, answer.errors()), (400, vec!["/id invalid".to_owned()]));
    }
    assert_eq!(server.bodies().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_nul_and_half_a_surrogate_pair_have_one_clear_answer() {
    let server = TestServer::start();
    for odd in [r"\u0000", r"\ud83d"] {
        let unused = format!(r#"{{"id":"evt_1","type":"t","data":{{"{odd}":"{odd}"}}}}"#);
        assert_eq!(post(server.address, &unused).await.status, 200, "{odd}");
        assert_eq!(server.bodies().last().unwrap(), unused.as_bytes());
        assert_eq!(post(server.address, with(odd, "1")).await.status, 400, "{odd}");
    }
    assert_eq!(post(server.address, with(r"\ud83d\ude00", "1")).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn amounts_are_exact_or_refused() {
    let server = TestServer::start();
    for amount in ["0", "9007199254740993", "9223372036854775807"] {
        assert_eq!(post(server.address, with("e", amount)).await.status, 200, "{amount}");
    }
    for amount in ["9223372036854775808", "-1", "49.99", "4999.0", "5e3", "null", "\"4999\""] {
        let answer = post(server.address, with("e", amount)).await;
        assert_eq!(answer.status, 400, "{amount}");
        assert!(answer.errors()[0].starts_with("/data/amount_cents "), "{amount}");
    }
    assert_eq!(server.bodies().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_event_is_refused() {
    let server = TestServer::start();
    let bodies = [
        "null",
        "[]",
        "\"x\"",
        "42",
        "true",
        "{}",
        "{\"id\":null}",
        "{\"id\":1,\"type\":\"t\",\"data\":{}}",
        "{\"id\":\"\",\"type\":\"t\",\"data\":{}}",
        "{\"id\":\"e\",\"data\":{}}",
        "{\"id\":\"e\",\"type\":\"t\"}",
        "{\"id\":\"e\",\"type\":\"t\",\"data\":null}",
        "{\"id\":\"e\",\"type\":\"t\",\"data\":[]}",
        "{\"id\":\"e\",\"id\":\"f\",\"type\":\"t\",\"data\":{}}",
        "[{\"id\":\"e\",\"type\":\"t\",\"data\":{}}]",
        "{\"id\":\"e\"",
        "{\"id\":\"e\",\"type\":\"t\",\"data\":{}} x",
        "id=e&type=t",
        "<xml/>",
        " ",
    ];
    for body in bodies {
        let answer = post(server.address, body).await;
        assert_eq!(answer.status, 400, "{body}");
        assert!(!answer.errors().is_empty(), "{body}");
    }
    assert!(server.bodies().is_empty());
    assert_eq!(server.outcomes.lock().unwrap().len(), bodies.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_type_is_kept() {
    let server = TestServer::start();
    let body = r#"{"id":"evt_1","type":"galaxy.exploded","data":{}}"#;
    assert_eq!(post(server.address, body).await.status, 200);
    assert_eq!(server.bodies(), [body.as_bytes()]);
}

#[tokio::test(flavor = "multi_thread")]
async fn random_bytes_do_no_harm() {
    let server = TestServer::start();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |length: usize| -> Vec<u8> {
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[0]
        };
        (0..length).map(|_| next()).collect()
    };
    for length in 1..200 {
        assert_eq!(post(server.address, random(length)).await.status, 400);
        let mut connection = Connection::open(server.address).await;
        connection.send(&random(length)).await;
        drop(connection);
    }
    assert!(server.bodies().is_empty());
    assert_eq!(post(server.address, crate::EVENT).await.status, 200);
}
