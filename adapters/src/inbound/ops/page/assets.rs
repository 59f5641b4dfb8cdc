//! The style sheet, the script and the icon, as they were compiled in.

use actix_web::http::header::{self, EntityTag, IfNoneMatch};
use actix_web::web::{Header, Path};
use actix_web::{HttpResponse, http::header::ETag};
use domain::Digest;

/// How long a browser may use one without asking. Their URLs change with the release.
const CACHE: &str = "public, max-age=86400";

/// One of them.
struct Asset {
    name: &'static str,
    media_type: &'static str,
    content: &'static str,
}

const ASSETS: [Asset; 3] = [
    Asset {
        name: "page.css",
        media_type: "text/css; charset=utf-8",
        content: include_str!("../../../../assets/page.css"),
    },
    Asset {
        name: "page.js",
        media_type: "text/javascript; charset=utf-8",
        content: include_str!("../../../../assets/page.js"),
    },
    Asset {
        name: "icon.svg",
        media_type: "image/svg+xml",
        content: include_str!("../../../../assets/icon.svg"),
    },
];

/// What tells this release's assets from any other's, for their URLs.
pub fn version() -> &'static str {
    static VERSION: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    VERSION.get_or_init(|| tag(ASSETS.iter().map(|asset| asset.content)))
}

/// `GET /assets/{name}`: to anybody, since they tell nothing.
pub async fn asset(name: Path<String>, known: Option<Header<IfNoneMatch>>) -> HttpResponse {
    let Some(asset) = ASSETS.iter().find(|asset| asset.name == name.as_str()) else {
        return HttpResponse::NotFound().finish();
    };
    let tag = EntityTag::new_strong(tag([asset.content].into_iter()));
    let mut response = HttpResponse::Ok();
    response.insert_header(ETag(tag.clone())).insert_header((header::CACHE_CONTROL, CACHE));
    let is_known = known.is_some_and(|Header(known)| match known {
        IfNoneMatch::Any => true,
        IfNoneMatch::Items(tags) => tags.iter().any(|known| known.weak_eq(&tag)),
    });
    if is_known {
        return response.status(actix_web::http::StatusCode::NOT_MODIFIED).finish();
    }
    response.insert_header((header::CONTENT_TYPE, asset.media_type)).body(asset.content)
}

/// Enough of a digest that no two contents share it.
fn tag(contents: impl Iterator<Item = &'static str>) -> String {
    let digest = Digest::of(contents.map(str::as_bytes));
    digest.as_bytes().iter().take(8).map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}
