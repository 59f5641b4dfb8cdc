//! The steps of a schema, as their files say.

use std::path::Path;

/// A step: its version as the migration table has it, and what undoes it.
pub struct Step {
    pub version: String,
    pub down: String,
}

/// The steps of `schema` (`postgres` or `sqlite`), in order.
pub fn steps(schema: &str) -> Vec<Step> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../migrations").join(schema);
    let mut folders: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let step = |folder: &Path| {
        let name = folder.file_name().unwrap().to_str().unwrap();
        let (version, _) = name.split_once('_').unwrap();
        let down = std::fs::read_to_string(folder.join("down.sql")).unwrap();
        Step { version: version.replace('-', ""), down }
    };
    folders.iter().map(|folder| step(folder)).collect()
}

/// What undoes all steps behind the first `kept`, the last one first, and forgets that they were done.
pub fn back_to(schema: &str, kept: usize) -> String {
    let mut steps = steps(schema).split_off(kept);
    steps.reverse();
    steps
        .iter()
        .map(|Step { version, down }| {
            format!("{down};\nDELETE FROM __diesel_schema_migrations WHERE version = '{version}';")
        })
        .collect::<Vec<_>>()
        .join("\n")
}

/// What the first step's release has stored: a payment that was paid, one of nothing, and an event without
/// effect. `fingerprint` is sixteen bytes, and `moment` one, as the database writes them.
pub fn first_releases_rows(fingerprint: &str, moment: &str) -> String {
    format!(
        "INSERT INTO processed_events \
           (event_id, source, consumer, fingerprint, outcome, payment_id, received_at) \
         VALUES ('evt_1', 'payment', 'payments', {fingerprint}, 1, 'pi_1', {moment}), \
           ('evt_2', 'payment', 'payments', {fingerprint}, 1, 'pi_2', {moment}), \
           ('evt_3', 'payment', 'payments', {fingerprint}, 2, 'pi_1', {moment}), \
           ('evt_4', 'payment', 'other', {fingerprint}, 1, 'pi_4', {moment}); \
         INSERT INTO recorded_events (event_id, source, consumer, kind, reason, payload) \
         VALUES ('evt_3', 'payment', 'payments', 'some.kind', 'fact_already_known', {fingerprint}); \
         INSERT INTO payments (source, payment_id, state, amount_minor, currency, last_event_id, revision) \
         VALUES ('payment', 'pi_1', 'succeeded', 5, 'USD', 'evt_1', 1), \
           ('payment', 'pi_2', 'succeeded', 0, 'USD', 'evt_2', 1), \
           ('payment', 'pi_3', 'succeeded', 7, 'EUR', 'evt_gone', 1), \
           ('payment', 'pi_4', 'succeeded', 9, 'USD', 'evt_4', 1)"
    )
}
