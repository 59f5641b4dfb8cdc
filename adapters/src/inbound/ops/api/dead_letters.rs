//! `/api/dead-letters`

use actix_web::HttpResponse;
use actix_web::http::header::{self, ContentDisposition, DispositionParam, DispositionType};
use actix_web::web::{Data, Json, Path};
use application::dead_letter::{DeadLetterId, GroupTotals, LetterFilter, LetterState};
use application::ports::dead_letters::{Discarded, GROUPS_MAX, LetterPage, PAGE_LETTERS_MAX};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::super::access::Principal;
use super::super::raw_payload::{file_name, raw_payload};
use super::super::services::OpsServices;
use super::document::Problems;
use super::error::ApiError;
use super::input::{Body, Checks, Query};
use super::letter::{GroupDoc, LetterDoc, StateDoc, WholeLetterDoc, states};
use super::money::{MoneyDoc, totals};
use super::paging::{cursor, limit, number};
use super::selection::{FilterInput, why};

/// How many edited copies of a letter are told.
pub const COPIES_MAX: u32 = 20;

/// Which letters are listed. Edited copies are listed by `copies_of` only.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ListQuery {
    /// Where the event came in.
    #[param(pattern = "^[a-z0-9_-]{1,64}$")]
    source: Option<String>,
    /// Its id there.
    #[param(min_length = 1, max_length = 255)]
    event_id: Option<String>,
    /// The provider's name of what happened.
    #[param(min_length = 1, max_length = 255)]
    kind: Option<String>,
    /// Why it is a dead letter.
    #[param(
        pattern = "^(unreadable|untranslatable|conflict|refused|store_refused|attempts_exhausted|never_ready|delivery_limit|unknown)$"
    )]
    reason: Option<String>,
    /// Which letters failed alike: 32 hexadecimal digits.
    #[param(pattern = "^[0-9a-f]{32}$")]
    group: Option<String>,
    /// Given up at this moment or later.
    #[param(format = DateTime)]
    from: Option<String>,
    /// Given up before this moment.
    #[param(format = DateTime)]
    until: Option<String>,
    /// Whose money it is.
    #[param(min_length = 1, max_length = 255)]
    account: Option<String>,
    /// Which payment.
    #[param(min_length = 1, max_length = 255)]
    payment: Option<String>,
    /// The edited copies of the letter of this number.
    #[param(value_type = Option<i64>, minimum = 0)]
    copies_of: Option<String>,
    /// `open`, `replaying`, `replayed` or `discarded`.
    #[param(pattern = "^(open|replaying|replayed|discarded)$")]
    state: Option<String>,
    /// The `next` of the answer before.
    #[param(pattern = "^-?[0-9]{1,18}[.][0-9]{1,18}$")]
    cursor: Option<String>,
    /// How many at most; 50 where it is not said.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 500)]
    limit: Option<String>,
}

impl ListQuery {
    fn filter(&self, checks: &mut Checks) -> LetterFilter {
        let filter = FilterInput {
            source: self.source.clone(),
            event_id: self.event_id.clone(),
            kind: self.kind.clone(),
            reason: self.reason.clone(),
            group: self.group.clone(),
            from: self.from.clone(),
            until: self.until.clone(),
            account: self.account.clone(),
            payment: self.payment.clone(),
            copies_of: self.copies_of.clone(),
        };
        filter.filter(checks)
    }
}

/// A page of dead letters, the newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct LetterPageDoc {
    /// The letters.
    letters: Vec<LetterDoc>,
    /// Where the list goes on; null at its end.
    next: Option<String>,
}

impl From<&LetterPage> for LetterPageDoc {
    fn from(page: &LetterPage) -> Self {
        Self {
            letters: page.letters.iter().map(LetterDoc::from).collect(),
            next: page.next.map(|next| next.to_string()),
        }
    }
}

/// The dead letters of a filter, the newest first
#[utoipa::path(get, path = "/api/dead-letters", tag = "dead letters", params(ListQuery),
    responses((status = 200, body = LetterPageDoc), Problems))]
pub async fn list(
    services: Data<OpsServices>,
    query: Query<ListQuery>,
) -> Result<Json<LetterPageDoc>, ApiError> {
    let mut checks = Checks::of_query();
    let filter = query.0.filter(&mut checks);
    let state = checks.parse("state", query.0.state.as_ref(), |name| {
        LetterState::from_name(name).ok_or("is not open, replaying, replayed or discarded")
    });
    let after = cursor(&mut checks, query.0.cursor.as_ref());
    let limit = limit(&mut checks, query.0.limit.as_ref(), PAGE_LETTERS_MAX);
    let store = services.store()?;
    checks.finish()?;
    let page = store.letters.page(&filter, state, after, limit).await?;
    Ok(Json(LetterPageDoc::from(&page)))
}

/// Which letters are counted.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct TotalsQuery {
    /// Where the event came in.
    #[param(pattern = "^[a-z0-9_-]{1,64}$")]
    source: Option<String>,
    /// The provider's name of what happened.
    #[param(min_length = 1, max_length = 255)]
    kind: Option<String>,
    /// Why it is a dead letter.
    #[param(
        pattern = "^(unreadable|untranslatable|conflict|refused|store_refused|attempts_exhausted|never_ready|delivery_limit|unknown)$"
    )]
    reason: Option<String>,
    /// Which letters failed alike: 32 hexadecimal digits.
    #[param(pattern = "^[0-9a-f]{32}$")]
    group: Option<String>,
    /// Given up at this moment or later.
    #[param(format = DateTime)]
    from: Option<String>,
    /// Given up before this moment.
    #[param(format = DateTime)]
    until: Option<String>,
    /// Whose money it is.
    #[param(min_length = 1, max_length = 255)]
    account: Option<String>,
    /// Which payment.
    #[param(min_length = 1, max_length = 255)]
    payment: Option<String>,
}

impl TotalsQuery {
    fn filter(self) -> Result<LetterFilter, ApiError> {
        let mut checks = Checks::of_query();
        let filter = FilterInput {
            source: self.source,
            event_id: None,
            kind: self.kind,
            reason: self.reason,
            group: self.group,
            from: self.from,
            until: self.until,
            account: self.account,
            payment: self.payment,
            copies_of: None,
        };
        let filter = filter.filter(&mut checks);
        checks.finish()?;
        Ok(filter)
    }
}

/// The groups of letters that failed alike, the most numerous first, at most 500.
#[derive(Debug, Serialize, ToSchema)]
pub struct GroupsDoc {
    /// The groups.
    groups: Vec<GroupDoc>,
}

impl From<&[GroupTotals]> for GroupsDoc {
    fn from(groups: &[GroupTotals]) -> Self {
        Self { groups: groups.iter().map(GroupDoc::from).collect() }
    }
}

/// The dead letters of a filter by what they failed of
#[utoipa::path(get, path = "/api/dead-letters/groups", tag = "dead letters", params(TotalsQuery),
    responses((status = 200, body = GroupsDoc), Problems))]
pub async fn groups(
    services: Data<OpsServices>,
    query: Query<TotalsQuery>,
) -> Result<Json<GroupsDoc>, ApiError> {
    let filter = query.0.filter()?;
    let groups = services.store()?.letters.groups(&filter, GROUPS_MAX).await?;
    Ok(Json(GroupsDoc::from(groups.as_slice())))
}

/// How many letters there are.
#[derive(Debug, Serialize, ToSchema)]
pub struct CountsDoc {
    /// By state, each state once.
    states: Vec<StateDoc>,
}

/// How many dead letters of a filter there are, and how much money is in them
#[utoipa::path(get, path = "/api/dead-letters/counts", tag = "dead letters", params(TotalsQuery),
    responses((status = 200, body = CountsDoc), Problems))]
pub async fn counts(
    services: Data<OpsServices>,
    query: Query<TotalsQuery>,
) -> Result<Json<CountsDoc>, ApiError> {
    let filter = query.0.filter()?;
    let counts = services.store()?.letters.counts(&filter).await?;
    Ok(Json(CountsDoc { states: states(&counts) }))
}

/// One dead letter, whole, with its masked payload
#[utoipa::path(get, path = "/api/dead-letters/{id}", tag = "dead letters",
    params(("id" = i64, Path, description = "Its number")),
    responses((status = 200, body = WholeLetterDoc), Problems))]
pub async fn show(services: Data<OpsServices>, id: Path<String>) -> Result<Json<WholeLetterDoc>, ApiError> {
    let id = letter_id(&id)?;
    let letters = &services.store()?.letters;
    let letter = letters.get(id).await?.ok_or_else(|| no_such(&id.to_string()))?;
    let copies = LetterFilter { copies_of: Some(id), ..LetterFilter::default() };
    let copies = letters.page(&copies, None, None, COPIES_MAX).await?.letters;
    Ok(Json(WholeLetterDoc::of(&services.masking, &letter, &copies)))
}

/// The payload of a dead letter as it came, unmasked; needs the scope `operate`, and is written down
#[utoipa::path(get, path = "/api/dead-letters/{id}/payload", tag = "dead letters",
    params(("id" = i64, Path, description = "Its number")),
    responses((status = 200, description = "The bytes", body = Vec<u8>, content_type = "application/octet-stream"),
        Problems))]
pub async fn payload(
    services: Data<OpsServices>,
    principal: Principal,
    id: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let id = letter_id(&id)?;
    let bytes = raw_payload(&services, &principal, id).await?;
    let attachment = ContentDisposition {
        disposition: DispositionType::Attachment,
        parameters: vec![DispositionParam::Filename(file_name(id))],
    };
    Ok(HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, "application/octet-stream"))
        .insert_header(attachment)
        .body(bytes))
}

/// Which letters shall have no effect.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DiscardInput {
    /// Their numbers, at most 1,000.
    #[schema(min_items = 1, max_items = 1000)]
    ids: Vec<i64>,
    /// Why, in words.
    #[schema(max_length = 1024, pattern = r"[^\s\x00-\x1f\x7f-\x9f]", example = "refunded by hand")]
    why: String,
}

/// What was discarded.
#[derive(Debug, Serialize, ToSchema)]
pub struct DiscardedDoc {
    /// The letters. Those that are not among them were not open, or do not exist.
    ids: Vec<i64>,
    /// What they are about, by currency.
    money: Vec<MoneyDoc>,
}

impl From<&Discarded> for DiscardedDoc {
    fn from(discarded: &Discarded) -> Self {
        Self { ids: discarded.ids.iter().map(|id| id.0).collect(), money: totals(&discarded.money) }
    }
}

/// Decide that dead letters shall have no effect; their bytes are kept
#[utoipa::path(post, path = "/api/dead-letters/discard", tag = "dead letters", request_body = DiscardInput,
    responses((status = 200, body = DiscardedDoc), Problems))]
pub async fn discard(
    services: Data<OpsServices>,
    principal: Principal,
    body: Body<DiscardInput>,
) -> Result<Json<DiscardedDoc>, ApiError> {
    let order = services.order(&principal, why(&body.0.why)?);
    let ids = body.0.ids.into_iter().map(DeadLetterId).collect();
    let discarded = services.store()?.discard.run(ids, &order).await?;
    Ok(Json(DiscardedDoc::from(&discarded)))
}

/// The letter of that number, where the text is one.
pub(super) fn letter_id(text: &str) -> Result<DeadLetterId, ApiError> {
    number(text).map(DeadLetterId).ok_or_else(|| no_such(text))
}

fn no_such(id: &str) -> ApiError {
    ApiError::NoSuch(format!("dead letter {id}"))
}
