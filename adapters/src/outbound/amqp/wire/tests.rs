use application::testing::envelope;

use super::*;

const DELAY: Duration = Duration::from_millis(4_500);

const BY: GivenUpBy<'_> = GivenUpBy { queue: "events.main", worker: Some("host/7") };

fn full() -> Envelope {
    Envelope {
        headers: vec![
            ("stripe-signature".to_owned(), "t=1,v1=é".to_owned()),
            ("x-twice".to_owned(), "a: b".to_owned()),
            ("x-twice".to_owned(), String::new()),
        ],
        trace: TraceContext {
            traceparent: Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".to_owned()),
            tracestate: Some("a=1".to_owned()),
        },
        ..envelope("evt_é1", &b"\x00\xff{ \"a\" : 1.0e0 }\r\n"[..])
    }
}

fn failure(n: i64) -> AttemptFailure {
    AttemptFailure {
        at: Timestamp::from_micros(n),
        class: "transient".to_owned(),
        error: format!("failure {n}: \"quoted\""),
    }
}

fn content(properties: &BasicProperties, payload: &'static [u8]) -> Result<Envelope, String> {
    let delivery = read(1, properties, Bytes::from_static(payload));
    delivery.content.map_err(|unreadable| {
        assert_eq!(unreadable.payload, payload);
        unreadable.reason
    })
}

fn without(name: &str) -> BasicProperties {
    let properties = properties(&full()).unwrap();
    let mut headers = properties.headers().clone().unwrap().inner().clone();
    headers.remove(name).unwrap();
    properties.with_headers(headers.into())
}

fn having(name: &str, value: AMQPValue) -> BasicProperties {
    let properties = properties(&full()).unwrap();
    let mut headers = headers_of(&properties);
    headers.insert(name.into(), value);
    properties.with_headers(headers)
}

/// An upper bound of what the header frame takes.
fn size(properties: &BasicProperties) -> usize {
    headers_of(properties)
        .inner()
        .iter()
        .map(|(name, value)| {
            name.as_str().len()
                + 16
                + match value {
                    AMQPValue::LongString(text) => text.len(),
                    AMQPValue::FieldArray(list) => {
                        list.as_slice().iter().filter_map(as_text).map(|t| t.len() + 5).sum()
                    }
                    _ => 8,
                }
        })
        .sum()
}

#[test]
fn an_envelope_comes_back_as_it_went() {
    let sent = full();
    let delivery = read(7, &properties(&sent).unwrap(), sent.payload.clone());
    assert_eq!(delivery.token, 7);
    assert_eq!((delivery.failed_attempts, delivery.history.len()), (0, 0));
    assert_eq!(delivery.content.unwrap(), sent);
}

#[test]
fn it_is_persistent_and_carries_the_event_id() {
    let properties = properties(&full()).unwrap();
    assert_eq!(*properties.delivery_mode(), Some(2));
    assert_eq!(properties.message_id().as_ref().unwrap().as_str(), "evt_é1");
    assert_eq!(*properties.timestamp(), Some(1_700_000_000));
}

#[test]
fn a_retry_carries_the_count_and_the_history() {
    let (sent, history) = (full(), vec![failure(1), failure(2)]);
    let properties = retry_properties(&sent, DELAY, 2, &history).unwrap();
    let delivery = read(1, &properties, sent.payload.clone());
    assert_eq!(delivery.failed_attempts, 2);
    assert_eq!(delivery.history, history);
    assert_eq!(delivery.content.unwrap(), sent);
}

#[test]
fn a_dead_letter_says_why_and_can_be_read_again() {
    let sent = full();
    let delivery = Delivery { token: 1, content: Ok(sent.clone()), failed_attempts: 3, history: vec![] };
    let reason = DeadLetterReason::AttemptsExhausted("boom".to_owned());
    let now = Timestamp::from_micros(99);
    let properties =
        dead_letter_properties(&delivery, BY, &reason, (delivery.failed_attempts, &[failure(1)]), now)
            .unwrap();
    let headers = headers_of(&properties);
    assert_eq!(text(&headers, HEADER_REASON), Some("attempts_exhausted"));
    assert_eq!(text(&headers, HEADER_DETAIL), Some("boom"));
    assert_eq!(number(&headers, HEADER_DEAD_LETTERED_AT), Some(99));
    assert_eq!(text(&headers, HEADER_QUEUE), Some("events.main"));
    assert_eq!(text(&headers, HEADER_RELEASE), Some(env!("CARGO_PKG_VERSION")));
    assert_eq!(text(&headers, HEADER_WORKER), Some("host/7"));
    let again = read(2, &properties, sent.payload.clone());
    assert_eq!((again.failed_attempts, again.history), (3, vec![failure(1)]));
    assert_eq!(again.content.unwrap(), sent);
}

#[test]
fn what_is_missing_makes_it_unreadable_and_is_named() {
    for name in [HEADER_VERSION, HEADER_SOURCE, HEADER_EVENT_ID, HEADER_RECEIVED_AT] {
        let reason = content(&without(name), b"x").unwrap_err();
        assert!(reason.contains(name), "{reason}");
    }
    assert!(content(&BasicProperties::default(), b"x").is_err());
}

#[test]
fn what_is_invalid_makes_it_unreadable_and_is_named() {
    let long = |text: &str| AMQPValue::LongString(text.into());
    let odd = [
        (HEADER_VERSION, AMQPValue::LongLongInt(2)),
        (HEADER_VERSION, long("1")),
        (HEADER_SOURCE, long("No Such/Name")),
        (HEADER_SOURCE, AMQPValue::Boolean(true)),
        (HEADER_EVENT_ID, long("")),
        (HEADER_EVENT_ID, AMQPValue::LongString(vec![0xff_u8].into())),
        (HEADER_RECEIVED_AT, long("yesterday")),
        (HEADER_HEADERS, long("not a list")),
        (HEADER_HEADERS, AMQPValue::FieldArray(vec![long("odd one")].into())),
    ];
    for (name, value) in odd {
        let reason = content(&having(name, value), b"x").unwrap_err();
        assert!(reason.contains(name), "{reason}");
    }
}

#[test]
fn numbers_of_any_width_are_read() {
    let properties = having(HEADER_VERSION, AMQPValue::ShortShortInt(1));
    assert!(content(&properties, b"x").is_ok());
}

#[test]
fn a_count_or_history_that_makes_no_sense_is_none() {
    let odd = [
        having(HEADER_FAILED_ATTEMPTS, AMQPValue::LongLongInt(-3)),
        having(HEADER_FAILED_ATTEMPTS, AMQPValue::LongString("many".into())),
        having(HEADER_HISTORY, AMQPValue::LongString("[{".into())),
        having(HEADER_HISTORY, AMQPValue::Void),
    ];
    for properties in odd {
        let delivery = read(1, &properties, Bytes::from_static(b"x"));
        assert_eq!((delivery.failed_attempts, delivery.history.len()), (0, 0));
        assert!(delivery.content.is_ok());
    }
    let huge = having(HEADER_FAILED_ATTEMPTS, AMQPValue::LongLongInt(i64::MAX));
    assert_eq!(read(1, &huge, Bytes::new()).failed_attempts, u32::MAX);
}

#[test]
fn the_brokers_headers_are_neither_trusted_nor_copied() {
    let properties = having("x-death", AMQPValue::FieldArray(vec![AMQPValue::LongLongInt(9)].into()));
    let delivery = read(1, &properties, Bytes::from_static(b"x"));
    assert_eq!(delivery.failed_attempts, 0);
    let onward = retry_properties(&delivery.content.unwrap(), DELAY, 1, &[]).unwrap();
    assert!(!headers_of(&onward).contains_key("x-death"));
}

#[test]
fn everything_written_is_bounded() {
    let worst = "\u{1}".repeat(100_000);
    let failures: Vec<_> = (0..50)
        .map(|_| AttemptFailure { error: worst.clone(), class: worst.clone(), ..failure(1) })
        .collect();
    let mut sent = full();
    sent.trace.tracestate = Some(worst.clone());
    sent.content_type = Some(worst.clone());
    sent.headers = vec![("x".to_owned(), "y".repeat(KEPT_HEADERS_BYTES_MAX - 1))];
    let delivery =
        Delivery { token: 1, content: Ok(sent.clone()), failed_attempts: u32::MAX, history: vec![] };
    let reason = DeadLetterReason::Untranslatable("é".repeat(100_000));
    let now = Timestamp::from_micros(1);
    let by = GivenUpBy { worker: Some(&worst), ..BY };
    let properties =
        dead_letter_properties(&delivery, by, &reason, (delivery.failed_attempts, &failures), now).unwrap();
    assert!(size(&properties) < 64 * 1024, "{}", size(&properties));
    assert_eq!(read(1, &properties, Bytes::new()).history.last().unwrap().error.len(), ERROR_BYTES_MAX);

    sent.headers.push(("z".to_owned(), String::new()));
    assert!(super::properties(&sent).is_err());
}

#[test]
fn an_odd_content_type_is_left_out() {
    for odd in ["", "text/plain\r\nx: y", &"x".repeat(256)] {
        let sent = Envelope { content_type: Some(odd.to_owned()), ..full() };
        assert_eq!(*properties(&sent).unwrap().content_type(), None, "{odd:?}");
    }
}

#[test]
fn an_unreadable_message_becomes_a_dead_letter_without_its_headers() {
    let delivery = read(1, &without(HEADER_SOURCE), Bytes::from_static(b"\x00bytes"));
    let reason = DeadLetterReason::Unreadable("odd".to_owned());
    let properties =
        dead_letter_properties(&delivery, BY, &reason, (0, &[]), Timestamp::from_micros(1)).unwrap();
    let headers = headers_of(&properties);
    assert_eq!(text(&headers, HEADER_REASON), Some("unreadable"));
    assert!(!headers.contains_key(HEADER_EVENT_ID));
    assert_eq!(*properties.delivery_mode(), Some(2));
}
