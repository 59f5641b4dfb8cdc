//! Log-in and log-out on the page.

use actix_web::HttpRequest;
use actix_web::cookie::Cookie;
use application::error_chain::describe;
use application::operator::{Actor, OperatorAction, OperatorOrder, Why};

use super::denied::Denied;
use super::principal::Principal;
use super::rule::{Access, told};
use super::visit::{self, Visit};
use crate::inbound::ops::services::OpsServices;

/// What is written down as the reason of a log-in or log-out.
const BY_THE_PAGE: &str = "on the page";

/// Begins a session with `token`, and gives the cookie for it. The session has a new id: one that somebody else
/// has planted in the browser before is of no use.
#[expect(clippy::future_not_send, reason = "a request stays on the thread that read it")]
pub async fn log_in(
    request: &HttpRequest,
    access: &Access,
    services: &OpsServices,
    token: &str,
) -> Result<Cookie<'static>, Denied> {
    let (digest, principal) = access.try_token(request, token)?;
    let id = visit::new_id();
    access.sessions.begin(&id, digest, access.clock.now());
    tracing::info!(actor = principal.actor.as_str(), peer = %told(request), "logged in");
    write_down(services, &principal.actor, "log in", &told(request)).await;
    Ok(visit::cookie(id, access.secure(request)))
}

/// Where a visitor goes after the log-in: where they wanted to go, if that is here, else to the first page.
pub fn after_log_in(wanted: Option<&str>) -> &str {
    let is_here = |path: &&str| {
        path.starts_with('/') && !path.starts_with("//") && !path.chars().any(|c| c.is_control() || c == '\\')
    };
    wanted.filter(is_here).unwrap_or("/")
}

/// Ends the visitor's session, and gives a cookie that is not one.
#[expect(clippy::future_not_send, reason = "a request stays on the thread that read it")]
pub async fn log_out(
    request: &HttpRequest,
    access: &Access,
    services: &OpsServices,
    visit: &Visit,
    principal: &Principal,
) -> Cookie<'static> {
    access.sessions.end(&visit.id);
    tracing::info!(actor = principal.actor.as_str(), peer = %told(request), "logged out");
    write_down(services, &principal.actor, "log out", &told(request)).await;
    let mut cookie = visit::cookie(String::new(), access.secure(request));
    cookie.make_removal();
    cookie
}

/// Writes it down where there is a store. While the store is away people must still get in: they may be about
/// to find out why. The log has it, then.
async fn write_down(services: &OpsServices, actor: &Actor, what: &str, peer: &str) {
    let (Ok(store), Ok(why)) = (services.store(), Why::parse(BY_THE_PAGE)) else { return };
    let action = OperatorAction {
        order: OperatorOrder { actor: actor.clone(), at: services.clock.now(), why },
        what: what.to_owned(),
        target: format!("from {peer}"),
    };
    if let Err(error) = store.actions.record(&action).await {
        tracing::warn!(error = describe(&error), actor = actor.as_str(), what, "not written down");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_in_leads_to_no_other_site() {
        assert_eq!(after_log_in(Some("/dead-letters?group=1")), "/dead-letters?group=1");
        for wanted in ["", "https://evil.example", "//evil.example", "/\\evil.example", "/\n/evil", "x"] {
            assert_eq!(after_log_in(Some(wanted)), "/", "{wanted}");
        }
        assert_eq!(after_log_in(None), "/");
    }
}
