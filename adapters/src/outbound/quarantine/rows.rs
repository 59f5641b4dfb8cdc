//! The table of the quarantine's file.

use application::ports::BoxError;
use application::ports::quarantine::{Quarantined, RejectedRequest};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use domain::{SourceName, Timestamp};

use super::settings::{QuarantineLimits, bytes_of};

diesel::table! {
    rejected_requests (id) {
        id -> BigInt,
        source -> Text,
        received_at -> BigInt,
        reason -> Text,
        bytes -> BigInt,
        query -> Text,
        headers -> Text,
        body -> Binary,
    }
}

/// Deletes the oldest until the rest is within both limits.
const PRUNE: &str = "DELETE FROM rejected_requests WHERE id <= (SELECT coalesce(max(id), 0) FROM (\
     SELECT id, sum(bytes) OVER newest AS bytes, row_number() OVER newest AS entries \
     FROM rejected_requests WINDOW newest AS (ORDER BY id DESC)) WHERE bytes > ? OR entries > ?)";

type Row = (i64, String, i64, String, String, String, Vec<u8>);

/// Adds them, and lets go of what is too much.
pub fn add(
    connection: &mut SqliteConnection,
    requests: &[RejectedRequest],
    limits: QuarantineLimits,
) -> Result<(), BoxError> {
    use rejected_requests::dsl;
    let bytes_max = i64::try_from(limits.bytes_max).unwrap_or(i64::MAX);
    connection.transaction::<(), BoxError, _>(|connection| {
        for request in requests {
            diesel::insert_into(dsl::rejected_requests)
                .values((
                    dsl::source.eq(request.source.as_str()),
                    dsl::received_at.eq(request.received_at.as_micros()),
                    dsl::reason.eq(&request.reason),
                    dsl::bytes.eq(i64::try_from(bytes_of(request)).unwrap_or(i64::MAX)),
                    dsl::query.eq(&request.query),
                    dsl::headers.eq(headers_text(request)?),
                    dsl::body.eq(request.body.as_ref()),
                ))
                .execute(connection)?;
        }
        diesel::sql_query(PRUNE)
            .bind::<BigInt, _>(bytes_max)
            .bind::<BigInt, _>(i64::from(limits.entries_max))
            .execute(connection)?;
        Ok(())
    })
}

/// At most `limit` of those before `before`, newest first.
pub fn list(
    connection: &mut SqliteConnection,
    before: Option<i64>,
    limit: u32,
) -> Result<Vec<Quarantined>, BoxError> {
    use rejected_requests::dsl;
    let found: Vec<Row> = dsl::rejected_requests
        .filter(dsl::id.lt(before.unwrap_or(i64::MAX)))
        .order(dsl::id.desc())
        .limit(i64::from(limit))
        .select((dsl::id, dsl::source, dsl::received_at, dsl::reason, dsl::query, dsl::headers, dsl::body))
        .load(connection)?;
    found.into_iter().map(read).collect()
}

/// The one of that number.
pub fn get(connection: &mut SqliteConnection, id: i64) -> Result<Option<Quarantined>, BoxError> {
    let newer = list(connection, id.checked_add(1), 1)?;
    Ok(newer.into_iter().find(|one| one.id == id))
}

/// Deletes it. `false` when it is not there.
pub fn remove(connection: &mut SqliteConnection, id: i64) -> Result<bool, BoxError> {
    use rejected_requests::dsl;
    Ok(diesel::delete(dsl::rejected_requests.filter(dsl::id.eq(id))).execute(connection)? == 1)
}

fn headers_text(request: &RejectedRequest) -> Result<String, BoxError> {
    let encoded: Vec<(&str, String)> =
        request.headers.iter().map(|(name, value)| (name.as_str(), STANDARD.encode(value))).collect();
    Ok(serde_json::to_string(&encoded)?)
}

fn read((id, source, received_at, reason, query, headers, body): Row) -> Result<Quarantined, BoxError> {
    let encoded: Vec<(String, String)> = serde_json::from_str(&headers)?;
    let decoded = encoded.into_iter().map(|(name, value)| Ok((name, STANDARD.decode(value)?)));
    let request = RejectedRequest {
        source: SourceName::parse(&source)?,
        received_at: Timestamp::from_micros(received_at),
        reason,
        headers: decoded.collect::<Result<_, base64::DecodeError>>()?,
        query,
        body: Bytes::from(body),
    };
    Ok(Quarantined { id, request })
}
