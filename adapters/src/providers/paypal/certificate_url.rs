//! Where a certificate may be fetched from. The URL comes with the request, from anybody.

use url::Url;

/// The domain that belongs to PayPal.
const DOMAIN: &str = "paypal.com";

/// The URL that `text` is, when it may be fetched: `https`, PayPal's domain or a host under it, the usual port,
/// no user. `None` otherwise.
pub fn allowed(text: &str) -> Option<Url> {
    let mut url = Url::parse(text).ok()?;
    let host = url.host_str()?;
    let of_paypal = host == DOMAIN || host.strip_suffix(DOMAIN).is_some_and(|rest| rest.ends_with('.'));
    let plain = url.scheme() == "https" && url.port().is_none() && !text.contains(['@', '\\']);
    if !of_paypal || !plain {
        return None;
    }
    url.set_fragment(None);
    Some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paypals_own_hosts_are_allowed() {
        for text in [
            "https://api.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594-1a5f47cb",
            "https://api.sandbox.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594-a5cafa77",
            "https://API.PayPal.com:443/x",
            "https://paypal.com/x",
        ] {
            assert!(allowed(text).is_some(), "{text}");
        }
        let one = allowed("https://api.paypal.com/x#a").unwrap();
        assert_eq!(Some(one), allowed("https://api.paypal.com/x"));
    }

    #[test]
    fn whatever_else_a_request_names_is_not() {
        for text in [
            "",
            "/v1/notifications/certs/CERT-1",
            "http://api.paypal.com/x",
            "ftp://api.paypal.com/x",
            "file:///etc/passwd",
            "https://api.paypal.com@evil.example/v1/notifications/certs/CERT-1",
            "https://user@api.paypal.com/x",
            "https://@api.paypal.com/x",
            "https://api.paypal.com:8443/x",
            "https://api.paypal.com.evil.example/x",
            "https://api.paypal.com./x",
            "https://evilpaypal.com/x",
            "https://evil.example/api.paypal.com",
            "https://evil.example\\.paypal.com/x",
            "https://evil.example#.paypal.com",
            "https://evil.example?.paypal.com",
            "https://127.0.0.1/x",
            "https://[::1]/x",
            "https://paypal.c\u{f6}m/x",
        ] {
            assert_eq!(allowed(text), None, "{text}");
        }
    }
}
