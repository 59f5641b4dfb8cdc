//! Who looks at a page, and what it is made from.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::http::StatusCode;
use actix_web::web::Data;
use actix_web::{FromRequest, HttpMessage, HttpRequest, HttpResponse};
use application::operator::{OperatorOrder, Why};
use askama::Template;
use domain::Timestamp;

use super::super::access::{Access, CsrfToken, Denied, Principal, Scope, Visit};
use super::super::services::{OpsServices, StoreServices};
use super::answer;
use super::error::PageError;
use super::flash::Flash;
use super::frame::{Frame, Place};
use super::state::Page;
use super::view::When;

/// Somebody whom the guard has let in, and the query.
pub struct Visitor {
    /// Who.
    pub principal: Principal,
    /// What there is to show.
    pub services: Data<OpsServices>,
    /// What is remembered.
    pub page: Data<Page>,
    /// The moment at which the page is made.
    pub now: Timestamp,
    csrf: CsrfToken,
    has_log_in: bool,
    flash: Option<Flash>,
}

impl Visitor {
    /// The frame of a page for them.
    pub fn frame(&self, title: impl Into<String>, here: Place) -> Frame {
        Frame {
            here,
            actor: self.principal.actor.to_string(),
            may_operate: self.principal.may(Scope::Operate),
            can_log_out: self.has_log_in,
            csrf: self.csrf.to_string(),
            consumer: self.services.consumer.to_string(),
            made_at: clock_of(self.now),
            flash: self.flash.clone(),
            ..Frame::bare(title)
        }
    }

    /// The page, for them.
    pub fn show(&self, template: &impl Template) -> HttpResponse {
        self.show_as(StatusCode::OK, template)
    }

    /// The page with another status. What was said is not said again.
    pub fn show_as(&self, status: StatusCode, template: &impl Template) -> HttpResponse {
        let mut response = answer::page(status, template);
        if self.flash.is_some() {
            // A cookie of ours has no character that a header cannot have.
            response.add_cookie(&Flash::removal()).ok();
        }
        response
    }

    /// The store.
    pub fn store(&self) -> Result<&StoreServices, PageError> {
        Ok(self.services.store()?)
    }

    /// A moment as it is seen from now.
    pub fn when(&self, at: Timestamp) -> When {
        When::new(at, self.now)
    }

    /// Their order, given now.
    pub fn order(&self, why: Why) -> OperatorOrder {
        self.services.order(&self.principal, why)
    }
}

fn clock_of(now: Timestamp) -> String {
    let moment = jiff::Timestamp::from_microsecond(now.as_micros());
    moment.map_or_else(|_| String::new(), |moment| moment.strftime("%H:%M:%S UTC").to_string())
}

impl FromRequest for Visitor {
    type Error = PageError;
    type Future = Ready<Result<Self, PageError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(visitor(request).map_err(PageError::from))
    }
}

fn visitor(request: &HttpRequest) -> Result<Visitor, Denied> {
    let extensions = request.extensions();
    let principal = extensions.get::<Principal>().cloned().ok_or(Denied::NoToken)?;
    let visit = extensions.get::<Visit>().ok_or(Denied::Csrf)?;
    let services = request.app_data::<Data<OpsServices>>().ok_or(Denied::Closed)?.clone();
    let page = request.app_data::<Data<Page>>().ok_or(Denied::Closed)?.clone();
    let access = request.app_data::<Data<Access>>().ok_or(Denied::Closed)?;
    Ok(Visitor {
        principal,
        now: services.clock.now(),
        services,
        page,
        csrf: visit.csrf.clone(),
        has_log_in: access.has_log_in(),
        flash: Flash::of(request),
    })
}
