//! Who is let in to the page: sessions, and forms that other sites cannot send.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use application::testing::dead_letters::new_letter;

use super::listener::{Ops, Setup, TestStore};
use super::tokens::{ANN, BOB, TokenFile};
use crate::client::{Answer, send};

/// A browser: a cookie, and the token that its pages carry.
struct Browser {
    cookie: String,
    csrf: String,
}

impl Browser {
    /// Loads the page of that path for the first time.
    async fn open(ops: &Ops, path: &str) -> Self {
        let answer = ops.get(path).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        Self { cookie: cookie_of(&answer).expect("a cookie"), csrf: csrf_of(&answer) }
    }

    /// Logs in.
    async fn log_in(ops: &Ops, token: &str) -> Self {
        let mut browser = Self::open(ops, "/login").await;
        let answer = browser.post(ops, "/login", &[("token", token)]).await;
        assert_eq!(answer.status, 303, "{answer:?}");
        browser.cookie = cookie_of(&answer).expect("a cookie");
        let page = browser.get(ops, "/dead-letters").await;
        assert_eq!(page.status, 200, "{page:?}");
        browser.csrf = csrf_of(&page);
        browser
    }

    async fn get(&self, ops: &Ops, path: &str) -> Answer {
        send(ops.address, "GET", path, &[("Cookie", &self.cookie)], b"").await
    }

    async fn post(&self, ops: &Ops, path: &str, fields: &[(&str, &str)]) -> Answer {
        self.post_with(ops, path, fields, &[("Origin", "http://localhost")]).await
    }

    async fn post_with(
        &self,
        ops: &Ops,
        path: &str,
        fields: &[(&str, &str)],
        headers: &[(&str, &str)],
    ) -> Answer {
        let form = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("csrf", &self.csrf)
            .extend_pairs(fields)
            .finish();
        let own = [("Cookie", self.cookie.as_str()), ("Content-Type", "application/x-www-form-urlencoded")];
        let headers: Vec<_> = own.into_iter().chain(headers.iter().copied()).collect();
        send(ops.address, "POST", path, &headers, form.as_bytes()).await
    }
}

fn cookie_of(answer: &Answer) -> Option<String> {
    let set =
        answer.headers.iter().find(|(name, value)| name == "set-cookie" && value.starts_with("payonce_ops="));
    set.map(|(_, value)| value.split(';').next().expect("a cookie").to_owned())
}

fn csrf_of(answer: &Answer) -> String {
    let html = String::from_utf8(answer.body.clone()).expect("text");
    let (_, rest) = html.split_once(r#"name="csrf" value=""#).unwrap_or_else(|| panic!("no form: {html}"));
    rest.split('"').next().expect("a value").to_owned()
}

async fn with_tokens(tokens: &TokenFile, store: &TestStore) -> Ops {
    store.keep(vec![new_letter("evt_1", 1)]).await;
    Ops::start(Setup {
        address: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        tokens_file: Some(tokens.path()),
        store: Some(store.services()),
        ..Setup::default()
    })
}

const DISCARD: [(&str, &str); 2] = [("id", "1"), ("why", "a test")];

async fn is_open(ops: &Ops) -> bool {
    let authorization = format!("Bearer {ANN}");
    let headers = [("Authorization", authorization.as_str())];
    let answer = send(ops.address, "GET", "/api/dead-letters/1", &headers, b"").await;
    answer.json()["letter"]["state"] == "open"
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_not_logged_in_is_shown_the_log_in() {
    let (tokens, store) = (TokenFile::create(), TestStore::create().await);
    let ops = with_tokens(&tokens, &store).await;
    for (path, to) in
        [("/", "/login"), ("/dead-letters?reason=refused", "/login?next=%2Fdead-letters%3Freason%3Drefused")]
    {
        let answer = ops.get(path).await;
        assert_eq!((answer.status, answer.header("location")), (303, Some(to)));
    }
    // A token of the API is none of the page.
    let authorization = format!("Bearer {ANN}");
    let answer = send(ops.address, "GET", "/", &[("Authorization", authorization.as_str())], b"").await;
    assert_eq!(answer.status, 303);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_begun_by_a_token_and_ended_by_a_log_out() {
    let (tokens, store) = (TokenFile::create(), TestStore::create().await);
    let ops = with_tokens(&tokens, &store).await;
    let browser = Browser::log_in(&ops, ANN).await;
    let answer = browser.post(&ops, "/logout", &[]).await;
    assert_eq!(answer.status, 303, "{answer:?}");
    // The cookie is of no use any more, wherever else it is.
    assert_eq!(browser.get(&ops, "/dead-letters").await.status, 303);
    let authorization = format!("Bearer {ANN}");
    let headers = [("Authorization", authorization.as_str())];
    let actions = send(ops.address, "GET", "/api/operator-actions", &headers, b"").await.json();
    assert_eq!(
        (actions["actions"][0]["what"].as_str(), actions["actions"][1]["what"].as_str()),
        (Some("log out"), Some("log in"))
    );
    assert_eq!(actions["actions"][0]["actor"], "ann");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cookie_is_for_this_site_and_for_no_script() {
    let (tokens, store) = (TokenFile::create(), TestStore::create().await);
    let ops = with_tokens(&tokens, &store).await;
    let answer = ops.get("/login").await;
    let cookie = answer.header("set-cookie").expect("a cookie");
    for attribute in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
    assert!(!cookie.contains("Secure"), "{cookie}");
    let by_tls = send(ops.address, "GET", "/login", &[("X-Forwarded-Proto", "https")], b"").await;
    assert!(by_tls.header("set-cookie").expect("a cookie").contains("Secure"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_in_changes_the_cookie_so_that_a_planted_one_is_of_no_use() {
    let (tokens, store) = (TokenFile::create(), TestStore::create().await);
    let ops = with_tokens(&tokens, &store).await;
    let before = Browser::open(&ops, "/login").await;
    let answer = before.post(&ops, "/login", &[("token", ANN)]).await;
    assert_ne!(cookie_of(&answer), Some(before.cookie.clone()));
    assert_eq!(before.get(&ops, "/dead-letters").await.status, 303);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_token_begins_nothing_and_many_of_them_must_wait() {
    let (tokens, store) = (TokenFile::create(), TestStore::create().await);
    let ops = with_tokens(&tokens, &store).await;
    let browser = Browser::open(&ops, "/login").await;
    let mut statuses = Vec::new();
    for _ in 0..15 {
        let answer = browser.post(&ops, "/login", &[("token", "payonce_eve")]).await;
        statuses.push(answer.status);
    }
    assert_eq!(statuses[0], 401, "{statuses:?}");
    assert_eq!(statuses.last(), Some(&429), "{statuses:?}");
    // Now even the right one must wait.
    assert_eq!(browser.post(&ops, "/login", &[("token", ANN)]).await.status, 429);
    assert_eq!(browser.get(&ops, "/dead-letters").await.status, 303);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_over_when_it_is_idle_or_its_token_is_dropped() {
    let (tokens, store) = (TokenFile::create(), TestStore::create().await);
    let ops = with_tokens(&tokens, &store).await;
    let browser = Browser::log_in(&ops, ANN).await;
    ops.clock.advance(Duration::from_mins(29));
    assert_eq!(browser.get(&ops, "/dead-letters").await.status, 200);
    ops.clock.advance(Duration::from_mins(31));
    assert_eq!(browser.get(&ops, "/dead-letters").await.status, 303);
    let browser = Browser::log_in(&ops, ANN).await;
    tokens.write(&[("bob", "read", BOB)]);
    assert_eq!(browser.get(&ops, "/dead-letters").await.status, 303);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_without_the_visitors_token_changes_nothing() {
    let (tokens, store) = (TokenFile::create(), TestStore::create().await);
    let ops = with_tokens(&tokens, &store).await;
    let good = Browser::log_in(&ops, ANN).await;
    let other = Browser::log_in(&ops, BOB).await;
    for csrf in ["", "x", other.csrf.as_str()] {
        let forged = Browser { cookie: good.cookie.clone(), csrf: csrf.to_owned() };
        assert_eq!(forged.post(&ops, "/dead-letters/discard", &DISCARD).await.status, 403, "{csrf}");
    }
    assert!(is_open(&ops).await);
    let answer = good.post(&ops, "/dead-letters/discard", &DISCARD).await;
    assert_eq!(answer.status, 303, "{answer:?}");
    assert!(!is_open(&ops).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_of_another_site_changes_nothing_even_with_the_right_token() {
    let (tokens, store) = (TokenFile::create(), TestStore::create().await);
    let ops = with_tokens(&tokens, &store).await;
    let browser = Browser::log_in(&ops, ANN).await;
    for header in [("Origin", "http://evil.example"), ("Origin", "null"), ("Sec-Fetch-Site", "cross-site")] {
        let answer = browser.post_with(&ops, "/dead-letters/discard", &DISCARD, &[header]).await;
        assert_eq!(answer.status, 403, "{header:?}");
    }
    assert!(is_open(&ops).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_only_look_cannot_send_a_form() {
    let (tokens, store) = (TokenFile::create(), TestStore::create().await);
    let ops = with_tokens(&tokens, &store).await;
    let browser = Browser::log_in(&ops, BOB).await;
    assert_eq!(browser.post(&ops, "/dead-letters/discard", &DISCARD).await.status, 403);
    assert_eq!(browser.get(&ops, "/dead-letters/1/payload").await.status, 403);
    assert!(is_open(&ops).await);
    assert_eq!(browser.post(&ops, "/logout", &[]).await.status, 303, "everybody may leave");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_tokens_the_page_wants_its_own_forms_too() {
    let store = TestStore::create().await;
    store.keep(vec![new_letter("evt_1", 1)]).await;
    let ops = store.listen();
    let forged = send(
        ops.address,
        "POST",
        "/dead-letters/discard",
        &[("Content-Type", "application/x-www-form-urlencoded")],
        b"id=1&why=x",
    )
    .await;
    assert_eq!(forged.status, 403);
    assert_eq!(ops.read("/api/dead-letters/1").await["letter"]["state"], "open");
    let browser = Browser::open(&ops, "/dead-letters/1").await;
    assert_eq!(browser.post(&ops, "/dead-letters/discard", &DISCARD).await.status, 303);
    assert_eq!(ops.read("/api/dead-letters/1").await["letter"]["state"], "discarded");
}
