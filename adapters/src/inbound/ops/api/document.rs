//! The OpenAPI document.

use std::collections::BTreeMap;

use actix_web::HttpResponse;
use actix_web::http::header;
use serde::Serialize;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{ContentBuilder, OpenApi as Document, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{IntoResponses, Modify, OpenApi, ToSchema};

use super::{accounts, dead_letters, events, operator_actions, overview, payments, quarantine, replays};
use crate::inbound::problem::MEDIA_TYPE;

/// One thing that is wrong with a request.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProblemItemDoc {
    /// Where: a JSON pointer into the body, or `?` and the key of the query.
    pointer: String,
    /// What is wrong, from a closed set.
    code: String,
    /// What is wrong, in words.
    message: String,
}

/// A refusal, by RFC 9457.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProblemDoc {
    /// What a program compares; it never changes.
    #[schema(example = "urn:payonce:problem:not-found")]
    r#type: String,
    /// What it means, in a few words.
    title: String,
    /// The status.
    status: u16,
    /// What happened, and what can be done.
    detail: String,
    /// Everything that is wrong with the request.
    errors: Vec<ProblemItemDoc>,
}

/// The refusals that every path can answer.
pub struct Problems;

const PROBLEMS: [(&str, &str); 12] = [
    ("400", "The query or the body cannot be answered; `errors` has pointers"),
    ("401", "No token, or a wrong one"),
    ("403", "Not with this token, or not from there"),
    ("404", "Not there, or in another process (`not-in-this-process`)"),
    ("405", "The path takes other methods"),
    ("408", "The body took too long"),
    ("409", "It cannot be done to what is there"),
    ("413", "The body is too long"),
    ("415", "The body is not JSON, or compressed"),
    ("429", "Too many wrong tokens"),
    ("500", "The store refused it"),
    ("503", "The store, the broker or the quarantine is away or slow; try again after `Retry-After`"),
];

impl IntoResponses for Problems {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let response = |description: &str| {
            let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("ProblemDoc"))).build();
            ResponseBuilder::new().description(description).content(MEDIA_TYPE, content).build()
        };
        let response =
            |(status, description): (&str, &str)| (status.to_owned(), RefOr::T(response(description)));
        PROBLEMS.into_iter().map(response).collect()
    }
}

/// The document of the operators' API.
#[derive(Debug, OpenApi)]
#[openapi(
    info(
        title = "payonce: operators' API",
        description = "What operators see and do: dead letters, replays, events, payments, rejected requests.",
        license(name = "Apache-2.0 OR MIT")
    ),
    paths(
        overview::overview, openapi,
        dead_letters::list, dead_letters::groups, dead_letters::counts, dead_letters::discard,
        dead_letters::show, dead_letters::payload,
        replays::create_edited, replays::list, replays::create, replays::preview, replays::show,
        replays::pause, replays::resume, replays::cancel,
        events::find, events::show, payments::show, accounts::balance,
        quarantine::list, quarantine::show, quarantine::admit, quarantine::discard,
        operator_actions::list,
    ),
    components(schemas(ProblemDoc, ProblemItemDoc)),
    modifiers(&Bearer, &UniqueIds, &Descriptions),
    security(("token" = []), ()),
)]
pub struct OpenApiDocument;

/// The token.
struct Bearer;

impl Modify for Bearer {
    fn modify(&self, document: &mut Document) {
        let scheme = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some(
                "A line of ops.tokens_file lets a token in. On a loopback address without tokens none is needed.",
            ))
            .build();
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(scheme));
    }
}

/// Names each operation after its method and path: handlers of several resources have one name.
struct UniqueIds;

impl Modify for UniqueIds {
    fn modify(&self, document: &mut Document) {
        for (path, item) in &mut document.paths.paths {
            let name = |method: &str, operation: &mut Option<Operation>| {
                if let Some(operation) = operation {
                    let path = path.trim_start_matches("/api/").replace(['{', '}'], "");
                    operation.operation_id = Some(format!("{method}_{}", path.replace(['/', '-', '.'], "_")));
                }
            };
            name("get", &mut item.get);
            name("post", &mut item.post);
        }
    }
}

/// Says of each answer what it is, which OpenAPI wants and the handlers leave to their first line.
struct Descriptions;

impl Modify for Descriptions {
    fn modify(&self, document: &mut Document) {
        let items = document.paths.paths.values_mut();
        for operation in items.flat_map(|item| [item.get.as_mut(), item.post.as_mut()]).flatten() {
            let summary = operation.summary.clone().unwrap_or_default();
            for response in operation.responses.responses.values_mut() {
                if let RefOr::T(response) = response
                    && response.description.is_empty()
                {
                    response.description.clone_from(&summary);
                }
            }
        }
    }
}

/// This document
#[utoipa::path(get, path = "/api/openapi.json", tag = "overview",
    responses((status = 200, description = "OpenAPI 3.1", body = serde_json::Value), Problems))]
pub async fn openapi() -> HttpResponse {
    match OpenApiDocument::openapi().to_json() {
        Ok(text) => HttpResponse::Ok().insert_header((header::CONTENT_TYPE, "application/json")).body(text),
        Err(error) => {
            tracing::error!(%error, "the OpenAPI document cannot be made");
            HttpResponse::InternalServerError().finish()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;
    use crate::inbound::ops::api::ROUTES;

    fn document() -> Value {
        serde_json::to_value(OpenApiDocument::openapi()).unwrap()
    }

    #[test]
    fn every_route_is_described_and_nothing_else() {
        let document = document();
        let paths = document["paths"].as_object().unwrap();
        let described: BTreeSet<String> = paths
            .iter()
            .flat_map(|(path, item)| {
                item.as_object().unwrap().keys().map(move |method| format!("{method} {path}"))
            })
            .collect();
        let served = ROUTES.iter().map(|(method, path)| format!("{method} /api{path}")).collect();
        assert_eq!(described, served);
    }

    #[test]
    fn every_reference_leads_somewhere() {
        fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
            match value {
                Value::Object(members) => {
                    found.extend(members.get("$ref").and_then(Value::as_str));
                    members.values().for_each(|value| references(value, found));
                }
                Value::Array(elements) => elements.iter().for_each(|value| references(value, found)),
                _ => {}
            }
        }
        let document = document();
        let mut found = Vec::new();
        references(&document, &mut found);
        assert!(found.len() > 50, "{}", found.len());
        for reference in found {
            let pointer = reference.strip_prefix('#').unwrap_or_else(|| panic!("{reference}"));
            assert!(document.pointer(pointer).is_some(), "{reference}");
        }
    }

    #[test]
    fn every_answer_is_described() {
        let document = document();
        let items = document["paths"].as_object().unwrap().values();
        let operations = items.flat_map(|item| item.as_object().unwrap().values());
        for response in operations.flat_map(|operation| operation["responses"].as_object().unwrap().values())
        {
            assert!(response["description"].as_str().is_some_and(|text| !text.is_empty()), "{response}");
        }
    }

    #[test]
    fn no_two_operations_have_one_name() {
        let document = document();
        let items = document["paths"].as_object().unwrap().values();
        let names: Vec<&str> = items
            .flat_map(|item| item.as_object().unwrap().values())
            .map(|operation| operation["operationId"].as_str().unwrap())
            .collect();
        let different: BTreeSet<_> = names.iter().collect();
        assert_eq!(different.len(), names.len(), "{names:?}");
    }

    #[test]
    fn no_two_schemas_have_one_name() {
        // utoipa takes the last of them: `ListQuery` is of several files, and is none of them.
        let document = document();
        let schemas = document["components"]["schemas"].as_object().unwrap();
        assert!(schemas.contains_key("LetterDoc") && schemas.contains_key("ProblemDoc"));
        assert!(!schemas.contains_key("ListQuery"), "parameters are told where they are taken");
    }
}
