//! Items signed as Adyen would. The members keep their values to the letter, and may change their order.

use std::borrow::Cow;
use std::collections::BTreeMap;

use application::ports::provider::CannotSign;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::item::Item;
use crate::providers::json::Object;
use crate::providers::signing::{KeyedHash, base64_text};

type Members<'a> = BTreeMap<String, Cow<'a, RawValue>>;

/// The body with a signature in each item, by the first key.
pub fn signed(body: &[u8], keyed: &KeyedHash) -> Result<Vec<u8>, CannotSign> {
    let mut root: BTreeMap<String, &RawValue> = serde_json::from_slice(body).map_err(|_| not_items())?;
    let items = root.get("notificationItems").ok_or_else(not_items)?;
    let items: Vec<&RawValue> = serde_json::from_str(items.get()).map_err(|_| not_items())?;
    if items.is_empty() {
        return Err(CannotSign("notificationItems has no item, so there is nothing to sign".to_owned()));
    }
    let items: Vec<_> = items.into_iter().map(|item| signed_item(item, keyed)).collect::<Result<_, _>>()?;
    let items = raw(&items)?;
    root.insert("notificationItems".to_owned(), &items);
    serde_json::to_vec(&root).map_err(|_| not_items())
}

fn signed_item(wrapped: &RawValue, keyed: &KeyedHash) -> Result<Box<RawValue>, CannotSign> {
    const WRAPPER: &str = "NotificationRequestItem";
    let mut outer = members(wrapped)?;
    let item = outer.remove(WRAPPER).ok_or_else(not_items)?;
    let object = Object::of(&item).ok_or_else(not_items)?;
    let text = Item::of_object(&object, String::new(), None)
        .signed_text()
        .map_err(|_| CannotSign("an item has a member that cannot be signed".to_owned()))?;
    let mut item = members(&item)?;
    let mut data = match item.get("additionalData") {
        Some(data) => members(data)?,
        None => Members::new(),
    };
    data.insert("hmacSignature".to_owned(), Cow::Owned(raw(&base64_text(&keyed.sign(&[text.as_bytes()])))?));
    let data = raw(&data)?;
    item.insert("additionalData".to_owned(), Cow::Owned(data));
    let item = raw(&item)?;
    outer.insert(WRAPPER.to_owned(), Cow::Owned(item));
    raw(&outer)
}

fn members(value: &RawValue) -> Result<Members<'_>, CannotSign> {
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(value.get()).map_err(|_| not_items())?;
    Ok(members.into_iter().map(|(name, value)| (name, Cow::Borrowed(value))).collect())
}

fn raw(value: &impl Serialize) -> Result<Box<RawValue>, CannotSign> {
    to_raw_value(value).map_err(|_| not_items())
}

fn not_items() -> CannotSign {
    CannotSign("the body is not a JSON object with a list of items in notificationItems".to_owned())
}
