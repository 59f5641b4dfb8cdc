//! A payload as it is shown.

use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::super::masking::{Masking, Shown};

/// What a payload has, without what is masked. The bytes as they came are a resource of their own.
#[derive(Debug, Serialize, ToSchema)]
pub struct PayloadDoc {
    /// How many bytes it has.
    pub bytes: u64,
    /// The JSON document, in its own order and with its own numbers; values of masked names are "•••".
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Value>)]
    pub json: Option<Box<RawValue>>,
    /// The fields of a form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<Vec<FieldDoc>>,
    /// Why nothing is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden_because: Option<&'static str>,
}

/// A field of a form, or a header.
#[derive(Debug, Serialize, ToSchema)]
pub struct FieldDoc {
    /// Its name.
    pub name: String,
    /// Its value, or "•••".
    pub value: String,
}

impl PayloadDoc {
    /// What `masking` shows of it.
    pub fn of(masking: &Masking, payload: &[u8], content_type: Option<&str>) -> Self {
        let bytes = u64::try_from(payload.len()).unwrap_or(u64::MAX);
        let nothing = Self { bytes, json: None, form: None, hidden_because: None };
        match masking.show(payload, content_type) {
            Shown::Json(text) => match RawValue::from_string(text) {
                Ok(json) => Self { json: Some(json), ..nothing },
                Err(_) => Self { hidden_because: Some("the payload cannot be shown"), ..nothing },
            },
            Shown::Form(fields) => {
                let fields = fields.into_iter().map(|(name, value)| FieldDoc { name, value });
                Self { form: Some(fields.collect()), ..nothing }
            }
            Shown::Hidden(why) => Self { hidden_because: Some(why), ..nothing },
        }
    }
}
