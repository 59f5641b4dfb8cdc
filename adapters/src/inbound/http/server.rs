//! The server and its routes.

use std::io;
use std::net::TcpListener;
use std::time::Duration;

use actix_web::dev::Server;
use actix_web::web::{self, Data, Payload};
use actix_web::{App, HttpResponse, HttpServer};
use application::use_cases::accept_event::AcceptEvent;
use tokio_util::sync::CancellationToken;

use super::health::health;
use super::webhook::{WebhookState, webhook};
use super::{HttpSettings, refusal};

/// How long the rest of a refused body is read away before the connection is closed. Without it, a sender
/// that is still writing sees a reset in place of the answer.
const LINGER: Duration = Duration::from_secs(2);

/// Serves the public listener until `stop`: then new connections are refused, requests in flight finish
/// within their grace, and the future resolves. Wants a tokio runtime, of any flavour.
///
/// # Errors
/// The listener cannot be used, or its accept loop died.
pub async fn serve(
    listener: TcpListener,
    accept: AcceptEvent,
    settings: HttpSettings,
    stop: CancellationToken,
) -> io::Result<()> {
    start(listener, accept, settings, stop)?.await
}

fn start(
    listener: TcpListener,
    accept: AcceptEvent,
    settings: HttpSettings,
    stop: CancellationToken,
) -> io::Result<Server> {
    tracing::info!(
        address = %listener.local_addr()?,
        body_bytes_max = settings.body_bytes_max,
        "listening for webhooks"
    );
    let state = Data::new(WebhookState { accept, settings });
    let settings = &state.clone().settings;
    let app = move || {
        App::new()
            .app_data(state.clone())
            .service(web::resource("/webhooks/{source}").to(webhook))
            .service(
                web::resource("/health")
                    .route(web::get().to(health))
                    .route(web::head().to(health))
                    .default_service(web::to(health_method_not_allowed)),
            )
            .default_service(web::to(not_found))
    };
    let server = HttpServer::new(app)
        .workers(settings.workers.max(1))
        .max_connections(settings.connections_max_per_worker())
        .keep_alive(settings.keep_alive)
        .client_request_timeout(settings.header_timeout)
        .client_disconnect_timeout(LINGER)
        .disable_signals()
        .shutdown_signal(stop.cancelled_owned())
        .shutdown_timeout(settings.shutdown_grace_secs())
        .listen(listener)?
        .run();
    Ok(server)
}

#[expect(clippy::future_not_send, reason = "a request stays on the thread that read it")]
async fn not_found(payload: Payload) -> HttpResponse {
    refusal::not_found(payload)
}

#[expect(clippy::future_not_send, reason = "a request stays on the thread that read it")]
async fn health_method_not_allowed(payload: Payload) -> HttpResponse {
    refusal::method_not_allowed("GET, HEAD", payload)
}
