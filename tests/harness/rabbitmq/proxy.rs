//! Stands between a client and the broker, and spoils the connection on demand.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{broadcast, watch};
use tokio::task::JoinHandle;

/// Passes bytes on, until told otherwise.
pub struct AmqpProxy {
    port: u16,
    to_client: broadcast::Sender<Option<Vec<u8>>>,
    stalled: watch::Sender<bool>,
    accepting: JoinHandle<()>,
}

impl AmqpProxy {
    /// Listens on a free port and passes everything on to `broker`.
    ///
    /// # Panics
    /// No port is free.
    pub async fn start(broker: (String, u16)) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let (to_client, _) = broadcast::channel(16);
        let (stalled, _) = watch::channel(false);
        let (commands, stalls) = (to_client.clone(), stalled.subscribe());
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if let Ok(server) = TcpStream::connect(&broker).await {
                    tokio::spawn(pass_on(client, server, commands.subscribe(), stalls.clone()));
                }
            }
        });
        Self { port, to_client, stalled, accepting }
    }

    /// Where it listens on this machine.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Tells every client, in the broker's name, that publishers are blocked. The connection must be idle.
    pub fn block(&self) {
        let reason = b"low on memory";
        let mut arguments = vec![u8::try_from(reason.len()).unwrap_or(0)];
        arguments.extend_from_slice(reason);
        self.inject(60, &arguments);
    }

    /// Tells every client, in the broker's name, that publishers are no more blocked.
    pub fn unblock(&self) {
        self.inject(61, &[]);
    }

    /// From now on reads nothing more from clients, or goes on with it.
    pub fn stall(&self, stalled: bool) {
        self.stalled.send_replace(stalled);
    }

    /// Cuts every connection.
    pub fn cut(&self) {
        self.to_client.send(None).ok();
    }

    /// Sends a method of the class `connection` on channel 0.
    fn inject(&self, method: u16, arguments: &[u8]) {
        let mut payload = vec![0, 10];
        payload.extend_from_slice(&method.to_be_bytes());
        payload.extend_from_slice(arguments);
        let mut frame = vec![1, 0, 0];
        frame.extend_from_slice(&u32::try_from(payload.len()).unwrap_or(0).to_be_bytes());
        frame.extend_from_slice(&payload);
        frame.push(0xCE);
        self.to_client.send(Some(frame)).ok();
    }
}

impl Drop for AmqpProxy {
    fn drop(&mut self) {
        self.accepting.abort();
        self.cut();
    }
}

async fn pass_on(
    client: TcpStream,
    server: TcpStream,
    mut commands: broadcast::Receiver<Option<Vec<u8>>>,
    mut stalled: watch::Receiver<bool>,
) {
    client.set_nodelay(true).ok();
    server.set_nodelay(true).ok();
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let up = async {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            stalled.wait_for(|stalled| !stalled).await.ok();
            let count = tokio::select! {
                count = from_client.read(&mut buffer) => count.unwrap_or(0),
                _ = stalled.wait_for(|stalled| *stalled) => continue,
            };
            if count == 0 || to_server.write_all(&buffer[..count]).await.is_err() {
                break;
            }
        }
    };
    let down = async {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            tokio::select! {
                count = from_server.read(&mut buffer) => {
                    let count = count.unwrap_or(0);
                    if count == 0 || to_client.write_all(&buffer[..count]).await.is_err() {
                        break;
                    }
                }
                command = commands.recv() => match command {
                    Ok(Some(frame)) => {
                        if to_client.write_all(&frame).await.is_err() {
                            break;
                        }
                    }
                    _ => break,
                },
            }
        }
    };
    tokio::select! {
        () = up => {}
        () = down => {}
    }
}
