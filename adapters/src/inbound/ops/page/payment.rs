//! `/payments/{source}/{id}`: what a payment is, and how it came to be so.

use actix_web::HttpResponse;
use actix_web::web::Path;
use application::dead_letter::{LetterFilter, LetterState};
use application::ports::payment_reader::{PaymentView, TimelineEntry, TimelineItem};
use askama::Template;
use domain::fact::SINGLE;
use domain::{Currency, EventKey, LedgerAccount, PaymentId, PaymentKey, SourceName};

use super::dead_letters::LetterRow;
use super::error::PageError;
use super::fields::Fields;
use super::frame::{Frame, Place};
use super::view::badge::words;
use super::view::{Amount, Badge, Moneys, Step, Tone, When, account_path, event_path};
use super::visitor::Visitor;

/// How many lines of a payment's history are shown.
const TIMELINE_SHOWN: u32 = 200;

/// How many of its dead letters are shown.
const LETTERS_SHOWN: u32 = 20;

#[derive(Template)]
#[template(path = "payment.html")]
struct PaymentPage {
    frame: Frame,
    id: String,
    source: String,
    known: Option<Known>,
    timeline: Vec<Step>,
    is_cut: bool,
    letters: Vec<LetterRow>,
    all_letters: String,
}

/// What is known of a payment of which an event was applied.
struct Known {
    state: Badge,
    what: &'static str,
    amount: Moneys,
    account: String,
    account_path: String,
    amounts: Vec<(&'static str, Amount)>,
    books: Vec<(String, Amount)>,
    revision: i64,
    created: When,
    updated: When,
}

/// One payment or payout.
pub async fn payment(visitor: Visitor, path: Path<(String, String)>) -> Result<HttpResponse, PageError> {
    let key = key_of(&path.0, &path.1)?;
    let store = visitor.store()?;
    let filter = LetterFilter::of_payment(key.clone());
    let (view, timeline, letters) = tokio::try_join!(
        store.payments.payment(&key),
        store.payments.timeline(&key, TIMELINE_SHOWN),
        store.letters.page(&filter, Some(LetterState::Open), None, LETTERS_SHOWN),
    )?;
    if view.is_none() && timeline.is_empty() && letters.letters.is_empty() {
        return Err(PageError::NoSuch(format!(
            "payment {} of {} that any event has told of",
            key.payment_id, key.source
        )));
    }
    let all = Fields::default()
        .with("source", key.source.to_string())
        .with("payment", key.payment_id.to_string())
        .with("state", "all");
    Ok(visitor.show(&PaymentPage {
        frame: visitor.frame(format!("Payment {}", key.payment_id), Place::Events),
        known: view.as_ref().map(|view| known(&visitor, view)),
        is_cut: u32::try_from(timeline.len()).is_ok_and(|lines| lines >= TIMELINE_SHOWN),
        timeline: timeline.iter().map(|entry| step(&visitor, &key.source, entry)).collect(),
        letters: letters.letters.iter().map(|letter| LetterRow::new(&visitor, letter)).collect(),
        all_letters: all.link("/dead-letters"),
        id: key.payment_id.to_string(),
        source: key.source.to_string(),
    }))
}

fn key_of(source: &str, id: &str) -> Result<PaymentKey, PageError> {
    let source =
        SourceName::parse(source).map_err(|error| PageError::Invalid(format!("The source {error}.")))?;
    let payment_id =
        PaymentId::parse(id).map_err(|error| PageError::Invalid(format!("The payment id {error}.")))?;
    Ok(PaymentKey { source, payment_id })
}

fn known(visitor: &Visitor, view: &PaymentView) -> Known {
    let payment = &view.payment;
    let account = payment.account().to_string();
    let amounts = payment.currency.map(|currency| amounts(view, currency));
    let books = payment.currency.zip(payment.position()).map(|(currency, position)| {
        let held = LedgerAccount::ALL.into_iter().filter(|ledger| position.at(*ledger) != 0);
        held.map(|ledger| (words(ledger.as_str()), Amount::new(position.at(ledger).into(), currency)))
            .collect()
    });
    Known {
        state: payment.state().into(),
        what: if payment.is_payout() { "Payout" } else { "Payment" },
        amount: payment.amount().into(),
        account_path: account_path(&account),
        account,
        amounts: amounts.unwrap_or_default(),
        books: books.unwrap_or_default(),
        revision: payment.revision,
        created: visitor.when(view.created_at),
        updated: visitor.when(view.updated_at),
    }
}

fn amounts(view: &PaymentView, currency: Currency) -> Vec<(&'static str, Amount)> {
    let payment = &view.payment;
    let totals = &payment.totals;
    let named = [
        (if payment.is_payout() { "Paid out" } else { "Authorised" }, totals.authorised),
        ("Captured", totals.captured),
        ("Refunded", payment.refunded()),
        ("Disputed", payment.disputed()),
        ("Fees", totals.charged),
    ];
    let moved = named.into_iter().filter(|(_, minor_units)| *minor_units != 0);
    moved.map(|(name, minor_units)| (name, Amount::new(minor_units.into(), currency))).collect()
}

fn step(visitor: &Visitor, source: &SourceName, entry: &TimelineEntry) -> Step {
    let key = EventKey { source: source.clone(), event_id: entry.event_id.clone() };
    let kind = entry.kind.as_ref().map_or_else(String::new, ToString::to_string);
    let step = match &entry.item {
        TimelineItem::Fact(fact) => {
            let amount: Moneys = fact.amount.into();
            let name = fact.key.as_str();
            let (what, which) = name.split_once(':').unwrap_or((name, ""));
            let which = if which == SINGLE { "" } else { which };
            let said = [which, &if amount.is_empty() { String::new() } else { amount.words() }]
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join(" · ");
            Step::new(Tone::Done, words(what)).saying(said)
        }
        TimelineItem::Recorded(reason) => Step::new(Tone::Pending, "Recorded, no effect")
            .saying(format!("{kind} {}", words(reason)).trim().to_owned()),
    };
    step.at(visitor.when(entry.at)).leading_to(event_path(&key), format!("Event {}", entry.event_id))
}
