//! The page's two sources, of which `custom` takes what this pack takes.

use application::ports::provider::Intake;
use serde_json::Value;

use super::*;
use crate::providers::registry;

const PAGE: &str = include_str!("../../../../../docs/providers/standard-webhooks.md");

/// The source of that name on the page.
fn source(name: &str) -> Arc<dyn Provider> {
    let blocks = PAGE.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let block =
        blocks.into_iter().find(|block| block.contains(&format!("[sources.{name}]"))).expect("a block");
    let page: Value = toml::from_str(block).expect("the block is TOML");
    let source = &page["sources"][name];
    let secrets: Vec<&str> =
        source["secrets"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    let options = source["options"].as_object().cloned().unwrap_or_default();
    let settings = SourceSettings { options, ..settings(&secrets, &[]) };
    let build = registry::find(source["provider"].as_str().expect("a name")).expect("a pack");
    build(&settings).expect("it can be set up")
}

#[test]
fn a_request_is_the_same_event_to_the_pack_and_to_custom() {
    let (pack, custom) = (source("calendar"), source("tills"));
    let body = br#"{"type":"invoice.paid"}"#;
    let signed = pack.sign(body, NOW).unwrap();
    let all: Vec<_> = signed.headers.into_iter().map(|(name, value)| (name, value.into_bytes())).collect();
    let intake = |source: &dyn Provider, body: &[u8]| -> Option<Intake> {
        source.intake(&WebhookRequest { body, headers: &all, query: "" }, NOW).ok()
    };
    assert!(intake(&*pack, body).is_some());
    assert_eq!(intake(&*custom, body), intake(&*pack, body));
    assert_eq!(intake(&*custom, b"{}"), None);
}
