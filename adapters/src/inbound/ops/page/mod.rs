//! The operators' page: for somebody who is woken by an alert, and for whoever sits at a desk.
//!
//! Written rules:
//! - Every page is whole HTML, made here, and works without a script. The script refreshes what is marked
//!   `data-live`, and asks before what cannot be undone.
//! - A change is a form that is posted; its answer leads to a page that says what became of it.
//! - No style and no script stands in the HTML, since the policy of every answer forbids it. Pictures are SVG.
//! - Whatever comes from outside is escaped by the templates. Only types of [`view`] are HTML by themselves.
//! - The page is one more way to the same use cases and ports as the API.

mod account;
mod actions;
mod answer;
mod assets;
mod dead_letters;
mod edit;
mod error;
mod event;
mod events;
mod failures;
mod fields;
mod flash;
mod frame;
mod letter;
mod letter_query;
mod log_in;
mod new_replay;
mod order;
mod overview;
mod payment;
mod quarantine;
mod replay;
mod replays;
mod sampler;
mod state;
mod view;
mod visitor;

pub use error::refuse;
pub use state::Page;

use actix_web::web::{self, ServiceConfig};

/// The paths of the page. Wants `Data` of [`Page`], of the services and of the access.
pub fn routes(config: &mut ServiceConfig) {
    config
        .route("/assets/{name}", web::get().to(assets::asset))
        .route("/", web::get().to(overview::overview))
        .route("/login", web::get().to(log_in::form))
        .route("/login", web::post().to(log_in::log_in))
        .route("/logout", web::post().to(log_in::log_out))
        .route("/failures", web::get().to(failures::failures))
        .route("/dead-letters", web::get().to(dead_letters::dead_letters))
        .route("/dead-letters/discard", web::get().to(dead_letters::discard_form))
        .route("/dead-letters/discard", web::post().to(dead_letters::discard))
        .route("/dead-letters/{id}", web::get().to(letter::letter))
        .route("/dead-letters/{id}/payload", web::get().to(letter::payload))
        .route("/dead-letters/{id}/edit", web::get().to(edit::form))
        .route("/dead-letters/{id}/edit", web::post().to(edit::edit))
        .route("/replays", web::get().to(replays::replays))
        .route("/replays", web::post().to(new_replay::create))
        .route("/replays/new", web::get().to(new_replay::preview))
        .route("/replays/{id}", web::get().to(replay::replay))
        .route("/replays/{id}/{command}", web::post().to(replay::command))
        .route("/events", web::get().to(events::events))
        .route("/events/{source}/{id}", web::get().to(event::event))
        .route("/payments/{source}/{id}", web::get().to(payment::payment))
        .route("/accounts/{account}", web::get().to(account::account))
        .route("/quarantine", web::get().to(quarantine::list))
        .route("/quarantine/{id}", web::get().to(quarantine::show))
        .route("/quarantine/{id}/admit", web::post().to(quarantine::admit))
        .route("/quarantine/{id}/discard", web::post().to(quarantine::discard))
        .route("/actions", web::get().to(actions::actions))
        .default_service(web::to(error::not_found));
}
