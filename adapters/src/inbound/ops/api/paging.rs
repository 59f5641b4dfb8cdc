//! Pages of a list.

use std::str::FromStr;

use super::input::Checks;

/// How many items a page has, unless it is asked for otherwise.
pub const LIMIT_DEFAULT: u32 = 50;

/// How many items are wanted: as the text says, at most `max`.
pub fn limit(checks: &mut Checks, text: Option<&String>, max: u32) -> u32 {
    let parse = |text: &str| match text.parse::<u32>() {
        Ok(limit) if (1..=max).contains(&limit) => Ok(limit),
        _ => Err(format!("is not a number from 1 to {max}")),
    };
    checks.parse("limit", text, parse).unwrap_or_else(|| LIMIT_DEFAULT.min(max))
}

/// Where the list goes on.
pub fn cursor<C: FromStr>(checks: &mut Checks, text: Option<&String>) -> Option<C> {
    checks.parse("cursor", text, |text| text.parse::<C>().map_err(|_| "is not the `next` of an answer"))
}

/// The number in a path, where it is one.
pub fn number(text: &str) -> Option<i64> {
    text.parse().ok().filter(|number| *number >= 0)
}
