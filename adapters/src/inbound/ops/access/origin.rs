//! Whether a request was sent by one of our own pages, or by no page at all.

use actix_web::HttpRequest;
use actix_web::http::header::{self, HeaderMap};

use super::denied::Denied;

/// The hosts under which a listener on loopback is known anyway.
const LOCAL_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// What a proxy adds.
const PROXY_HEADERS: [&str; 4] = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

/// Refuses a request that names a host that is neither local nor in `hosts`. A site can have its own name
/// resolve to 127.0.0.1; then the browser takes what we answer for the site's.
pub(super) fn check_host(headers: &HeaderMap, hosts: &[String]) -> Result<(), Denied> {
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok()).map(without_port);
    let known = |host: &str| {
        LOCAL_HOSTS.contains(&host) || hosts.iter().any(|other| other.eq_ignore_ascii_case(host))
    };
    match host {
        Some(host) if known(&host.to_ascii_lowercase()) => Ok(()),
        _ => Err(Denied::ForeignHost),
    }
}

/// Refuses a request that a proxy has passed on, whose sender may be anywhere.
pub(super) fn check_direct(headers: &HeaderMap) -> Result<(), Denied> {
    let passed_on = PROXY_HEADERS.iter().any(|name| headers.contains_key(*name));
    if passed_on { Err(Denied::Forwarded) } else { Ok(()) }
}

/// Refuses a request that another site has made a browser send. Browsers say where it comes from; what is no
/// browser says nothing, and can be used by nobody but who runs it. To follow a link to the page is no harm.
pub(super) fn check_origin(request: &HttpRequest) -> Result<(), Denied> {
    let headers = request.headers();
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let is_link = request.method().is_safe() && text("sec-fetch-mode") == Some("navigate");
    match text("sec-fetch-site") {
        None | Some("same-origin" | "none") => {}
        Some(_) if is_link => {}
        Some(_) => return Err(Denied::ForeignOrigin),
    }
    let Some(origin) = text("origin") else { return Ok(()) };
    let host = text("host").unwrap_or_default();
    let ours = ["http://", "https://"]
        .iter()
        .any(|scheme| origin.strip_prefix(scheme).is_some_and(|origin| origin.eq_ignore_ascii_case(host)));
    if ours { Ok(()) } else { Err(Denied::ForeignOrigin) }
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    fn request(headers: &[(&str, &str)]) -> HttpRequest {
        let mut request = TestRequest::post().insert_header(("host", "localhost:9000"));
        for (name, value) in headers {
            request = request.insert_header((*name, *value));
        }
        request.to_http_request()
    }

    fn host(host: &str) -> Result<(), Denied> {
        let request = TestRequest::get().insert_header(("host", host)).to_http_request();
        check_host(request.headers(), &["ops.example.com".to_owned()])
    }

    #[test]
    fn local_and_configured_hosts_are_ours_with_any_port() {
        for ours in
            ["localhost", "LOCALHOST:9000", "127.0.0.1:1", "[::1]:9000", "[::1]", "Ops.example.com:80"]
        {
            assert_eq!(host(ours), Ok(()), "{ours}");
        }
        for foreign in ["", "evil.example", "localhost.evil.example:9000", "127.0.0.1.evil.example", "::1"] {
            assert_eq!(host(foreign), Err(Denied::ForeignHost), "{foreign}");
        }
    }

    #[test]
    fn what_says_nothing_or_comes_from_our_page_is_taken() {
        assert!(check_origin(&request(&[])).is_ok());
        let ours = [("origin", "http://localhost:9000"), ("sec-fetch-site", "same-origin")];
        assert!(check_origin(&request(&ours)).is_ok());
        assert!(
            check_origin(&request(&[("origin", "https://localhost:9000")])).is_ok(),
            "behind a TLS proxy"
        );
    }

    #[test]
    fn another_site_is_refused() {
        for header in [
            ("origin", "http://evil.example"),
            ("origin", "null"),
            ("origin", "http://localhost:3000"),
            ("origin", "http://localhost"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
        ] {
            assert_eq!(check_origin(&request(&[header])), Err(Denied::ForeignOrigin), "{header:?}");
        }
    }

    #[test]
    fn a_link_from_elsewhere_may_be_followed_and_a_form_may_not() {
        let headers = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")];
        let mut link = TestRequest::get().insert_header(("host", "localhost"));
        for header in headers {
            link = link.insert_header(header);
        }
        assert!(check_origin(&link.to_http_request()).is_ok());
        assert!(check_origin(&request(&headers)).is_err());
    }

    #[test]
    fn what_a_proxy_passed_on_is_refused() {
        assert!(check_direct(request(&[]).headers()).is_ok());
        for name in PROXY_HEADERS {
            assert_eq!(check_direct(request(&[(name, "1.2.3.4")]).headers()), Err(Denied::Forwarded));
        }
    }
}
