//! Runs the server of the page, which opens on request and closes when the page is not used.

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
        connections::{BoundedListener, FilterSet},
        routes,
        state::{SharedView, ViewState},
        usage::{self, PageUse},
    },
};

/// Time limit for connections to end when the server closes.
const FAREWELL: Duration = Duration::from_secs(2);

/// The viewer of one round of the daemon: of one open database and the tasks that work on it.
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
        let listener = BoundedListener::new(listener);
        let task = tokio::spawn(serve(listener, view.clone(), stop.clone()));
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
    let router = routes::router(view.clone());
    let router = router.into_make_service_with_connect_info::<FilterSet>();
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
        connections::{ADMISSION, CONNECTIONS},
        usage::IDLE,
    };

    /// The time limit of the test if there is a defect.
    const GIVE_UP: Duration = Duration::from_secs(5);

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

    /// Returns the head of a request of the user's browser, which keeps its connection.
    fn own_request(server: &RunningServer, address: SocketAddr, page: &str) -> String {
        let mut access = server.view.access();
        let url = access.issue(clock::now());
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
    async fn silent_strangers_do_not_lock_the_user_out() {
        let (server, address) = started().await;
        let request = own_request(&server, address, "icon.svg");
        let mut own = TcpStream::connect(address).await.unwrap();
        assert_eq!(begins_answer(&mut own, &request).await, "HTTP/1.1 200");
        let mut strangers = Vec::new();
        for _ in 0..2 * CONNECTIONS {
            strangers.push(TcpStream::connect(address).await.unwrap());
        }
        let mut stream = TcpStream::connect(address).await.unwrap();
        let answer = tokio::time::timeout(GIVE_UP, begins_answer(&mut stream, &request)).await;
        assert_eq!(answer.expect("an answer"), "HTTP/1.1 200");
        // The browser's older connection has not been closed for the strangers.
        own.write_all(request.as_bytes()).await.unwrap();
        let mut all = vec![0; 4_096];
        let mut answers = 0;
        while answers < 1 {
            let read = tokio::time::timeout(GIVE_UP, own.read(&mut all)).await.unwrap().unwrap();
            assert!(read > 0, "closed");
            answers += String::from_utf8_lossy(&all[..read]).matches("HTTP/1.1 200").count();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn only_the_users_browser_may_keep_a_connection() {
        let (server, address) = started().await;
        let request = own_request(&server, address, "icon.svg");
        let mut own = TcpStream::connect(address).await.unwrap();
        assert_eq!(begins_answer(&mut own, &request).await, "HTTP/1.1 200");
        let start = Instant::now();
        let mut stranger = TcpStream::connect(address).await.unwrap();
        stranger.write_all(b"GET / HTTP/1.1\r\nHost: ").await.unwrap();
        // It may get an answer, a reset or just the end.
        let mut rest = Vec::new();
        let _ = tokio::time::timeout(2 * IDLE, stranger.read_to_end(&mut rest)).await;
        assert!((ADMISSION..ADMISSION * 2).contains(&start.elapsed()), "{:?}", start.elapsed());
        tokio::time::sleep(ADMISSION).await;
        own.write_all(request.as_bytes()).await.unwrap();
        let mut rest = vec![0; 1 << 16];
        let read = own.read(&mut rest).await.unwrap();
        let second = own.read(&mut rest[read..]).await.unwrap();
        assert!(String::from_utf8_lossy(&rest[..read + second]).contains("HTTP/1.1 200"));
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
