//! `/events`: any event, by its id, its payment, its source, or its time.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use application::ports::event_reader::{EventCursor, EventFilter, EventPage, EventSummary};
use askama::Template;
use domain::{EventId, PaymentId, SourceName};

use super::dead_letters::Choice;
use super::error::PageError;
use super::fields::Fields;
use super::frame::{Frame, Place};
use super::letter_query::moment;
use super::view::badge::words;
use super::view::{Badge, When, event_path, payment_path};
use super::visitor::Visitor;

/// How many events a page of the list has.
const EVENTS_SHOWN: u32 = 50;

/// How many events of one id are shown: one for each source that has it.
const SAME_ID_SHOWN: u32 = 50;

#[derive(Template)]
#[template(path = "events.html")]
struct EventsPage {
    frame: Frame,
    asked: String,
    from: String,
    until: String,
    sources: Vec<Choice>,
    problems: Vec<String>,
    is_search: bool,
    events: Vec<EventRow>,
    next: Option<String>,
    is_first: bool,
    first: String,
}

/// An event, as a line.
struct EventRow {
    id: String,
    path: String,
    source: String,
    payment: Option<(String, String)>,
    outcome: Badge,
    why: String,
    at: When,
}

/// What is searched for. One field takes an event's id or a payment's: who is in a hurry has one of them.
struct Search {
    filter: EventFilter,
    event_id: Option<EventId>,
    payment: Option<PaymentId>,
    problems: Vec<String>,
}

impl Search {
    fn of(fields: &Fields) -> Self {
        let mut problems = Vec::new();
        let asked = fields.get("q");
        let (mut event_id, mut payment) = (None, None);
        if !asked.is_empty() {
            match EventId::parse(asked) {
                Ok(id) => event_id = Some(id),
                Err(error) => problems.push(format!("What you search for {error}.")),
            }
            payment = PaymentId::parse(asked).ok();
        }
        let source = match fields.get("source") {
            "" => None,
            name => {
                SourceName::parse(name).map_err(|error| problems.push(format!("The source {error}."))).ok()
            }
        };
        let from = moment(fields, "from", &mut problems);
        let until = moment(fields, "until", &mut problems);
        Self {
            filter: EventFilter { source, from, until, ..EventFilter::default() },
            event_id,
            payment,
            problems,
        }
    }

    /// The events of the id first, and then those of the payment.
    async fn run(&self, visitor: &Visitor, after: Option<EventCursor>) -> Result<EventPage, PageError> {
        let events = &visitor.store()?.events;
        let of_payment = EventFilter { payment: self.payment.clone(), ..self.filter.clone() };
        let Some(event_id) = self.event_id.clone().filter(|_| after.is_none()) else {
            return Ok(events.find(&of_payment, after, EVENTS_SHOWN).await?);
        };
        let of_id = EventFilter { event_id: Some(event_id), ..self.filter.clone() };
        let (mut found, page) = tokio::try_join!(
            events.find(&of_id, None, SAME_ID_SHOWN),
            events.find(&of_payment, None, EVENTS_SHOWN),
        )?;
        for event in page.events {
            if found.events.iter().all(|known| known.key != event.key) {
                found.events.push(event);
            }
        }
        Ok(EventPage { events: found.events, next: page.next })
    }
}

/// The list, or what was searched for.
pub async fn events(visitor: Visitor, fields: Fields) -> Result<HttpResponse, PageError> {
    let after = match fields.get("cursor") {
        "" => None,
        text => Some(
            text.parse::<EventCursor>()
                .map_err(|error| PageError::Invalid(format!("The cursor {error}.")))?,
        ),
    };
    let is_first = after.is_none();
    let search = Search::of(&fields);
    let (found, status) = if search.problems.is_empty() {
        (search.run(&visitor, after).await?, StatusCode::OK)
    } else {
        (EventPage { events: Vec::new(), next: None }, StatusCode::UNPROCESSABLE_ENTITY)
    };
    let asked = fields.only(&["q", "source", "from", "until"]);
    let chosen = fields.get("source");
    let sources = visitor.services.sources.iter();
    let page = EventsPage {
        frame: visitor.frame("Events", Place::Events),
        asked: fields.get("q").to_owned(),
        from: fields.get("from").to_owned(),
        until: fields.get("until").to_owned(),
        sources: sources.map(|name| Choice::new(name.as_str(), name.as_str(), chosen)).collect(),
        is_search: asked.iter().next().is_some(),
        problems: search.problems,
        events: found.events.iter().map(|event| row(&visitor, event)).collect(),
        next: found.next.map(|next| asked.clone().with("cursor", next.to_string()).link("/events")),
        is_first,
        first: asked.link("/events"),
    };
    Ok(visitor.show_as(status, &page))
}

fn row(visitor: &Visitor, event: &EventSummary) -> EventRow {
    let payment = event.payment.as_ref();
    EventRow {
        id: event.key.event_id.to_string(),
        path: event_path(&event.key),
        source: event.key.source.to_string(),
        payment: payment.map(|id| (id.to_string(), payment_path(&event.key.source, id.as_str()))),
        outcome: (&event.outcome).into(),
        why: why(event),
        at: visitor.when(event.at),
    }
}

/// What kind of event it is, and why it is not applied, where that is known.
fn why(event: &EventSummary) -> String {
    use application::ports::event_reader::EventOutcome::{Applied, GivenUp, Recorded};
    match &event.outcome {
        Applied => String::new(),
        Recorded { kind, reason } => format!("{kind}: {}", words(reason)),
        GivenUp { kind: Some(kind), reason, .. } => format!("{kind}: {}", words(reason.as_str())),
        GivenUp { kind: None, reason, .. } => words(reason.as_str()),
    }
}
