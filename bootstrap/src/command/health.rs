//! `payonce health`: for a container that has no other HTTP client.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use url::Url;

/// A process that does not answer within this time is not healthy.
const TIMEOUT: Duration = Duration::from_secs(3);

#[derive(Debug, clap::Args)]
pub(super) struct HealthArgs {
    /// What to ask
    #[arg(long, default_value = "http://127.0.0.1:9000/health/ready")]
    url: Url,
}

pub(super) fn run(args: &HealthArgs) -> anyhow::Result<ExitCode> {
    super::block_on(async {
        let (status, body) =
            tokio::time::timeout(TIMEOUT, ask(&args.url)).await.context("no answer in time")??;
        println!("{status} {body}");
        Ok(if status == 200 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    })
}

async fn ask(url: &Url) -> anyhow::Result<(u16, String)> {
    let host = url.host_str().context("--url has no host")?;
    let port = url.port_or_known_default().context("--url has no port")?;
    let stream =
        TcpStream::connect((host, port)).await.with_context(|| format!("cannot reach {host}:{port}"))?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let request = hyper::Request::get(url.path()).header("host", host).body(Empty::<Bytes>::new())?;
    let response = sender.send_request(request).await?;
    let status = response.status().as_u16();
    let body = response.into_body().collect().await?.to_bytes();
    Ok((status, String::from_utf8_lossy(&body).into_owned()))
}
