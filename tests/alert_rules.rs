//! The alert rules in `docker/`: Prometheus understands them, they speak of metrics that there are, and each has
//! been seen to fire and to keep quiet. Needs `promtool`, as `PAYONCE_TEST_PROMTOOL`; `scripts/test.sh` gets it.

#![cfg(test)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const RULES: &str = include_str!("../docker/alerts.yml");
const CASES: &str = include_str!("../docker/alerts.test.yml");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn promtool(arguments: &[&str]) {
    let promtool = std::env::var("PAYONCE_TEST_PROMTOOL")
        .expect("PAYONCE_TEST_PROMTOOL is not set; scripts/test.sh sets it, and docs/testing.md says how");
    let output = Command::new(&promtool)
        .args(arguments)
        .current_dir(root())
        .output()
        .unwrap_or_else(|error| panic!("{promtool} cannot be run: {error}"));
    let told = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&told));
}

/// The names of the rules.
fn rules() -> Vec<&'static str> {
    RULES.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect()
}

#[test]
fn prometheus_understands_the_rules() {
    promtool(&["check", "rules", "docker/alerts.yml"]);
}

#[test]
fn the_rules_make_of_the_cases_what_they_should() {
    promtool(&["test", "rules", "docker/alerts.test.yml"]);
}

#[test]
fn each_rule_has_a_case_in_which_it_fires_and_one_in_which_it_does_not() {
    let checks: Vec<&str> = CASES.split("alertname: ").skip(1).collect();
    assert!(!rules().is_empty());
    for rule in rules() {
        let of_rule: Vec<&&str> = checks.iter().filter(|check| check.lines().next() == Some(rule)).collect();
        let quiet = of_rule.iter().filter(|check| check.contains("exp_alerts: []")).count();
        assert!(quiet > 0 && of_rule.len() > quiet, "{rule}: {quiet} of {} are quiet", of_rule.len());
    }
}

#[test]
fn the_rules_speak_of_metrics_that_there_are() {
    let telemetry = root().join("adapters/src/outbound/telemetry");
    let mut sources = String::new();
    for entry in std::fs::read_dir(telemetry).expect("it is there") {
        let path = entry.expect("a readable entry").path();
        if path.is_file() {
            sources += &std::fs::read_to_string(path).expect("it is text");
        }
    }
    let words = RULES.split(|character: char| !character.is_ascii_alphanumeric() && character != '_');
    let metrics: BTreeSet<&str> = words.filter(|word| word.starts_with("payonce_")).collect();
    assert!(metrics.len() > 5, "{metrics:?}");
    for metric in metrics {
        let name = metric.trim_end_matches("_total").trim_end_matches("_bucket");
        assert!(sources.contains(&format!("\"{name}\"")), "{metric} is not measured");
    }
}
