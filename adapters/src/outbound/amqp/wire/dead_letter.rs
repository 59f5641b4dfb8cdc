//! Reads what lies in the dead-letter queue: put there by a worker, by the broker, or by anybody else.

use application::ports::dead_letter_queue::DeadLetterMessage;
use application::ports::event_queue::Delivery;
use bytes::Bytes;
use domain::Timestamp;
use lapin::BasicProperties;
use lapin::types::{AMQPValue, FieldTable};

use super::{
    HEADER_DEAD_LETTERED_AT, HEADER_DETAIL, HEADER_REASON, HEADER_RELEASE, HEADER_WORKER, as_text, number,
    read, text,
};

/// The broker's headers that tell why it moved a message to another queue. Only their words are read, never their
/// counts: those differ between releases of the broker.
const BROKER_LAST_REASON: &str = "x-last-death-reason";
const BROKER_FIRST_REASON: &str = "x-first-death-reason";
const BROKER_DEATHS: &str = "x-death";

/// Reads a message of the dead-letter queue that belongs to the main queue `main`.
pub fn read_dead_letter(
    token: u64,
    properties: &BasicProperties,
    payload: Bytes,
    main: &str,
) -> DeadLetterMessage {
    let Delivery { content, failed_attempts, history, .. } = read(token, properties, payload);
    let none = FieldTable::default();
    let headers = properties.headers().as_ref().unwrap_or(&none);
    let broker_reason = broker_reason(headers, main);
    // A worker publishes a dead letter afresh, without the broker's headers. Where both are there, somebody moved
    // an old dead letter back to the main queue, and it is the broker that has given up since.
    let by_worker = broker_reason.is_none();
    let told = |name| if by_worker { text(headers, name).map(str::to_owned) } else { None };
    DeadLetterMessage {
        token,
        content,
        reason: told(HEADER_REASON),
        detail: told(HEADER_DETAIL),
        failed_attempts,
        history,
        dead_lettered_at: number(headers, HEADER_DEAD_LETTERED_AT)
            .filter(|_| by_worker)
            .map(Timestamp::from_micros),
        worker: told(HEADER_WORKER),
        release: told(HEADER_RELEASE),
        broker_reason,
    }
}

/// Why the broker took the message off `main`. Every wait for a retry leaves its own entry among the deaths, so
/// the first one alone does not tell.
fn broker_reason(headers: &FieldTable, main: &str) -> Option<String> {
    let reason = text(headers, BROKER_LAST_REASON)
        .or_else(|| last_death_in(headers, main))
        .or_else(|| text(headers, BROKER_FIRST_REASON));
    reason.map(str::to_owned)
}

/// The reason of the newest death in `queue`: the newest entry stands first.
fn last_death_in<'a>(headers: &'a FieldTable, queue: &str) -> Option<&'a str> {
    let Some(AMQPValue::FieldArray(deaths)) = headers.inner().get(BROKER_DEATHS) else {
        return None;
    };
    deaths.as_slice().iter().find_map(|death| {
        let AMQPValue::FieldTable(death) = death else {
            return None;
        };
        let word = |name: &str| death.inner().get(name).and_then(as_text);
        (word("queue") == Some(queue)).then(|| word("reason")).flatten()
    })
}

#[cfg(test)]
mod tests {
    use application::testing::envelope;
    use lapin::types::FieldArray;

    use super::super::{properties, put_number, put_text};
    use super::*;

    const MAIN: &str = "events.main";

    fn with(change: impl FnOnce(&mut FieldTable)) -> DeadLetterMessage {
        let properties = properties(&envelope("evt_1", "{}")).unwrap();
        let mut headers = properties.headers().clone().unwrap();
        change(&mut headers);
        read_dead_letter(1, &properties.with_headers(headers), Bytes::from_static(b"{}"), MAIN)
    }

    fn death(queue: &str, reason: &str) -> AMQPValue {
        let mut death = FieldTable::default();
        put_text(&mut death, "queue", queue);
        put_text(&mut death, "reason", reason);
        death.insert("count".into(), AMQPValue::LongLongInt(99));
        AMQPValue::FieldTable(death)
    }

    fn deaths(list: Vec<AMQPValue>) -> AMQPValue {
        AMQPValue::FieldArray(FieldArray::from(list))
    }

    #[test]
    fn what_the_worker_said_is_read() {
        let letter = with(|headers| {
            put_text(headers, HEADER_REASON, "refused");
            put_text(headers, HEADER_DETAIL, "more than captured");
            put_text(headers, HEADER_WORKER, "host/7");
            put_text(headers, HEADER_RELEASE, "0.1.0");
            put_number(headers, HEADER_DEAD_LETTERED_AT, 5);
        });
        assert_eq!(letter.reason.as_deref(), Some("refused"));
        assert_eq!(letter.detail.as_deref(), Some("more than captured"));
        assert_eq!(letter.worker.as_deref(), Some("host/7"));
        assert_eq!(letter.release.as_deref(), Some("0.1.0"));
        assert_eq!(letter.dead_lettered_at, Some(Timestamp::from_micros(5)));
        assert_eq!(letter.broker_reason, None);
    }

    #[test]
    fn of_several_deaths_that_in_the_main_queue_tells_why() {
        let letter = with(|headers| {
            put_text(headers, BROKER_FIRST_REASON, "expired");
            let list = vec![death("events.retry.5s", "expired"), death(MAIN, "delivery_limit")];
            headers.insert(BROKER_DEATHS.into(), deaths(list));
        });
        assert_eq!(letter.broker_reason.as_deref(), Some("delivery_limit"));
        assert_eq!(letter.failed_attempts, 0);
    }

    #[test]
    fn the_last_death_counts_before_the_first() {
        let letter = with(|headers| {
            put_text(headers, BROKER_FIRST_REASON, "expired");
            put_text(headers, BROKER_LAST_REASON, "delivery_limit");
        });
        assert_eq!(letter.broker_reason.as_deref(), Some("delivery_limit"));
    }

    #[test]
    fn an_old_dead_letter_that_the_broker_gave_up_since_tells_nothing_of_before() {
        let letter = with(|headers| {
            put_text(headers, HEADER_REASON, "refused");
            put_number(headers, HEADER_DEAD_LETTERED_AT, 5);
            headers.insert(BROKER_DEATHS.into(), deaths(vec![death(MAIN, "delivery_limit")]));
        });
        assert_eq!((letter.reason, letter.dead_lettered_at), (None, None));
        assert_eq!(letter.broker_reason.as_deref(), Some("delivery_limit"));
    }

    #[test]
    fn headers_that_make_no_sense_tell_nothing() {
        let odd = vec![AMQPValue::LongLongInt(9), death("elsewhere", "rejected")];
        let letter = with(|headers| {
            headers.insert(HEADER_REASON.into(), AMQPValue::Boolean(true));
            headers.insert(HEADER_DEAD_LETTERED_AT.into(), AMQPValue::Void);
            headers.insert(BROKER_DEATHS.into(), deaths(odd));
        });
        assert_eq!((letter.reason, letter.broker_reason), (None, None));
        assert_eq!(letter.dead_lettered_at, None);
        let foreign = read_dead_letter(1, &BasicProperties::default(), Bytes::from_static(b"\xff"), MAIN);
        assert_eq!(foreign.content.expect_err("not ours").payload, &b"\xff"[..]);
    }
}
