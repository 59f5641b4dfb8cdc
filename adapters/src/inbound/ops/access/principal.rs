//! Who asks.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use application::operator::Actor;

use super::denied::Denied;

/// What somebody may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Look.
    Read,
    /// Look, and change things; and see payloads unmasked.
    Operate,
}

impl Scope {
    /// The name in the file of tokens.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Operate => "operate",
        }
    }

    /// The scope of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Read, Self::Operate].into_iter().find(|scope| scope.as_str() == name)
    }
}

/// Who asks: somebody whom the guard has let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// The name under which it is written down what they do.
    pub actor: Actor,
    /// What they may do.
    pub scope: Scope,
}

impl Principal {
    /// Whether they may do what needs `scope`.
    pub fn may(&self, scope: Scope) -> bool {
        self.scope >= scope
    }

    /// Refuses what needs `scope` to somebody who does not have it.
    pub fn require(&self, scope: Scope) -> Result<(), Denied> {
        if self.may(scope) { Ok(()) } else { Err(Denied::Scope) }
    }
}

impl FromRequest for Principal {
    type Error = Denied;
    type Future = Ready<Result<Self, Denied>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(request.extensions().get::<Self>().cloned().ok_or(Denied::NoToken))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_only_look_may_not_change() {
        let actor = Actor::parse("ann").unwrap();
        let reader = Principal { actor: actor.clone(), scope: Scope::Read };
        assert!(reader.require(Scope::Read).is_ok());
        assert_eq!(reader.require(Scope::Operate), Err(Denied::Scope));
        assert!(Principal { actor, scope: Scope::Operate }.require(Scope::Read).is_ok());
    }
}
