use serde::Deserialize;
use serde_json::json;

use super::*;

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    text: String,
    #[serde(default)]
    on: bool,
    #[serde(default)]
    seconds: u64,
    #[serde(default)]
    offset: i32,
    small: Option<u8>,
    #[serde(default)]
    list: Vec<String>,
    word: Option<Word>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Automatic,
    Manual,
}

fn read_value(options: Value) -> Result<Options, String> {
    let Value::Object(options) = options else { panic!("options are a table") };
    read(&options).map_err(|error| match error {
        SetupError::BadOption(what) => what,
        other => panic!("{other:?}"),
    })
}

fn expected() -> Options {
    Options {
        text: "123".to_owned(),
        on: true,
        seconds: 3600,
        offset: -5,
        small: Some(7),
        list: vec!["a".to_owned(), "b".to_owned()],
        word: Some(Word::Manual),
    }
}

#[test]
fn texts_are_read_as_the_types_that_are_wanted() {
    let options = json!({
        "text": "123", "on": "true", "seconds": "3600", "offset": "-5", "small": " 7\n", "list": "a,b",
        "word": "manual",
    });
    assert_eq!(read_value(options), Ok(expected()));
}

#[test]
fn what_has_its_type_already_is_read_as_it_is() {
    let options = json!({
        "text": "123", "on": true, "seconds": 3600, "offset": -5, "small": 7, "list": ["a", "b"], "word": "manual",
    });
    assert_eq!(read_value(options), Ok(expected()));
}

#[test]
fn a_text_that_is_wanted_as_text_stays_as_it_is() {
    for text in ["123", "true", "a,b", " x ", ""] {
        assert_eq!(read_value(json!({ "text": text })).unwrap().text, text);
    }
}

#[test]
fn an_entry_of_a_list_that_is_a_list_already_keeps_its_commas() {
    let options = read_value(json!({ "text": "", "list": ["a,b", "c"] })).unwrap();
    assert_eq!(options.list, ["a,b", "c"]);
}

#[test]
fn what_is_wrong_is_told_with_the_options_name_and_without_its_value() {
    for (name, value, what) in [
        ("text", json!(["canary"]), "must be a text"),
        ("text", json!(7), "must be a text"),
        ("on", json!("canary"), "must be true or false"),
        ("on", json!("1"), "must be true or false"),
        ("on", json!(1), "must be true or false"),
        ("seconds", json!("canary"), "must be a whole number, 0 or more"),
        ("seconds", json!("-1"), "must be a whole number, 0 or more"),
        ("seconds", json!(1.5), "must be a whole number, 0 or more"),
        ("seconds", json!(true), "must be a whole number, 0 or more"),
        ("offset", json!("canary"), "must be a whole number"),
        ("offset", json!(99_999_999_999_i64), "must be i32"),
        ("small", json!("256"), "must be u8"),
        ("list", json!(7), "must be a list"),
        ("list", json!(["a", 7]), "must be a text"),
        ("word", json!("canary"), "must be one of: automatic, manual"),
        ("word", json!(7), "must be a text"),
        ("word", json!({ "canary": 1 }), "must be a text"),
    ] {
        let mut options = json!({ "text": "" });
        options[name] = value.clone();
        assert_eq!(read_value(options), Err(format!("{name} {what}")), "{name} = {value}");
    }
}

#[test]
fn what_is_unknown_or_missing_is_told_by_its_name() {
    assert_eq!(read_value(json!({})), Err("text is missing".to_owned()));
    let known = "text, on, seconds, offset, small, list, word";
    assert_eq!(
        read_value(json!({ "text": "", "typo": "canary" })),
        Err(format!("\"typo\" is not an option of this provider; it has: {known}"))
    );
    let none =
        read::<crate::providers::settings::NoOptions>(&Map::from_iter([("typo".to_owned(), json!(1))]));
    let told = "\"typo\" is not an option of this provider, which has none".to_owned();
    assert_eq!(none.unwrap_err(), SetupError::BadOption(told));
}
