//! The server and its routes.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Server;
use actix_web::http::{StatusCode, header};
use actix_web::middleware::from_fn;
use actix_web::web::{self, Data};
use actix_web::{App, HttpResponse, HttpServer};
use tokio_util::sync::CancellationToken;

use super::access::{Access, Deadlines, Refuse, guard_api, guard_page, harden};
use super::api;
use super::page::{self, Page};
use super::readiness::Report;
use super::services::OpsServices;

/// Gathers the metrics as Prometheus text, or says why it cannot.
pub type Metrics = Arc<dyn Fn() -> Result<String, String> + Send + Sync>;

/// How many connections the listener takes: scrapers and probes, and a person or two.
const CONNECTIONS_MAX: usize = 256;

/// How long the request line and headers may take.
const HEADER_TIMEOUT: Duration = Duration::from_secs(5);

/// How long an idle connection stays open.
const KEEP_ALIVE: Duration = Duration::from_secs(75);

/// How long the rest of a refused body is read away before the connection is closed.
const LINGER: Duration = Duration::from_secs(2);

/// How long a request in flight may take to finish once the server stops.
const SHUTDOWN_GRACE_SECS: u64 = 2;

/// What the listener serves, and to whom.
pub struct OpsListener {
    /// What is shown and done.
    pub services: Arc<OpsServices>,
    /// Who may.
    pub access: Arc<Access>,
    /// Once this is cancelled the process says that it is not ready, so that it gets no new work while it still
    /// finishes what it has.
    pub draining: CancellationToken,
    /// How long answers may take.
    pub deadlines: Deadlines,
}

/// Serves the ops listener until `stop`.
///
/// # Errors
/// The listener cannot be used, or its accept loop died.
pub async fn serve(listener: TcpListener, serving: OpsListener, stop: CancellationToken) -> io::Result<()> {
    start(listener, serving, stop)?.await
}

fn start(listener: TcpListener, serving: OpsListener, stop: CancellationToken) -> io::Result<Server> {
    tracing::info!(address = %listener.local_addr()?, "listening for operations");
    let draining = Data::new(serving.draining);
    let deadlines = Data::new(serving.deadlines);
    let page = Data::new(Page::start(&serving.services));
    let services = Data::from(serving.services);
    let access = Data::from(serving.access);
    let look: Data<Refuse> = Data::new(page::refuse);
    let app = move || {
        App::new()
            .app_data(services.clone())
            .app_data(access.clone())
            .app_data(draining.clone())
            .app_data(deadlines.clone())
            .app_data(page.clone())
            .app_data(look.clone())
            .route("/metrics", web::get().to(metrics))
            .route("/health/live", web::get().to(live))
            .route("/health/live", web::head().to(live))
            .route("/health/ready", web::get().to(ready))
            .route("/health/ready", web::head().to(ready))
            .service(
                web::scope("/api").wrap(from_fn(guard_api)).wrap(from_fn(harden)).configure(api::configure),
            )
            .service(web::scope("").wrap(from_fn(guard_page)).wrap(from_fn(harden)).configure(page::routes))
    };
    let server = HttpServer::new(app)
        .workers(1)
        .max_connections(CONNECTIONS_MAX)
        .keep_alive(KEEP_ALIVE)
        .client_request_timeout(HEADER_TIMEOUT)
        .client_disconnect_timeout(LINGER)
        .disable_signals()
        .shutdown_signal(stop.cancelled_owned())
        .shutdown_timeout(SHUTDOWN_GRACE_SECS)
        .listen(listener)?
        .run();
    Ok(server)
}

async fn metrics(services: Data<OpsServices>) -> HttpResponse {
    match (services.metrics)() {
        Ok(text) => HttpResponse::Ok()
            .insert_header((header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8"))
            .body(text),
        Err(reason) => {
            tracing::warn!(reason, "the metrics cannot be gathered");
            HttpResponse::InternalServerError().finish()
        }
    }
}

async fn live() -> HttpResponse {
    json(StatusCode::OK, br#"{"status":"live"}"#.to_vec())
}

async fn ready(services: Data<OpsServices>, draining: Data<CancellationToken>) -> HttpResponse {
    let report = Report::of(&services.checks, draining.is_cancelled()).await;
    let status = if report.is_ready() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    // Strings only: this cannot fail.
    json(status, serde_json::to_vec(&report).unwrap_or_default())
}

fn json(status: StatusCode, document: Vec<u8>) -> HttpResponse {
    HttpResponse::build(status).insert_header((header::CONTENT_TYPE, "application/json")).body(document)
}
