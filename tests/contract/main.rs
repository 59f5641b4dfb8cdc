//! The behaviours that every implementation of a port must show: written once, stamped per implementation.

mod event_publisher;
mod event_queue;
mod seen_events;
mod store_audit;
mod unit_of_work;
