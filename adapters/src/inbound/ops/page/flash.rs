//! What became of an order, said once on the page that follows it. It travels in a cookie of its own, so that a
//! page that is loaded again does not say it again, and a link cannot say it at all.

use actix_web::HttpRequest;
use actix_web::cookie::{Cookie, SameSite, time};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// The name of the cookie.
const COOKIE: &str = "payonce_said";

/// How long it waits for the page that says it.
const WAITS: time::Duration = time::Duration::minutes(1);

/// The most bytes of what is said; a browser keeps cookies of about four thousand.
const TEXT_BYTES_MAX: usize = 1_500;

/// A sentence, and whether it tells of trouble.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flash {
    /// The sentence.
    pub text: String,
    /// Whether it did not work.
    pub is_trouble: bool,
}

impl Flash {
    /// It worked.
    pub fn done(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_trouble: false }
    }

    /// It did not.
    pub fn trouble(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_trouble: true }
    }

    /// The cookie that takes it to the next page.
    pub fn cookie(&self) -> Cookie<'static> {
        let text = &self.text[..self.text.floor_char_boundary(TEXT_BYTES_MAX)];
        let mark = if self.is_trouble { '!' } else { '.' };
        let value = URL_SAFE_NO_PAD.encode(format!("{mark}{text}"));
        Cookie::build(COOKIE, value)
            .path("/")
            .http_only(true)
            .same_site(SameSite::Strict)
            .max_age(WAITS)
            .finish()
    }

    /// The cookie that takes it away.
    pub fn removal() -> Cookie<'static> {
        let mut cookie =
            Cookie::build(COOKIE, "").path("/").http_only(true).same_site(SameSite::Strict).finish();
        cookie.make_removal();
        cookie
    }

    /// What the request's cookie says.
    pub fn of(request: &HttpRequest) -> Option<Self> {
        Self::read(request.cookie(COOKIE)?.value())
    }

    fn read(value: &str) -> Option<Self> {
        let said = String::from_utf8(URL_SAFE_NO_PAD.decode(value).ok()?).ok()?;
        let mut characters = said.chars();
        let is_trouble = characters.next()? == '!';
        Some(Self { text: characters.as_str().to_owned(), is_trouble })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_on_the_next_page_what_it_was_given() {
        for flash in [Flash::done("job 5 has 12 letters; \u{1F600}"), Flash::trouble("no")] {
            assert_eq!(Flash::read(flash.cookie().value()), Some(flash));
        }
        let long = Flash::done("é".repeat(5_000));
        assert!(long.cookie().value().len() < 2_100);
    }

    #[test]
    fn what_somebody_else_wrote_says_nothing_or_is_text() {
        assert_eq!(Flash::read("%%%"), None);
        assert_eq!(Flash::read(""), None);
        assert_eq!(Flash::read(&URL_SAFE_NO_PAD.encode([b'.', 0xff])), None);
    }
}
