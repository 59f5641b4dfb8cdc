//! `GET /health`: the listener answers.

use actix_web::HttpResponse;
use actix_web::http::header;

/// 200 as long as requests are served at all. What the process depends on is told on the ops listener.
pub async fn health() -> HttpResponse {
    HttpResponse::Ok().insert_header((header::CONTENT_TYPE, "application/json")).body(r#"{"status":"ok"}"#)
}
