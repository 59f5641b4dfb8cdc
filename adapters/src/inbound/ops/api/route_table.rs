//! The table of routes: what is served and what is described come from one place.

/// Makes `ROUTES`, and `add_routes`, which serves them.
macro_rules! routes {
    ($($method:ident $path:literal => $($handler:ident)::+),+ $(,)?) => {
        /// The method and path of every route, below `/api`.
        pub const ROUTES: &[(&str, &str)] = &[$((stringify!($method), $path)),+];

        fn add_routes(config: &mut actix_web::web::ServiceConfig) {
            $(config.route($path, actix_web::web::$method().to($($handler)::+));)+
        }
    };
}

pub(super) use routes;

/// The methods of the routes that `path` matches, in capitals.
pub(super) fn allowed_methods(routes: &[(&str, &str)], path: &str) -> Vec<String> {
    // A path that is written out in a route is that route's, though it may look like another's number.
    let is_written_out = routes.iter().any(|(_, pattern)| *pattern == path);
    let mut methods: Vec<String> = routes
        .iter()
        .filter(|(_, pattern)| if is_written_out { *pattern == path } else { matches(pattern, path) })
        .map(|(method, _)| method.to_ascii_uppercase())
        .collect();
    methods.sort_unstable();
    methods.dedup();
    methods
}

fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, path) = (pattern.split('/'), path.split('/'));
    pattern.clone().count() == path.clone().count()
        && pattern
            .zip(path)
            .all(|(wanted, segment)| wanted == segment || (wanted.starts_with('{') && !segment.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUTES: &[(&str, &str)] =
        &[("post", "/a/all"), ("get", "/a"), ("post", "/a"), ("get", "/a/{id}"), ("post", "/a/{id}/b")];

    #[test]
    fn a_path_has_the_methods_of_its_routes() {
        assert_eq!(allowed_methods(ROUTES, "/a"), ["GET", "POST"]);
        assert_eq!(allowed_methods(ROUTES, "/a/7"), ["GET"]);
        assert_eq!(allowed_methods(ROUTES, "/a/7/b"), ["POST"]);
        assert_eq!(allowed_methods(ROUTES, "/a/all"), ["POST"]);
        for nothing in ["", "/", "/b", "/a/", "/a/7/c", "/a/7/b/"] {
            assert!(allowed_methods(ROUTES, nothing).is_empty(), "{nothing}");
        }
    }
}
