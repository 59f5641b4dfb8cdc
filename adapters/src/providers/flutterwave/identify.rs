//! Which event a body is.

use application::ports::provider::Problem;
use domain::EventId;

use super::translate::name_of;
use crate::providers::identity::{missing, only_joined};
use crate::providers::json::Object;
use crate::providers::members::{body_object, event_id_of};

/// Version 4 wraps an event in an envelope with an id. Version 3 has none, and its kind does not say how it
/// ended: a charge is `charge.completed` when it failed too, so its status is part of the id.
pub fn identify(body: &[u8]) -> Result<Vec<EventId>, Vec<Problem>> {
    let root = body_object(body)?;
    let name = name_of(&root).ok_or_else(|| missing("/event"))?;
    let Some(data) = root.object("data") else { return flat(&root, &name) };
    if root.text("id").is_some() {
        return event_id_of(&root, "id", "/id").map(|id| vec![id]);
    }
    let id = data.text_or_number("id").ok_or_else(|| missing("/data/id"))?;
    only_joined(&[&name, &id, &data.text("status").unwrap_or_default()])
}

/// Some kinds of before version 3 are still sent, without `data`.
fn flat(root: &Object<'_>, name: &str) -> Result<Vec<EventId>, Vec<Problem>> {
    let id = root.text_or_number("id").ok_or_else(|| missing("/id"))?;
    only_joined(&[name, &id, &root.text("status").unwrap_or_default()])
}
