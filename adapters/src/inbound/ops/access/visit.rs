//! A visitor of the page: a browser with a cookie, logged in or not.

use std::future::{Ready, ready};

use actix_web::cookie::{Cookie, SameSite};
use actix_web::dev::{Payload, ServiceRequest};
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::csrf::CsrfToken;
use super::denied::Denied;
use super::token::{SECRET_BYTES, random_bytes};

/// The name of the cookie.
const COOKIE: &str = "payonce_ops";

/// The visitor of this request. The guard of the page puts it there.
#[derive(Debug, Clone)]
pub struct Visit {
    /// What the visitor's forms carry, in the field [`CSRF_FIELD`](super::CSRF_FIELD).
    pub csrf: CsrfToken,
    pub(super) id: String,
}

/// The id of a new visitor, which nobody can guess.
pub(super) fn new_id() -> String {
    URL_SAFE_NO_PAD.encode(random_bytes())
}

/// The id that the request's cookie has, if it is one that we may have given.
pub(super) fn id_of(request: &ServiceRequest) -> Option<String> {
    let cookie = request.cookie(COOKIE)?;
    let is_ours = URL_SAFE_NO_PAD.decode(cookie.value()).is_ok_and(|bytes| bytes.len() == SECRET_BYTES);
    is_ours.then(|| cookie.value().to_owned())
}

/// The cookie of that id, until the browser is closed; the session ends on this side.
pub(super) fn cookie(id: String, secure: bool) -> Cookie<'static> {
    Cookie::build(COOKIE, id).path("/").http_only(true).same_site(SameSite::Strict).secure(secure).finish()
}

impl FromRequest for Visit {
    type Error = Denied;
    type Future = Ready<Result<Self, Denied>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(request.extensions().get::<Self>().cloned().ok_or(Denied::Csrf))
    }
}
