//! Asks every part whether it is ready, at once and with a bound.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use application::ports::readiness::ReadinessCheck;
use futures::future::join_all;
use serde::Serialize;

/// How long a part may take to answer.
pub const CHECK_TIMEOUT: Duration = Duration::from_secs(1);

/// What is told of readiness.
#[derive(Debug, Serialize)]
pub struct Report {
    status: &'static str,
    components: BTreeMap<&'static str, Component>,
}

#[derive(Debug, Serialize)]
struct Component {
    status: &'static str,
    required: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

impl Report {
    /// Whether requests should be sent here.
    pub fn is_ready(&self) -> bool {
        self.status == "ready"
    }

    /// Each part by name, whether it is up, whether it is required, and what is wrong with it.
    pub fn components(&self) -> impl Iterator<Item = (&'static str, bool, bool, Option<&str>)> {
        self.components
            .iter()
            .map(|(name, part)| (*name, part.detail.is_none(), part.required, part.detail.as_deref()))
    }

    /// Each part by name, and what is wrong with it where something is.
    pub fn parts(&self) -> impl Iterator<Item = (&'static str, Option<&str>)> {
        self.components.iter().map(|(name, component)| (*name, component.detail.as_deref()))
    }

    /// Asks all parts. A process that drains is not ready, whatever they say.
    pub async fn of(checks: &[Arc<dyn ReadinessCheck>], draining: bool) -> Self {
        let components: BTreeMap<_, _> = join_all(checks.iter().map(ask)).await.into_iter().collect();
        let down = |component: &Component| component.required && component.detail.is_some();
        let status = if draining {
            "draining"
        } else if components.values().any(down) {
            "not_ready"
        } else {
            "ready"
        };
        Self { status, components }
    }
}

async fn ask(check: &Arc<dyn ReadinessCheck>) -> (&'static str, Component) {
    let answer = tokio::time::timeout(CHECK_TIMEOUT, check.check())
        .await
        .unwrap_or_else(|_| Err(format!("no answer within {} ms", CHECK_TIMEOUT.as_millis())));
    let component = Component {
        status: if answer.is_ok() { "up" } else { "down" },
        required: check.required(),
        detail: answer.err(),
    };
    (check.component(), component)
}

#[cfg(test)]
mod tests {
    use super::*;
    use async_trait::async_trait;

    struct Part {
        name: &'static str,
        required: bool,
        answer: Option<Result<(), String>>,
    }

    #[async_trait]
    impl ReadinessCheck for Part {
        fn component(&self) -> &'static str {
            self.name
        }

        fn required(&self) -> bool {
            self.required
        }

        async fn check(&self) -> Result<(), String> {
            match self.answer.clone() {
                Some(answer) => answer,
                None => std::future::pending().await,
            }
        }
    }

    fn part(
        name: &'static str,
        required: bool,
        answer: Option<Result<(), String>>,
    ) -> Arc<dyn ReadinessCheck> {
        Arc::new(Part { name, required, answer })
    }

    fn json(report: &Report) -> serde_json::Value {
        serde_json::to_value(report).unwrap()
    }

    #[tokio::test]
    async fn a_part_that_is_not_required_does_not_make_it_unready() {
        let checks = [part("broker", true, Some(Ok(()))), part("cache", false, Some(Err("gone".to_owned())))];
        let report = Report::of(&checks, false).await;
        assert!(report.is_ready());
        assert_eq!(
            json(&report),
            serde_json::json!({"status": "ready", "components": {
                "broker": {"status": "up", "required": true},
                "cache": {"status": "down", "required": false, "detail": "gone"},
            }})
        );
    }

    #[tokio::test(start_paused = true)]
    async fn parts_that_never_answer_are_down_after_one_bound_for_all() {
        let checks = [part("broker", true, None), part("store", true, None)];
        let started = tokio::time::Instant::now();
        let report = Report::of(&checks, false).await;
        assert!(!report.is_ready());
        assert_eq!(started.elapsed(), CHECK_TIMEOUT);
        assert_eq!(json(&report)["components"]["store"]["status"], "down");
    }

    #[tokio::test]
    async fn a_draining_process_is_not_ready() {
        let report = Report::of(&[part("broker", true, Some(Ok(())))], true).await;
        assert!(!report.is_ready());
        assert_eq!(json(&report)["status"], "draining");
    }
}
