//! Who may depend on whom.

use std::collections::BTreeSet;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};

fn metadata() -> Metadata {
    MetadataCommand::new().no_deps().exec().expect("cargo metadata runs in the workspace")
}

fn dependencies(metadata: &Metadata, package: &str, kind: DependencyKind) -> BTreeSet<String> {
    let package = metadata
        .packages
        .iter()
        .find(|candidate| candidate.name.as_str() == package)
        .unwrap_or_else(|| panic!("the workspace has no package {package}"));
    package
        .dependencies
        .iter()
        .filter(|dependency| dependency.kind == kind)
        .map(|dependency| dependency.name.clone())
        .collect()
}

fn of_the_workspace(names: BTreeSet<String>) -> BTreeSet<String> {
    let members = ["domain", "application", "adapters", "payonce", "system-tests"];
    names.into_iter().filter(|name| members.contains(&name.as_str())).collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn dependencies_point_inwards() {
    let metadata = metadata();
    for (package, allowed) in [
        ("domain", set(&[])),
        ("application", set(&["domain"])),
        ("adapters", set(&["domain", "application"])),
        ("payonce", set(&["domain", "application", "adapters"])),
    ] {
        let found = of_the_workspace(dependencies(&metadata, package, DependencyKind::Normal));
        assert_eq!(found, allowed, "{package}");
    }
}

#[test]
fn the_domain_knows_values_only() {
    let found = dependencies(&metadata(), "domain", DependencyKind::Normal);
    assert_eq!(found, set(&["iso_currency", "sha2", "thiserror"]));
}

#[test]
fn the_application_knows_no_technology() {
    let found = dependencies(&metadata(), "application", DependencyKind::Normal);
    let allowed = set(&[
        "async-trait",
        "backon",
        "bytes",
        "domain",
        "jiff",
        "mockall",
        "serde",
        "serde_json",
        "thiserror",
        "tokio",
        "tokio-util",
        "tracing",
    ]);
    let strangers: BTreeSet<_> = found.difference(&allowed).collect();
    assert!(strangers.is_empty(), "application depends on {strangers:?}");
}

#[test]
fn the_applications_runtime_can_do_no_io() {
    let metadata = metadata();
    let application =
        metadata.packages.iter().find(|package| package.name.as_str() == "application").expect("application");
    let tokio = application
        .dependencies
        .iter()
        .find(|dependency| dependency.name == "tokio" && dependency.kind == DependencyKind::Normal)
        .expect("application uses tokio for time and select");
    for feature in &tokio.features {
        assert!(["macros", "time", "sync"].contains(&feature.as_str()), "tokio feature {feature}");
    }
}

#[test]
fn technologies_are_named_by_the_adapters_alone() {
    let metadata = metadata();
    let technologies =
        ["actix-web", "lapin", "deadpool-redis", "diesel", "diesel-async", "diesel_migrations"];
    for package in ["domain", "application", "payonce"] {
        let found = dependencies(&metadata, package, DependencyKind::Normal);
        for technology in technologies {
            assert!(!found.contains(technology), "{package} depends on {technology}");
        }
    }
}
