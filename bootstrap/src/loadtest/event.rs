//! What an event looks like on the wire.

use hyper::body::Bytes;

/// Writes the events of one run. Cheap enough to write each when it is sent, so that a long run needs no
/// memory for them.
#[derive(Debug)]
pub(super) struct Events {
    prefix: String,
    size: usize,
}

impl Events {
    /// The events of the run `name`, each at least `size` bytes.
    pub fn new(name: &str, size: usize) -> Self {
        Self { prefix: format!("{name}-"), size }
    }

    /// What every id of the run starts with, and no id of a run of another name.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The event's id.
    pub fn id(&self, event: u32) -> String {
        format!("{}{event}", self.prefix)
    }

    /// The event's body; the same bytes each time.
    pub fn body(&self, event: u32) -> Bytes {
        let prefix = &self.prefix;
        let amount = 100 + event % 9_900;
        let head = format!(
            r#"{{"id":"{prefix}{event}","type":"payment_intent.succeeded","data":{{"payment_intent":"pi_{prefix}{event}","amount_cents":{amount},"currency":"usd","status":"succeeded""#
        );
        let missing = self.size.saturating_sub(head.len() + "}}".len());
        if missing == 0 {
            return (head + "}}").into();
        }
        let fill = "x".repeat(missing.saturating_sub(r#","padding":"""#.len()));
        format!(r#"{head},"padding":"{fill}"}}}}"#).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_the_native_shape() {
        let events = Events::new("a", 0);
        let body: serde_json::Value = serde_json::from_slice(&events.body(7)).unwrap();
        let native = serde_json::json!({
            "id": "a-7", "type": "payment_intent.succeeded",
            "data": {"payment_intent": "pi_a-7", "amount_cents": 107, "currency": "usd", "status": "succeeded"},
        });
        assert_eq!(body, native);
        assert_eq!(events.id(7), "a-7");
        assert!(events.id(7).starts_with(events.prefix()));
    }

    #[test]
    fn a_copy_is_the_same_bytes() {
        let events = Events::new("a", 600);
        assert_eq!(events.body(3), events.body(3));
        assert_ne!(events.body(3), events.body(4));
    }

    #[test]
    fn padding_reaches_the_size_asked_for() {
        let body = Events::new("a", 1_000).body(12);
        assert_eq!(body.len(), 1_000);
        let value: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(value["data"]["status"], "succeeded");
    }
}
