//! What every order of an operator says: why.

use application::operator::Why;

use super::fields::Fields;

/// The name of the field.
pub const WHY: &str = "why";

/// The explanation that a form carries, or what is wrong with it, for the person who sent it.
pub fn why(fields: &Fields) -> Result<Why, String> {
    Why::parse(fields.raw(WHY)).map_err(|error| format!("The reason {error}."))
}
