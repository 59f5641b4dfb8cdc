//! The server and its routes.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;

use actix_web::dev::Server;
use actix_web::http::{StatusCode, header};
use actix_web::web::{self, Data};
use actix_web::{App, HttpResponse, HttpServer};
use application::ports::readiness::ReadinessCheck;
use tokio_util::sync::CancellationToken;

use super::readiness::Report;

/// Gathers the metrics as Prometheus text, or says why it cannot.
pub type Metrics = Arc<dyn Fn() -> Result<String, String> + Send + Sync>;

/// How many connections the listener takes: scrapers and probes, and a person or two.
const CONNECTIONS_MAX: usize = 256;

/// How long a request in flight may take to finish once the server stops.
const SHUTDOWN_GRACE_SECS: u64 = 2;

struct OpsState {
    checks: Vec<Arc<dyn ReadinessCheck>>,
    metrics: Metrics,
    draining: CancellationToken,
}

/// Serves the ops listener until `stop`. Once `draining` is cancelled the process says that it is not ready,
/// so that it gets no new work while it still finishes what it has.
///
/// # Errors
/// The listener cannot be used, or its accept loop died.
pub async fn serve(
    listener: TcpListener,
    checks: Vec<Arc<dyn ReadinessCheck>>,
    metrics: Metrics,
    draining: CancellationToken,
    stop: CancellationToken,
) -> io::Result<()> {
    let state = OpsState { checks, metrics, draining };
    start(listener, state, stop)?.await
}

fn start(listener: TcpListener, state: OpsState, stop: CancellationToken) -> io::Result<Server> {
    tracing::info!(address = %listener.local_addr()?, "listening for operations");
    let state = Data::new(state);
    let app = move || {
        App::new()
            .app_data(state.clone())
            .route("/metrics", web::get().to(metrics))
            .route("/health/live", web::get().to(live))
            .route("/health/live", web::head().to(live))
            .route("/health/ready", web::get().to(ready))
            .route("/health/ready", web::head().to(ready))
    };
    let server = HttpServer::new(app)
        .workers(1)
        .max_connections(CONNECTIONS_MAX)
        .disable_signals()
        .shutdown_signal(stop.cancelled_owned())
        .shutdown_timeout(SHUTDOWN_GRACE_SECS)
        .listen(listener)?
        .run();
    Ok(server)
}

async fn metrics(state: Data<OpsState>) -> HttpResponse {
    match (state.metrics)() {
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

async fn ready(state: Data<OpsState>) -> HttpResponse {
    let report = Report::of(&state.checks, state.draining.is_cancelled()).await;
    let status = if report.is_ready() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    // Strings only: this cannot fail.
    json(status, serde_json::to_vec(&report).unwrap_or_default())
}

fn json(status: StatusCode, document: Vec<u8>) -> HttpResponse {
    HttpResponse::build(status).insert_header((header::CONTENT_TYPE, "application/json")).body(document)
}
