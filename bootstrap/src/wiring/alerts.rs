//! The alerts of a worker.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use application::ports::alert_channel::AlertChannel;
use application::ports::alert_log::AlertClaim;
use application::use_cases::{AlertFailures, AlertSettings};
use domain::ConsumerName;
use tokio_util::sync::CancellationToken;

use adapters::clock::SystemClock;
use adapters::outbound::command::{CommandAlerts, CommandSettings};
use adapters::outbound::http::{HttpAlerts, HttpSettings, HttpSetupError};
use adapters::outbound::telemetry::OpenTelemetryAlertObserver;

use super::process_name;
use super::store::Store;
use crate::config::{AlertTarget, AlertsConfig, Config, ms};
use crate::telemetry::Telemetry;

/// The longest wait before an alert is tried again.
const RETRY_DELAY_MAX: Duration = Duration::from_mins(10);
/// How much longer an alert is leased than sending it may take.
const LEASE_MARGIN: Duration = Duration::from_secs(30);

/// The alerts, before they run; none where they have nowhere to go.
#[derive(Default)]
pub struct Alerts(Option<AlertFailures>);

impl Alerts {
    /// Where the configuration says. Does not connect.
    ///
    /// # Errors
    /// A setting cannot be used.
    pub fn new(config: &Config, store: &Store, telemetry: &Telemetry) -> anyhow::Result<Self> {
        let alerts = &config.alerts;
        let Some(channel) = channel(alerts).context("alerts")? else {
            return Ok(Self::default());
        };
        let settings = AlertSettings {
            consumer: ConsumerName::parse(&config.worker.consumer)?,
            claim: AlertClaim {
                owner: process_name().to_owned(),
                lease: ms(alerts.timeout_ms) + LEASE_MARGIN,
                window: Duration::from_secs(alerts.window_s),
            },
            poll: ms(alerts.poll_ms),
            attempts_max: alerts.attempts_max,
            retry_delay: ms(alerts.retry_delay_ms),
            retry_delay_max: RETRY_DELAY_MAX,
            link_base: alerts.link_base.clone(),
        };
        let observer = Arc::new(OpenTelemetryAlertObserver::new(&telemetry.meter()));
        let (log, letters) = (store.alert_log(), store.dead_letters());
        Ok(Self(Some(AlertFailures::new(log, letters, channel, observer, settings))))
    }

    /// Runs until `stop`.
    ///
    /// # Errors
    /// They ended although nobody asked them to.
    pub async fn run(self, stop: &CancellationToken) -> anyhow::Result<()> {
        let Some(alerts) = self.0 else { return Ok(()) };
        alerts.run(stop).await;
        anyhow::ensure!(stop.is_cancelled(), "the alerts ended although nobody asked them to");
        Ok(())
    }
}

/// What is wrong with the endpoint's settings.
pub fn webhook_problems(alerts: &AlertsConfig) -> Vec<HttpSetupError> {
    http_settings(alerts).problems()
}

fn channel(alerts: &AlertsConfig) -> anyhow::Result<Option<Arc<dyn AlertChannel>>> {
    Ok(match alerts.target() {
        AlertTarget::Nobody => None,
        AlertTarget::Webhook => {
            Some(Arc::new(HttpAlerts::new(&http_settings(alerts), Arc::new(SystemClock))?))
        }
        AlertTarget::Command(program, arguments) => Some(Arc::new(CommandAlerts::new(CommandSettings {
            program: program.into(),
            arguments: arguments.to_vec(),
            timeout: ms(alerts.timeout_ms),
        }))),
    })
}

/// One alert at a time, whose waits are the use case's own.
fn http_settings(alerts: &AlertsConfig) -> HttpSettings {
    HttpSettings {
        url: alerts.webhook_url.clone(),
        secrets: alerts.secrets.clone(),
        timeout: ms(alerts.timeout_ms),
        retry_after_max: Duration::ZERO,
        concurrency: 1,
    }
}
