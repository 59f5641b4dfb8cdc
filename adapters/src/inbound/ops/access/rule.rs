//! What is asked of whom, decided once at the start.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use actix_web::HttpRequest;
use actix_web::dev::ServiceRequest;
use actix_web::http::header;
use application::operator::Actor;
use application::ports::clock::Clock;
use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Meter};

use super::csrf::CsrfKey;
use super::denied::Denied;
use super::log_in_limit::LogInLimit;
use super::origin::{check_direct, check_host, check_origin};
use super::principal::{Principal, Scope};
use super::sessions::Sessions;
use super::token::TokenDigest;
use super::token_file::{TokenFileError, Tokens};
use super::visit::{self, Visit};

/// Who acts where nobody has a token.
const LOCAL_ACTOR: &str = "local";

/// How the listener lets people in.
#[derive(Debug, Clone)]
pub struct AccessSettings {
    /// Where it listens.
    pub address: IpAddr,
    /// The file of tokens, where there is one.
    pub tokens_file: Option<PathBuf>,
    /// Further names of the host, for a listener on loopback without tokens.
    pub hosts: Vec<String>,
    /// The cookie goes over TLS only.
    pub cookie_secure: bool,
}

/// Why nobody can be let in.
#[derive(Debug, thiserror::Error)]
pub enum AccessSetupError {
    /// The file of tokens is of no use.
    #[error("ops.tokens_file: {0}")]
    Tokens(#[from] TokenFileError),
}

enum Rule {
    /// Everybody who reaches it: a listener on loopback.
    Local(Principal),
    /// Nobody: a listener that others reach, without tokens.
    Closed,
    /// Who has a token.
    Tokens(Tokens),
}

/// Lets people in.
pub struct Access {
    rule: Rule,
    hosts: Vec<String>,
    cookie_secure: bool,
    csrf: CsrfKey,
    pub(super) sessions: Sessions,
    limit: LogInLimit,
    pub(super) clock: Arc<dyn Clock>,
    tries: Option<Counter<u64>>,
}

impl Access {
    /// By these settings.
    ///
    /// # Errors
    /// The file of tokens is of no use.
    ///
    /// # Panics
    /// Never: `local` is the name of an operator.
    pub fn new(settings: &AccessSettings, clock: Arc<dyn Clock>) -> Result<Self, AccessSetupError> {
        let rule = match &settings.tokens_file {
            Some(path) => Rule::Tokens(Tokens::open(path.clone())?),
            None if settings.address.is_loopback() => Rule::Local(Principal {
                actor: Actor::parse(LOCAL_ACTOR).expect("a name"),
                scope: Scope::Operate,
            }),
            None => Rule::Closed,
        };
        Ok(Self {
            rule,
            hosts: settings.hosts.clone(),
            cookie_secure: settings.cookie_secure,
            csrf: CsrfKey::random(),
            sessions: Sessions::default(),
            limit: LogInLimit::new(),
            clock,
            tries: None,
        })
    }

    /// Counts there how often a token was tried.
    #[must_use]
    pub fn with_meter(mut self, meter: &Meter) -> Self {
        let counter = meter.u64_counter("payonce.ops.log_ins");
        let counter =
            counter.with_description("Tokens that were tried on the operators' listener, by outcome.");
        self.tries = Some(counter.build());
        self
    }

    /// Whether people log in here; else everybody who reaches the page is let in, or nobody.
    pub const fn has_log_in(&self) -> bool {
        matches!(self.rule, Rule::Tokens(_))
    }

    /// The names of the tokens that are let in; `None` where there are no tokens.
    pub fn names(&self) -> Option<Vec<String>> {
        match &self.rule {
            Rule::Tokens(tokens) => Some(tokens.names()),
            Rule::Local(_) | Rule::Closed => None,
        }
    }

    /// What is true of every request, whoever sends it.
    pub(super) fn check(&self, request: &HttpRequest) -> Result<(), Denied> {
        let headers = request.headers();
        match &self.rule {
            Rule::Closed => return Err(Denied::Closed),
            Rule::Local(_) => {
                check_direct(headers)?;
                check_host(headers, &self.hosts)?;
            }
            Rule::Tokens(_) => {}
        }
        check_origin(request)
    }

    /// Who calls the API.
    pub(super) fn caller(&self, request: &HttpRequest) -> Result<Principal, Denied> {
        match &self.rule {
            Rule::Closed => Err(Denied::Closed),
            Rule::Local(principal) => Ok(principal.clone()),
            Rule::Tokens(_) => {
                let token = bearer(request).ok_or(Denied::NoToken)?;
                match self.holder(TokenDigest::of(token)) {
                    Some(principal) => Ok(principal),
                    None => Err(self.wrong_token(request)),
                }
            }
        }
    }

    /// Who visits the page; `None` for somebody who has not logged in.
    pub(super) fn visitor(&self, id: &str) -> Option<Principal> {
        match &self.rule {
            Rule::Closed => None,
            Rule::Local(principal) => Some(principal.clone()),
            Rule::Tokens(_) => self.holder(self.sessions.token_of(id, self.clock.now())?),
        }
    }

    /// Who has the token that is tried. Counted and logged; too many tries are not even looked at.
    pub(super) fn try_token(
        &self,
        request: &HttpRequest,
        token: &str,
    ) -> Result<(TokenDigest, Principal), Denied> {
        if !self.limit.allows(peer(request)) {
            self.count("too_many");
            return Err(Denied::TooManyTries);
        }
        let digest = TokenDigest::of(token.trim());
        let Some(principal) = self.holder(digest) else {
            self.count("wrong");
            tracing::warn!(peer = %told(request), "a wrong token was tried");
            return Err(Denied::WrongToken);
        };
        self.count("right");
        Ok((digest, principal))
    }

    /// The visit of the request, and whether its browser has no cookie yet.
    pub(super) fn visit(&self, request: &ServiceRequest) -> (Visit, bool) {
        let known = visit::id_of(request);
        let is_new = known.is_none();
        let id = known.unwrap_or_else(visit::new_id);
        (Visit { csrf: self.csrf.token(&id), id }, is_new)
    }

    /// Whether the cookie of this request's answer is to go over TLS only.
    pub(super) fn secure(&self, request: &HttpRequest) -> bool {
        let by_tls = request.headers().get("x-forwarded-proto").is_some_and(|scheme| scheme == "https");
        self.cookie_secure || by_tls
    }

    fn holder(&self, digest: TokenDigest) -> Option<Principal> {
        match &self.rule {
            Rule::Tokens(tokens) => tokens.find(digest).map(|token| token.principal()),
            Rule::Local(_) | Rule::Closed => None,
        }
    }

    fn wrong_token(&self, request: &HttpRequest) -> Denied {
        if !self.limit.allows(peer(request)) {
            self.count("too_many");
            return Denied::TooManyTries;
        }
        self.count("wrong");
        tracing::warn!(peer = %told(request), "a wrong token was tried");
        Denied::WrongToken
    }

    fn count(&self, outcome: &'static str) {
        if let Some(tries) = &self.tries {
            tries.add(1, &[KeyValue::new("outcome", outcome)]);
        }
    }
}

fn bearer(request: &HttpRequest) -> Option<&str> {
    let value = request.headers().get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

pub(super) fn peer(request: &HttpRequest) -> Option<IpAddr> {
    request.peer_addr().as_ref().map(SocketAddr::ip)
}

/// The sender's address, for logs and the record.
pub(super) fn told(request: &HttpRequest) -> String {
    peer(request).map_or_else(|| "unknown".to_owned(), |peer| peer.to_string())
}
