//! Defaults, file and environment become one table.

use toml::{Table, Value};

use super::DEFAULT_FILE;

/// The prefix of an environment variable that sets a key.
const ENVIRONMENT_PREFIX: &str = "PAYONCE__";
/// Names that hosting platforms set, and the keys that they stand for.
const ALIASES: [(&str, &str); 3] =
    [("DATABASE_URL", "store.url"), ("AMQP_URL", "broker.url"), ("REDIS_URL", "cache.url")];
/// The sections whose keys are names that the user chooses, each with the entry that is the schema of all its
/// entries.
const NAMED_SECTIONS: [(&str, &str); 2] = [("sources", "payment"), ("destinations", "events")];

/// The defaults as a table.
///
/// # Panics
/// Never: a test reads the built-in file.
pub(super) fn defaults() -> Table {
    toml::from_str(DEFAULT_FILE).expect("the built-in default file is TOML")
}

/// One table of all layers. What is wrong with a layer goes to `problems`.
pub(super) fn merge(
    file: Option<(&str, &str)>,
    environment: impl Iterator<Item = (String, String)>,
    problems: &mut Vec<String>,
) -> Table {
    let schema = defaults();
    let mut merged = schema.clone();
    if let Some((origin, text)) = file {
        match toml::from_str::<Table>(text) {
            Ok(table) => merge_table(&schema, &mut merged, table, "", origin, problems),
            Err(error) => problems.push(format!("{origin}: {error}")),
        }
    }
    let mut variables: Vec<(String, String)> = environment.collect();
    variables.sort();
    for (alias, key) in ALIASES {
        if let Some((_, value)) = variables.iter().find(|(name, _)| name == alias) {
            set(&schema, &mut merged, key, value, alias, problems);
        }
    }
    for (name, value) in &variables {
        if let Some(key) = name.strip_prefix(ENVIRONMENT_PREFIX) {
            let key = key.to_ascii_lowercase().replace("__", ".");
            set(&schema, &mut merged, &key, value, name, problems);
        }
    }
    merged
}

fn merge_table(
    schema: &Table,
    into: &mut Table,
    from: Table,
    path: &str,
    origin: &str,
    problems: &mut Vec<String>,
) {
    for (key, value) in from {
        let full = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match (schema_of(schema, path, &key), value) {
            (None, _) => problems.push(format!("{origin}: {full} is not a setting")),
            (Some(Value::Table(schema)), Value::Table(table)) if schema.is_empty() => {
                merge_free(into, key, table, &full, origin, problems);
            }
            (Some(Value::Table(schema)), Value::Table(table)) => {
                let entry = into.entry(key).or_insert_with(|| Value::Table(schema.clone()));
                if let Value::Table(entry) = entry {
                    merge_table(schema, entry, table, &full, origin, problems);
                }
            }
            (Some(default), value) => match checked(default, value) {
                Ok(value) => {
                    into.insert(key, value);
                }
                Err(wanted) => problems.push(format!("{origin}: {full} must be {wanted}")),
            },
        }
    }
}

/// Merges a table that takes any keys, such as a source's options.
fn merge_free(
    into: &mut Table,
    key: String,
    from: Table,
    path: &str,
    origin: &str,
    problems: &mut Vec<String>,
) {
    let mut merged = match into.remove(&key) {
        Some(Value::Table(table)) => table,
        _ => Table::new(),
    };
    for (key, value) in from {
        let full = format!("{path}.{key}");
        match value {
            Value::Table(table) => merge_free(&mut merged, key, table, &full, origin, problems),
            value if is_plain(&value) => {
                merged.insert(key, value);
            }
            _ => {
                problems.push(format!("{origin}: {full} must be a text, a number, true or false, or a list"));
            }
        }
    }
    into.insert(key, Value::Table(merged));
}

/// Whether every format that a pack reads options in can hold it: dates and infinities are TOML's own.
fn is_plain(value: &Value) -> bool {
    match value {
        Value::Datetime(_) => false,
        Value::Float(number) => number.is_finite(),
        Value::Array(entries) => entries.iter().all(is_plain),
        Value::Table(table) => table.values().all(is_plain),
        Value::String(_) | Value::Integer(_) | Value::Boolean(_) => true,
    }
}

fn schema_of<'a>(schema: &'a Table, path: &str, key: &str) -> Option<&'a Value> {
    let named = NAMED_SECTIONS.iter().find(|(section, _)| *section == path);
    schema.get(named.map_or(key, |(_, entry)| *entry))
}

fn checked(default: &Value, value: Value) -> Result<Value, &'static str> {
    match (default, &value) {
        (Value::Integer(_), Value::Integer(number)) if *number >= 0 => Ok(value),
        (Value::Integer(_), _) => Err("a whole number, 0 or more"),
        (Value::String(_), Value::String(_)) | (Value::Boolean(_), Value::Boolean(_)) => Ok(value),
        (Value::Array(_), Value::Array(entries)) if entries.iter().all(Value::is_str) => Ok(value),
        (Value::String(_), _) => Err("a text in quotes"),
        (Value::Boolean(_), _) => Err("true or false"),
        (Value::Array(_), _) => Err("a list of texts"),
        _ => Err("a table of settings"),
    }
}

fn set(schema: &Table, into: &mut Table, key: &str, text: &str, variable: &str, problems: &mut Vec<String>) {
    let mut nested = Value::String(text.to_owned());
    if let Some(default) = default_of(schema, key) {
        nested = match parsed(default, text) {
            Ok(value) => value,
            // The value is not repeated: it may be a secret in the wrong place.
            Err(wanted) => return problems.push(format!("{variable}: {key} must be {wanted}")),
        };
    }
    for part in key.rsplit('.') {
        nested = Value::Table(Table::from_iter([(part.to_owned(), nested)]));
    }
    if let Value::Table(table) = nested {
        merge_table(schema, into, table, "", variable, problems);
    }
}

fn default_of<'a>(schema: &'a Table, key: &str) -> Option<&'a Value> {
    let mut parts = key.split('.');
    let first = parts.next()?;
    let mut value = schema.get(first)?;
    let mut path = first.to_owned();
    for part in parts {
        value = schema_of(value.as_table()?, &path, part)?;
        path = format!("{path}.{part}");
    }
    Some(value)
}

fn parsed(default: &Value, text: &str) -> Result<Value, &'static str> {
    match default {
        Value::Integer(_) => text.trim().parse().map(Value::Integer).map_err(|_| "a whole number, 0 or more"),
        Value::Boolean(_) => text.trim().parse().map(Value::Boolean).map_err(|_| "true or false"),
        Value::Array(_) => {
            Ok(Value::Array(text.split(',').map(|entry| Value::String(entry.to_owned())).collect()))
        }
        _ => Ok(Value::String(text.to_owned())),
    }
}
