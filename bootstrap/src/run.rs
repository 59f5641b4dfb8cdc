//! The frame of every executable: configuration, telemetry, signals, exit code.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use adapters::inbound::ops::OpsListener;
use adapters::inbound::ops::access::Deadlines;
use anyhow::Context;
use secrecy::ExposeSecret;

use crate::banner;
use crate::config::{Config, scheme};
use crate::lifecycle::Shutdown;
use crate::receiver::Receiver;
use crate::telemetry::Telemetry;
use crate::wiring::{self, Broker, OpsParts};
use crate::worker::Worker;

/// What `receiver` and `worker` take on the command line.
#[derive(Debug, clap::Parser)]
pub struct ServiceArgs {
    /// The configuration file; payonce.toml is read if there is one and none is named
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// Which parts a process runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    /// Takes webhooks.
    Receiver,
    /// Applies events.
    Worker,
    /// Both, with one operators' listener.
    Both,
}

impl Parts {
    const fn name(self) -> &'static str {
        match self {
            Self::Receiver => "receiver",
            Self::Worker => "worker",
            Self::Both => "both",
        }
    }
}

/// Runs a service until it is stopped by a signal or fails.
pub fn service(args: &ServiceArgs, parts: Parts) -> ExitCode {
    exit_code(start(args, parts))
}

/// Says an error to standard error and makes it an exit code.
pub fn exit_code(result: anyhow::Result<ExitCode>) -> ExitCode {
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Loads the configuration and starts telemetry, runs `body` on a runtime, and flushes telemetry after it,
/// however `body` ended.
///
/// # Errors
/// The configuration has problems, or `body` failed.
pub fn with_runtime<F>(config: Config, process: &'static str, body: F) -> anyhow::Result<ExitCode>
where
    F: AsyncFnOnce(Config, &Telemetry) -> anyhow::Result<ExitCode>,
{
    wiring::install_crypto_provider();
    let telemetry = Telemetry::start(&config, process)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let result = runtime.block_on(body(config, &telemetry));
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    telemetry.shut_down();
    result
}

fn start(args: &ServiceArgs, parts: Parts) -> anyhow::Result<ExitCode> {
    let config = Config::load(args.config.as_deref())?;
    with_runtime(config, parts.name(), async |config, telemetry| {
        let shutdown = Shutdown::on_signals().context("cannot listen to signals")?;
        serve(&config, telemetry, parts, &shutdown).await
    })
}

/// Builds and runs the parts until `shutdown`.
///
/// # Errors
/// A part could not start, or ended although nobody asked it to, or did not finish within its grace time.
pub async fn serve(
    config: &Config,
    telemetry: &Telemetry,
    parts: Parts,
    shutdown: &Shutdown,
) -> anyhow::Result<ExitCode> {
    check_parts(config, parts)?;
    let observer = wiring::observer(telemetry);
    let broker = Broker::open(config)?;
    let receiver = match parts {
        Parts::Receiver | Parts::Both => Some(Receiver::build(config, &broker, observer.clone())?),
        Parts::Worker => None,
    };
    let worker = match parts {
        Parts::Worker | Parts::Both => Some(Worker::build(config, &broker, observer, telemetry)?),
        Parts::Receiver => None,
    };
    let ops = wiring::ops_listener(config)?;
    let serving = ops_listener(config, telemetry, shutdown, receiver.as_ref(), worker.as_ref(), &ops)?;
    if let (Parts::Both, Some(receiver)) = (parts, &receiver) {
        println!("{}", banner::text(config, receiver.address(), ops.local_addr()?));
    }
    let ops_stop = tokio_util::sync::CancellationToken::new();
    let ops = tokio::spawn(adapters::inbound::ops::serve(ops, serving, ops_stop.clone()));
    let result = tokio::select! {
        result = run_parts(receiver, worker, shutdown) => result,
        () = shutdown.hard.cancelled() => Err(anyhow::anyhow!("stopped before everything was finished")),
    };
    broker.close().await;
    ops_stop.cancel();
    ops.await.context("the operators' listener ended")?.context("the operators' listener failed")?;
    result.map(|()| ExitCode::SUCCESS)
}

/// What the operators' listener of these parts serves.
fn ops_listener(
    config: &Config,
    telemetry: &Telemetry,
    shutdown: &Shutdown,
    receiver: Option<&Receiver>,
    worker: Option<&Worker>,
    listener: &TcpListener,
) -> anyhow::Result<OpsListener> {
    let address = listener.local_addr()?.ip();
    if wiring::ops_is_closed(config, address) {
        tracing::warn!(
            "ops.bind is not a loopback address and ops.tokens_file is not set: metrics and health answer, and \
             nobody is let in to the page and the API"
        );
    }
    let mut checks = Vec::new();
    checks.extend(receiver.iter().flat_map(|receiver| receiver.readiness()));
    checks.extend(worker.iter().flat_map(|worker| worker.readiness()));
    let parts = OpsParts {
        store: worker.map(Worker::store_services).transpose()?,
        queue: worker.map(Worker::inspector),
        quarantine: receiver.and_then(Receiver::review),
        checks,
    };
    let access = wiring::ops_access(config, address)?.with_meter(&telemetry.meter());
    Ok(OpsListener {
        services: Arc::new(wiring::ops_services(config, telemetry, parts)?),
        access: Arc::new(access),
        draining: shutdown.soft.clone(),
        deadlines: Deadlines::default(),
    })
}

/// An embedded queue has one process for both parts: a receiver without a worker would fill it for nobody.
fn check_parts(config: &Config, parts: Parts) -> anyhow::Result<()> {
    anyhow::ensure!(
        parts == Parts::Both || scheme(config.broker.url.expose_secret()) != "embedded",
        "broker.url is embedded:, a queue within one process. Run `payonce`, which is receiver and worker \
         together, or set broker.url (or AMQP_URL) to an amqp:// URL for processes of their own"
    );
    Ok(())
}

async fn run_parts(
    receiver: Option<Receiver>,
    worker: Option<Worker>,
    shutdown: &Shutdown,
) -> anyhow::Result<()> {
    let receiving = async {
        match receiver {
            Some(receiver) => receiver.run(&shutdown.soft).await,
            None => Ok(()),
        }
    };
    let working = async {
        match worker {
            Some(worker) => worker.run(&shutdown.soft).await,
            None => Ok(()),
        }
    };
    tokio::try_join!(receiving, working)?;
    Ok(())
}
