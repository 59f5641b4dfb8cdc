//! What `payonce send` would send, for people: the headers, and a command that can be pasted.

use std::fmt::Write;
use std::path::Path;

use application::ports::provider::SignedRequest;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use secrecy::{ExposeSecret, SecretString};
use url::Url;
use url::form_urlencoded::byte_serialize;

/// What stands where a scheme sends the secret itself.
const MASK: &str = "SECRET";

/// Where the command takes the body from.
#[derive(Clone, Copy)]
pub(super) enum Body<'a> {
    /// The file that was given, which signing did not change.
    File(&'a Path),
    /// What signing made of it.
    Text(&'a [u8]),
}

/// The text. No secret is in it, not even where the provider sends it as it is.
pub(super) fn text(url: &Url, request: &SignedRequest, body: Body<'_>, secrets: &[SecretString]) -> String {
    let url = masked(url.as_str().as_bytes(), secrets);
    let url = String::from_utf8_lossy(&url);
    let mut text = format!("POST {url}\n");
    let mut command = format!("curl -i {}", quoted(url.as_bytes()));
    for (name, value) in &request.headers {
        let value = masked(value.as_bytes(), secrets);
        let line = format!("{name}: {}", String::from_utf8_lossy(&value));
        // A header without a value is written with a semicolon, or curl leaves it out.
        let argument = if value.is_empty() { format!("{name};") } else { line.clone() };
        // Writing to a string does not fail.
        writeln!(text, "{line}").ok();
        write!(command, " \\\n  -H {}", quoted(argument.as_bytes())).ok();
    }
    let data = match body {
        Body::File(path) => {
            format!("--data-binary {}", quoted(&[b"@", path.as_os_str().as_encoded_bytes()].concat()))
        }
        Body::Text(bytes) => format!("--data-raw {}", quoted(&masked(bytes, secrets))),
    };
    format!("{text}\n{command} \\\n  {data}\n")
}

/// `text` with every secret replaced: as it is, in base64, and as in a URL.
fn masked(text: &[u8], secrets: &[SecretString]) -> Vec<u8> {
    let mut forms: Vec<String> = Vec::new();
    for secret in secrets.iter().map(ExposeSecret::expose_secret).filter(|secret| !secret.is_empty()) {
        let in_url = byte_serialize(secret.as_bytes()).collect();
        forms.extend([secret.to_owned(), STANDARD.encode(secret), in_url]);
    }
    // The longest first: one secret may be the beginning of another.
    forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
    forms.iter().fold(text.to_vec(), |text, form| replaced(&text, form.as_bytes()))
}

fn replaced(text: &[u8], secret: &[u8]) -> Vec<u8> {
    let mut rest = text;
    let mut masked = Vec::with_capacity(text.len());
    while let Some((first, after)) = rest.split_first() {
        if let Some(after) = rest.strip_prefix(secret) {
            masked.extend_from_slice(MASK.as_bytes());
            rest = after;
        } else {
            masked.push(*first);
            rest = after;
        }
    }
    masked
}

/// One word of a shell command: in quotes, and bytes that are no text escaped.
fn quoted(word: &[u8]) -> String {
    match std::str::from_utf8(word) {
        Ok(text) if !text.contains(|c: char| c.is_control() && c != '\n' && c != '\t') => {
            format!("'{}'", text.replace('\'', r"'\''"))
        }
        _ => {
            let escaped = word.iter().map(|byte| match byte {
                b'\'' | b'\\' => format!("\\{}", char::from(*byte)),
                0x20..=0x7e => char::from(*byte).to_string(),
                byte => format!("\\x{byte:02x}"),
            });
            format!("$'{}'", escaped.collect::<String>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(headers: &[(&str, &str)]) -> SignedRequest {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        SignedRequest { body: Vec::new(), headers: headers.collect(), query: String::new() }
    }

    fn url() -> Url {
        Url::parse("http://h/webhooks/shop?token=canary+1%2F").unwrap()
    }

    #[test]
    fn the_headers_and_a_command_are_shown() {
        let request = request(&[("x-signature", "ab'c"), ("x-empty", "")]);
        let url = Url::parse("http://h/webhooks/shop").unwrap();
        let text = text(&url, &request, Body::File(Path::new("a b.json")), &[]);
        let wanted = "POST http://h/webhooks/shop\nx-signature: ab'c\nx-empty: \n\n\
                      curl -i 'http://h/webhooks/shop' \\\n  -H 'x-signature: ab'\\''c' \\\n  -H 'x-empty;' \\\n  \
                      --data-binary '@a b.json'\n";
        assert_eq!(text, wanted);
    }

    #[test]
    fn a_secret_is_never_shown_in_whatever_form_it_is_sent() {
        let secrets = ["cana".into(), "canary 1/".into()];
        let basic = format!("Basic {}", STANDARD.encode("canary 1/"));
        let request = request(&[("x-token", "canary 1/"), ("authorization", &basic)]);
        let body = Body::Text(br#"{"hash":"canary 1/"}"#);
        let text = text(&url(), &request, body, &secrets);
        assert!(!text.contains("canary") && !text.contains(&basic), "{text}");
        assert!(text.contains("x-token: SECRET\n") && text.contains("token=SECRET"), "{text}");
    }

    #[test]
    fn a_body_that_signing_made_is_given_word_for_word() {
        let body = Body::Text(b"it's\x01\xff\\");
        let text = text(&url(), &request(&[]), body, &[]);
        assert!(text.ends_with("--data-raw $'it\\'s\\x01\\xff\\\\'\n"), "{text}");
    }
}
