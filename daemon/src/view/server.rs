//! Runs the server of the page. The server starts on request, and stops when the page is not used.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Weak},
    time::Duration,
};

use graphiti_proto::methods::view::ViewAddress;
use tokio::{net::TcpListener, sync::watch, task::JoinHandle, time::Instant};

use crate::{
    api::{DaemonState, SharedDaemon},
    clock,
    view::{
        access::{AccessControl, TOKEN_LIFE},
        connections::{Admission, BoundedListener},
        routes,
        state::{SharedView, ViewState},
        usage::{self, PageUse},
    },
};

/// Time limit for open connections when the server stops.
const CLOSING_LIMIT: Duration = Duration::from_secs(2);

/// The viewer of one round of the daemon. A round is one open database, and the tasks that use it.
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
    /// Starts the server if it is not running, and returns the address of the page with a new
    /// token.
    ///
    /// # Errors
    ///
    /// If no port can be opened.
    pub async fn open(&mut self, daemon: &SharedDaemon) -> io::Result<ViewAddress> {
        self.running = self.running.take().filter(|server| !server.task.is_finished());
        let server = match self.running.take() {
            Some(server) => server,
            None => RunningServer::start(Arc::downgrade(daemon)).await?,
        };
        let url = server.view.access().address_with_token(clock::now());
        // The idle time begins now, so that the user has time to open the address.
        usage::record_request(&server.view.page_use, Instant::now());
        self.running = Some(server);
        Ok(ViewAddress { url, valid_seconds: TOKEN_LIFE.as_secs() })
    }

    /// Stops the server if it is running.
    pub async fn close(&mut self) {
        let Some(RunningServer { stop, task, view: _ }) = self.running.take() else { return };
        stop.send_replace(true);
        // The task returns an error only if it panicked, and a panic is logged.
        let _ = task.await;
    }
}

impl RunningServer {
    async fn start(daemon: Weak<DaemonState>) -> io::Result<RunningServer> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
        let authority = listener.local_addr()?.to_string();
        let (stop, stopping) = watch::channel(false);
        let (page_use, _) = watch::channel(PageUse::new(Instant::now()));
        let access = AccessControl::new(authority);
        let view = Arc::new(ViewState::new(daemon, access, page_use, stopping));
        let listener = BoundedListener::new(listener);
        let task = tokio::spawn(serve(listener, view.clone(), stop.clone()));
        Ok(RunningServer { view, stop, task })
    }
}

/// Serves until the daemon stops or the page was not used for some time.
async fn serve(listener: BoundedListener, view: SharedView, stop: watch::Sender<bool>) {
    tracing::info!("the viewer is open");
    let mut stopping = view.stopping.clone();
    let expired = usage::expired(view.page_use.subscribe());
    let ended = async move {
        tokio::select! {
            // The sender `stop` exists as long as this future, so `wait_for` cannot fail.
            _ = stopping.wait_for(|stopping| *stopping) => {}
            () = expired => {}
        }
        stop.send_replace(true);
    };
    let mut stopping = view.stopping.clone();
    let limit = async {
        // An error means that the viewer was dropped. This also ends the server.
        let _ = stopping.wait_for(|stopping| *stopping).await;
        tokio::time::sleep(CLOSING_LIMIT).await;
    };
    let router = routes::router(view.clone());
    let router = router.into_make_service_with_connect_info::<Admission>();
    let serving = axum::serve(listener, router).with_graceful_shutdown(ended);
    tokio::select! {
        served = async { serving.await } => if let Err(error) = served {
            tracing::warn!(%error, "the viewer has failed");
        },
        () = limit => {}
    }
    tracing::info!("the viewer is closed");
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpStream,
    };

    use super::*;
    use crate::view::{
        connections::{ADMISSION_LIMIT, MAX_CONNECTIONS},
        usage::IDLE,
    };

    /// Time limit, so that a defect does not block the test. On a busy machine, the check of the
    /// peer of each connection can take 0.1 s.
    const TEST_LIMIT: Duration = Duration::from_secs(60);

    async fn started() -> (RunningServer, SocketAddr) {
        let server = RunningServer::start(Weak::new()).await.unwrap();
        let url = server.view.access().address_with_token(clock::now());
        let address = url.split('/').nth(2).unwrap().parse().unwrap();
        (server, address)
    }

    #[tokio::test(start_paused = true)]
    async fn an_unused_server_stops_and_closes_its_port() {
        let (server, address) = started().await;
        assert!(address.ip().is_loopback());
        let start = Instant::now();
        server.task.await.unwrap();
        assert!((IDLE..IDLE * 2).contains(&start.elapsed()), "{:?}", start.elapsed());
        assert!(TcpStream::connect(address).await.is_err());
    }

    #[tokio::test]
    async fn a_client_without_a_complete_request_does_not_prevent_the_stop() {
        let (server, address) = started().await;
        let _silent = TcpStream::connect(address).await.unwrap();
        let mut half = TcpStream::connect(address).await.unwrap();
        half.write_all(b"GET / HTTP/1.1\r\nHost: ").await.unwrap();
        let mut viewer = Viewer { running: Some(server) };
        viewer.close().await;
        assert!(TcpStream::connect(address).await.is_err());
    }

    /// Returns the head of a request of the user's browser that keeps the connection open.
    fn own_request(server: &RunningServer, address: SocketAddr, page: &str) -> String {
        let mut access = server.view.access();
        let url = access.address_with_token(clock::now());
        let (_, token) = url.rsplit_once("token=").unwrap();
        let cookie = access.redeem(token, clock::now()).unwrap();
        let cookie = cookie.split(';').next().unwrap();
        let area = access.area();
        format!("GET /{area}/{page} HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\n\r\n")
    }

    async fn begins_answer(stream: &mut TcpStream, request: &str) -> String {
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut beginning = [0; 12];
        stream.read_exact(&mut beginning).await.unwrap();
        String::from_utf8_lossy(&beginning).into_owned()
    }

    #[tokio::test]
    async fn idle_connections_of_other_programs_do_not_block_the_user() {
        let (server, address) = started().await;
        let request = own_request(&server, address, "icon.svg");
        let mut own = TcpStream::connect(address).await.unwrap();
        assert_eq!(begins_answer(&mut own, &request).await, "HTTP/1.1 200");
        let mut strangers = Vec::new();
        for _ in 0..2 * MAX_CONNECTIONS {
            strangers.push(TcpStream::connect(address).await.unwrap());
        }
        let mut stream = TcpStream::connect(address).await.unwrap();
        let answer = tokio::time::timeout(TEST_LIMIT, begins_answer(&mut stream, &request)).await;
        assert_eq!(answer.expect("the request is answered"), "HTTP/1.1 200");
        // The browser's older connection was not closed in favour of the other connections.
        own.write_all(request.as_bytes()).await.unwrap();
        let mut all = vec![0; 4_096];
        let mut answers = 0;
        while answers < 1 {
            let read = tokio::time::timeout(TEST_LIMIT, own.read(&mut all)).await.unwrap().unwrap();
            assert!(read > 0, "closed");
            answers += String::from_utf8_lossy(&all[..read]).matches("HTTP/1.1 200").count();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn only_the_users_browser_may_keep_a_connection_open() {
        let (server, address) = started().await;
        let request = own_request(&server, address, "icon.svg");
        let mut own = TcpStream::connect(address).await.unwrap();
        assert_eq!(begins_answer(&mut own, &request).await, "HTTP/1.1 200");
        let start = Instant::now();
        let mut stranger = TcpStream::connect(address).await.unwrap();
        stranger.write_all(b"GET / HTTP/1.1\r\nHost: ").await.unwrap();
        // The other program may get an answer, a reset or the end of the stream.
        let mut rest = Vec::new();
        let _ = tokio::time::timeout(2 * IDLE, stranger.read_to_end(&mut rest)).await;
        assert!(
            (ADMISSION_LIMIT..ADMISSION_LIMIT * 2).contains(&start.elapsed()),
            "{:?}",
            start.elapsed()
        );
        tokio::time::sleep(ADMISSION_LIMIT).await;
        own.write_all(request.as_bytes()).await.unwrap();
        let mut rest = vec![0; 1 << 16];
        let read = own.read(&mut rest).await.unwrap();
        let second = own.read(&mut rest[read..]).await.unwrap();
        assert!(String::from_utf8_lossy(&rest[..read + second]).contains("HTTP/1.1 200"));
    }

    #[tokio::test]
    async fn a_request_is_answered_with_503_while_the_daemon_stops() {
        let (server, address) = started().await;
        let url = server.view.access().address_with_token(clock::now());
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
