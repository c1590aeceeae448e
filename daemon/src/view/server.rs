//! The server of the page: opened on request, closed when the page is not used.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    pin::Pin,
    sync::{Arc, Weak},
    task::{Context, Poll},
    time::Duration,
};

use axum::serve::Listener;
use graphiti_proto::methods::view::ViewAddress;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    task::JoinHandle,
    time::Instant,
};

use crate::{
    api::{DaemonState, SharedDaemon},
    clock,
    view::{
        access::{AccessControl, TOKEN_LIFE},
        peer, routes,
        state::{SharedView, ViewState},
        usage::{self, PageUse},
    },
};

/// Maximum number of connections; further ones wait. Any user of the machine can connect.
const CONNECTIONS: usize = 64;
/// How long connections may take to end when the server closes.
const FAREWELL: Duration = Duration::from_secs(2);

/// The viewer of one round of the daemon.
#[derive(Default)]
pub struct Viewer {
    running: Option<RunningServer>,
}

struct RunningServer {
    view: SharedView,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Viewer {
    /// Starts the server unless it runs, and returns the address of its page.
    ///
    /// # Errors
    ///
    /// When no port can be opened.
    pub async fn open(&mut self, daemon: &SharedDaemon) -> io::Result<ViewAddress> {
        self.running = self.running.take().filter(|server| !server.task.is_finished());
        let server = match self.running.take() {
            Some(server) => server,
            None => RunningServer::start(Arc::downgrade(daemon)).await?,
        };
        let url = server.view.access().issue(clock::now());
        // The time to open the address counts as use.
        usage::note(&server.view.uses, Instant::now());
        self.running = Some(server);
        Ok(ViewAddress { url, valid_seconds: TOKEN_LIFE.as_secs() })
    }

    /// Closes the server, if it runs.
    pub async fn close(&mut self) {
        let Some(RunningServer { stop, task, view: _ }) = self.running.take() else { return };
        stop.send_replace(true);
        // A panic of the server has been logged.
        let _ = task.await;
    }
}

impl RunningServer {
    async fn start(daemon: Weak<DaemonState>) -> io::Result<RunningServer> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
        let authority = listener.local_addr()?.to_string();
        let (stop, stopping) = watch::channel(false);
        let (uses, _) = watch::channel(PageUse::new(Instant::now()));
        let access = AccessControl::new(authority);
        let view = Arc::new(ViewState::new(daemon, access, uses, stopping));
        let slots = Arc::new(Semaphore::new(CONNECTIONS));
        let task =
            tokio::spawn(serve(BoundedListener { listener, slots }, view.clone(), stop.clone()));
        Ok(RunningServer { view, stop, task })
    }
}

/// Serves until the daemon stops or the page was not used for some time.
async fn serve(listener: BoundedListener, view: SharedView, stop: watch::Sender<bool>) {
    tracing::info!("the viewer is open");
    let mut stopping = view.stopping.clone();
    let expired = usage::expired(view.uses.subscribe());
    let ended = async move {
        tokio::select! {
            // The sender lives as long as this task.
            _ = stopping.wait_for(|stopping| *stopping) => {}
            () = expired => {}
        }
        stop.send_replace(true);
    };
    let mut stopping = view.stopping.clone();
    let limit = async {
        let _ = stopping.wait_for(|stopping| *stopping).await;
        tokio::time::sleep(FAREWELL).await;
    };
    let serving = axum::serve(listener, routes::router(view.clone())).with_graceful_shutdown(ended);
    tokio::select! {
        served = async { serving.await } => if let Err(error) = served {
            tracing::warn!(%error, "the viewer has failed");
        },
        () = limit => {}
    }
    tracing::info!("the viewer is closed");
}

/// A listener with a limited number of connections.
struct BoundedListener {
    listener: TcpListener,
    slots: Arc<Semaphore>,
}

/// A connection, with its slot.
struct BoundedStream {
    stream: TcpStream,
    _slot: OwnedSemaphorePermit,
}

impl Listener for BoundedListener {
    type Io = BoundedStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (BoundedStream, SocketAddr) {
        let slot = self.slots.clone().acquire_owned().await;
        let slot = slot.expect("the slots are never closed");
        loop {
            let (stream, address) = Listener::accept(&mut self.listener).await;
            if is_of_other_user(&stream, address).await {
                tracing::warn!("refused a connection of another user to the viewer");
                continue;
            }
            return (BoundedStream { stream, _slot: slot }, address);
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

async fn is_of_other_user(stream: &TcpStream, peer: SocketAddr) -> bool {
    let (SocketAddr::V4(peer), Ok(SocketAddr::V4(own))) = (peer, stream.local_addr()) else {
        return true;
    };
    let is_other = tokio::task::spawn_blocking(move || peer::is_other_user(peer, own));
    // Without an answer, nobody is let in.
    is_other.await.unwrap_or(true)
}

impl AsyncRead for BoundedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for BoundedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::view::usage::IDLE;

    async fn started() -> (RunningServer, SocketAddr) {
        let server = RunningServer::start(Weak::new()).await.unwrap();
        let url = server.view.access().issue(clock::now());
        let address = url.split('/').nth(2).unwrap().parse().unwrap();
        (server, address)
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_that_is_not_used_closes_with_its_port() {
        let (server, address) = started().await;
        assert!(address.ip().is_loopback());
        let start = Instant::now();
        server.task.await.unwrap();
        assert!((IDLE..IDLE * 2).contains(&start.elapsed()), "{:?}", start.elapsed());
        assert!(TcpStream::connect(address).await.is_err());
    }

    #[tokio::test]
    async fn a_client_that_says_nothing_does_not_keep_the_server_open() {
        let (server, address) = started().await;
        let _silent = TcpStream::connect(address).await.unwrap();
        let mut half = TcpStream::connect(address).await.unwrap();
        half.write_all(b"GET / HTTP/1.1\r\nHost: ").await.unwrap();
        let mut viewer = Viewer { running: Some(server) };
        viewer.close().await;
        assert!(TcpStream::connect(address).await.is_err());
    }

    #[tokio::test]
    async fn a_page_of_a_daemon_that_is_stopping_says_so() {
        let (server, address) = started().await;
        let url = server.view.access().issue(clock::now());
        let token = url.rsplit_once("token=").unwrap().1.to_owned();
        let cookie = server.view.access().redeem(&token, clock::now()).unwrap();
        let cookie = cookie.split(';').next().unwrap().to_owned();
        let area = server.view.access().area().to_owned();
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!(
            "GET /{area}/sessions HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
        assert!(answer.contains("graphitid is stopping"), "{answer}");
    }
}
