//! The behaviours that every implementation of a port must show: written once, stamped per implementation.

mod dead_letter_queue;
mod dead_letters;
mod destination;
mod event_publisher;
mod event_queue;
mod event_reader;
mod event_retention;
mod order;
mod outbox;
mod payment_reader;
mod quarantine;
mod seen_events;
mod store_audit;
mod unit_of_work;
