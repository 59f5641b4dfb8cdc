//! `/quarantine`: requests that were refused since their signature does not hold, what their source says of them
//! now, and taking in those that turn out to be genuine.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::{Bytes, Path};
use application::error_chain::describe;
use application::operator::OperatorOrder;
use application::ports::quarantine::Quarantined;
use application::use_cases::Verdict;
use application::use_cases::review_quarantine::ReviewError;
use askama::Template;

use super::super::quarantine_orders;
use super::answer::lead_to;
use super::error::PageError;
use super::fields::Fields;
use super::flash::Flash;
use super::frame::{Frame, Place};
use super::order::why;
use super::replays::before;
use super::view::badge::words;
use super::view::{Badge, PayloadView, When, size};
use super::visitor::Visitor;

/// How many requests a page of the list has. Each is judged again when the list is shown.
const REQUESTS_SHOWN: u32 = 25;

#[derive(Template)]
#[template(path = "quarantine.html")]
struct QuarantinePage {
    frame: Frame,
    requests: Vec<RequestRow>,
    next: Option<String>,
    is_first: bool,
}

struct RequestRow {
    id: i64,
    source: String,
    reason: String,
    verdict: Badge,
    size: String,
    at: When,
}

/// The list.
pub async fn list(visitor: Visitor, fields: Fields) -> Result<HttpResponse, PageError> {
    let before = before(&fields)?;
    let kept = visitor.services.quarantine()?.list(before, REQUESTS_SHOWN).await?;
    let is_full = u32::try_from(kept.len()).is_ok_and(|kept| kept >= REQUESTS_SHOWN);
    let last = kept.last().filter(|_| is_full).map(|(kept, _)| kept.id);
    Ok(visitor.show(&QuarantinePage {
        frame: visitor.frame("Quarantine", Place::Quarantine),
        requests: kept.iter().map(|(kept, verdict)| row(&visitor, kept, verdict)).collect(),
        next: last.map(|last| format!("/quarantine?before={last}")),
        is_first: before.is_none(),
    }))
}

fn row(visitor: &Visitor, kept: &Quarantined, verdict: &Verdict) -> RequestRow {
    let request = &kept.request;
    RequestRow {
        id: kept.id,
        source: request.source.to_string(),
        reason: words(&request.reason),
        verdict: verdict.into(),
        size: size(u64::try_from(request.body.len()).unwrap_or(u64::MAX)),
        at: visitor.when(request.received_at),
    }
}

#[derive(Template)]
#[template(path = "rejected.html")]
struct RejectedPage {
    frame: Frame,
    row: RequestRow,
    is_genuine: bool,
    events: Vec<String>,
    headers: Vec<(String, String)>,
    payload: PayloadView,
    why: String,
    problem: String,
}

/// One request.
pub async fn show(visitor: Visitor, id: Path<i64>) -> Result<HttpResponse, PageError> {
    ask(&visitor, *id, StatusCode::OK, &Fields::default(), String::new()).await
}

async fn ask(
    visitor: &Visitor,
    id: i64,
    status: StatusCode,
    fields: &Fields,
    problem: String,
) -> Result<HttpResponse, PageError> {
    let (kept, verdict) = visitor.services.quarantine()?.show(id).await.map_err(page_error)?;
    let masking = &visitor.services.masking;
    let request = &kept.request;
    let content_type = request.headers.iter().find(|(name, _)| name == "content-type");
    let content_type = content_type.and_then(|(_, value)| std::str::from_utf8(value).ok());
    let headers = request.headers.iter();
    let page = RejectedPage {
        frame: visitor.frame(format!("Rejected request {id}"), Place::Quarantine),
        is_genuine: matches!(verdict, Verdict::Genuine(_)),
        events: match &verdict {
            Verdict::Genuine(events) => events.iter().map(ToString::to_string).collect(),
            Verdict::Refused(_) | Verdict::NoSource => Vec::new(),
        },
        headers: headers.map(|(name, value)| (name.clone(), masking.rejected_header(name, value))).collect(),
        payload: masking.show(&request.body, content_type).into(),
        row: row(visitor, &kept, &verdict),
        why: fields.raw("why").to_owned(),
        problem,
    };
    Ok(visitor.show_as(status, &page))
}

fn page_error(error: ReviewError) -> PageError {
    match error {
        ReviewError::NotThere(id) => PageError::NoSuch(format!("rejected request {id} any more")),
        ReviewError::Quarantine(error) => PageError::Quarantine(error),
        refused @ ReviewError::Refused(_) => PageError::Invalid(describe(&refused)),
    }
}

/// The order that a form carries, or the page again.
async fn ordered(
    visitor: &Visitor,
    id: i64,
    body: &Bytes,
) -> Result<Result<OperatorOrder, HttpResponse>, PageError> {
    let fields = Fields::parse(body);
    match why(&fields) {
        Ok(why) => Ok(Ok(visitor.order(why))),
        Err(problem) => {
            let page = ask(visitor, id, StatusCode::UNPROCESSABLE_ENTITY, &fields, problem).await?;
            Ok(Err(page))
        }
    }
}

/// Takes it in.
pub async fn admit(visitor: Visitor, id: Path<i64>, body: Bytes) -> Result<HttpResponse, PageError> {
    let order = match ordered(&visitor, *id, &body).await? {
        Ok(order) => order,
        Err(page) => return Ok(page),
    };
    match quarantine_orders::admit(&visitor.services, visitor.services.quarantine()?, *id, &order).await {
        Ok(events) => {
            let names: Vec<_> = events.iter().map(ToString::to_string).collect();
            Ok(lead_to("/quarantine", &Flash::done(format!("Taken in and queued: {}.", names.join(", ")))))
        }
        Err(refused @ ReviewError::Refused(_)) => {
            let text = format!("Nothing was changed: {}.", describe(&refused));
            Ok(lead_to(&format!("/quarantine/{id}"), &Flash::trouble(text)))
        }
        Err(error) => Err(page_error(error)),
    }
}

/// Lets it go.
pub async fn discard(visitor: Visitor, id: Path<i64>, body: Bytes) -> Result<HttpResponse, PageError> {
    let order = match ordered(&visitor, *id, &body).await? {
        Ok(order) => order,
        Err(page) => return Ok(page),
    };
    let review = visitor.services.quarantine()?;
    let flash = if quarantine_orders::discard(&visitor.services, review, *id, &order).await? {
        Flash::done(format!("Rejected request {id} is gone."))
    } else {
        Flash::trouble(format!("Rejected request {id} was not there any more."))
    };
    Ok(lead_to("/quarantine", &flash))
}
