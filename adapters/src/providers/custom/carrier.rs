//! Where in the headers a signature or a time stands.

use application::ports::provider::WebhookRequest;

/// How many values of a request are read: more than any sender has secrets, few enough to cost nothing.
const VALUES_MAX: usize = 32;

/// A header that holds one value, or several with a separator, perhaps each after a prefix.
#[derive(Debug, Clone)]
pub struct Carrier {
    /// The header's lower-case name.
    pub header: String,
    /// What stands before a value; values without it are not ours.
    pub prefix: String,
    /// What stands between values, where there can be several in a line.
    pub separator: Option<String>,
}

impl Carrier {
    /// The values of a request, without their prefix. The header may come several times.
    ///
    /// # Errors
    /// `missing_signature` where there is no such header, `no_known_signature` where no value has the prefix.
    pub fn values<'a>(&self, request: &WebhookRequest<'a>) -> Result<Vec<&'a [u8]>, &'static str> {
        let mut lines = request.headers_named(&self.header).peekable();
        if lines.peek().is_none() {
            return Err("missing_signature");
        }
        let values: Vec<&[u8]> = lines
            .flat_map(|line| split(line, self.separator.as_deref()))
            .filter_map(|value| value.trim_ascii().strip_prefix(self.prefix.as_bytes()))
            .take(VALUES_MAX)
            .collect();
        if values.is_empty() { Err("no_known_signature") } else { Ok(values) }
    }
}

fn split<'a>(line: &'a [u8], separator: Option<&str>) -> Vec<&'a [u8]> {
    let Some(separator) = separator.map(str::as_bytes) else { return vec![line] };
    let (mut values, mut rest) = (Vec::new(), line);
    while let Some(at) = rest.windows(separator.len().max(1)).position(|window| window == separator) {
        let (value, after) = rest.split_at(at);
        values.push(value);
        rest = after.get(separator.len()..).unwrap_or_default();
    }
    values.push(rest);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(prefix: &str, separator: Option<&str>, lines: &[&str]) -> Result<Vec<String>, &'static str> {
        let carrier = Carrier {
            header: "x-s".to_owned(),
            prefix: prefix.to_owned(),
            separator: separator.map(str::to_owned),
        };
        let headers: Vec<(String, Vec<u8>)> =
            lines.iter().map(|line| ("x-s".to_owned(), line.as_bytes().to_vec())).collect();
        let values = carrier.values(&WebhookRequest { body: b"", headers: &headers, query: "" })?;
        Ok(values.into_iter().map(|value| String::from_utf8_lossy(value).into_owned()).collect())
    }

    #[test]
    fn values_are_found_by_separator_and_prefix() {
        let owned = |texts: &[&str]| Ok(texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        assert_eq!(values("", None, &["a, b"]), owned(&["a, b"]));
        assert_eq!(values("v1=", Some(","), &["t=1,v1=a, v1=b,v0=c"]), owned(&["a", "b"]));
        assert_eq!(values("", Some(" "), &["a b", "c"]), owned(&["a", "b", "c"]));
        assert_eq!(values("", Some("--"), &["a--b-c--"]), owned(&["a", "b-c", ""]));
        assert_eq!(values("Bearer ", None, &["Bearer a"]), owned(&["a"]));
    }

    #[test]
    fn a_request_without_a_value_is_refused_by_what_is_missing() {
        assert_eq!(values("", None, &[]), Err("missing_signature"));
        assert_eq!(values("v1=", Some(","), &["t=1,v2=a", ""]), Err("no_known_signature"));
    }

    #[test]
    fn a_huge_header_is_read_in_part() {
        assert_eq!(values("", Some(","), &[&"a,".repeat(10_000)]).unwrap().len(), VALUES_MAX);
    }
}
