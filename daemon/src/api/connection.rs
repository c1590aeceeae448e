//! Serves one connection: reads request lines and writes answer lines.
//!
//! The first line selects the protocol: [`mcp`] serves a client that begins with the handshake of
//! the Model Context Protocol, or with a request of the stateless form of this protocol. This
//! module serves the requests of all other clients: JSON-RPC requests of our own, called bare
//! requests.
//!
//! Requests are served concurrently, so that a request that waits for an episode does not delay the
//! next request. A client that stops in the middle of a line, or that reads nothing of its answers
//! for [`LINE_TIMEOUT`], is disconnected without effect on other clients. [`input`](super::input)
//! limits the input of a client, [`connection_slots`](super::connection_slots) limits the number of
//! connections.

use std::{collections::HashMap, io, sync::Arc};

use graphiti_proto::{
    methods::STOP,
    rpc::{Error, Request, Response, code},
};
use interprocess::local_socket::tokio::Stream;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    sync::{OwnedSemaphorePermit, mpsc, watch},
    task::{AbortHandle, JoinSet},
    time::timeout,
};

use crate::{
    api::{
        SharedDaemon,
        client_context::ClientContext,
        connection_slots::SlotGuard,
        input::{CloseSignals, InputBudget, InputLine, LINE_TIMEOUT, LineReader, ReadHalf},
        mcp, methods,
        peer::Peer,
        progress::{ProgressReporter, ProgressStep},
        request_limits::{MAX_CONCURRENT_REQUESTS, with_deadline},
    },
    fault,
};

/// Maximum number of answers that wait until the client reads them. When this number is reached,
/// handlers with further answers wait.
const MAX_WAITING_ANSWERS: usize = 32;

pub(super) struct AcceptedConnection {
    pub(super) stream: Stream,
    pub(super) peer: Peer,
    pub(super) slot: SlotGuard,
    pub(super) budget: InputBudget,
}

/// Serves a connection until the client disconnects or exceeds a limit, the slot is needed for
/// another connection, or the daemon stops.
pub(super) async fn serve(
    accepted: AcceptedConnection,
    daemon: SharedDaemon,
    stopping: watch::Receiver<bool>,
) {
    let AcceptedConnection { stream, peer, slot, budget } = accepted;
    let (stream, slot) = (Arc::new(stream), Arc::new(slot));
    let (answers, waiting) = mpsc::channel::<Vec<u8>>(MAX_WAITING_ANSWERS);
    let (stall, mut stalled) = watch::channel(false);
    let outgoing = stream.clone();
    let writing = tokio::spawn(async move {
        if write_answers(outgoing.as_ref(), waiting).await.is_err() {
            let (process, seconds) = (peer.process, LINE_TIMEOUT.as_secs());
            tracing::warn!(
                ?process,
                seconds,
                "disconnected a client that does not read its answers"
            );
            stall.send_replace(true);
        }
    });
    let leaving = slot.leaving.clone();
    let signals = CloseSignals { stopping, leaving, stalled: stalled.clone() };
    let mut input = LineReader::new(ReadHalf(stream.clone()), signals, budget);
    let mut bare = BareConnection {
        peer,
        slot,
        daemon,
        answers,
        requests: JoinSet::new(),
        running: HashMap::new(),
    };
    let first = bare.serve(&mut input).await;
    if let Some(first) = first {
        let lines = mcp::LineTransport::new(first, input, bare.answers.clone());
        mcp::serve(&bare.daemon, peer, bare.slot.clone(), lines).await;
    }
    // The client may have closed only its sending side and still wait for answers.
    tokio::select! {
        () = bare.finish() => {}
        Ok(()) = disconnected(&stream) => bare.abort().await,
        Ok(()) = async { stalled.wait_for(|stalled| *stalled).await.map(drop) } => bare.abort().await,
    }
    drop(bare);
    // The result of the writing task does not matter, because the connection ends with it.
    let _ = writing.await;
}

struct BareConnection {
    peer: Peer,
    slot: Arc<SlotGuard>,
    daemon: SharedDaemon,
    answers: mpsc::Sender<Vec<u8>>,
    requests: JoinSet<()>,
    /// Running requests by id, for cancellation.
    running: HashMap<String, AbortHandle>,
}

impl BareConnection {
    /// Serves bare requests. Returns the first line of the Model Context Protocol if the client
    /// switches to this protocol.
    async fn serve(&mut self, input: &mut LineReader) -> Option<Vec<u8>> {
        loop {
            let InputLine { bytes: line, held } = match input.next().await? {
                Ok(line) => line,
                Err(error) => {
                    let error = Error::new(code::INVALID_REQUEST, error.to_string());
                    self.answer(Value::Null, Err(error)).await;
                    return None;
                }
            };
            while self.requests.try_join_next().is_some() {}
            match Request::read(&line) {
                Ok(request) if mcp::is_mcp_request(&request) => return Some(line),
                Ok(request) if request.method == mcp::CANCELLED => self.cancel(&request.params),
                Ok(request) if request.method == STOP => self.stop(request.id).await,
                Ok(request) => self.take(request, held).await,
                Err(error) => self.answer(Value::Null, Err(error)).await,
            }
        }
    }

    /// Starts a request; `held` is the input memory that the request uses.
    async fn take(&mut self, request: Request, held: Option<OwnedSemaphorePermit>) {
        let id = request.id.clone();
        if self.requests.len() >= MAX_CONCURRENT_REQUESTS {
            let what = "too many concurrent requests; wait for an answer first";
            if let Some(id) = id {
                self.answer(id, Err(Error::new(code::BUSY, what))).await;
            }
            return;
        }
        let mut client = ClientContext::new(self.peer.process, &request.params);
        let token = request.params["_meta"]["progressToken"].clone();
        let forwarding = (!token.is_null()).then(|| {
            let (progress, steps) = ProgressReporter::channel();
            client.progress = progress;
            forward_progress(token, steps, self.answers.clone())
        });
        let (daemon, answers) = (self.daemon.clone(), self.answers.clone());
        let name = id.as_ref().map(Value::to_string);
        let serving = self.slot.serve();
        let running = self.requests.spawn(async move {
            let work = async move {
                let outcome = with_deadline(async {
                    fault::point("request: taken");
                    methods::answer(&daemon, &client, request).await
                })
                .await;
                // Forwarding ends when the reporter is dropped.
                drop(client);
                outcome
            };
            // Progress cannot be sent if the client has disconnected. The request is then
            // cancelled.
            let outcome = match forwarding {
                Some(forwarding) => tokio::try_join!(async { Ok(work.await) }, forwarding),
                None => Ok((work.await, ())),
            };
            let Ok((outcome, ())) = outcome else { return };
            // A notification gets no answer.
            if let Some(id) = id {
                // Sending fails only when the client has disconnected.
                let _ = answers.send(Response::new(id, outcome).to_line()).await;
            }
            drop((serving, held));
        });
        self.running.retain(|_, running| !running.is_finished());
        if let Some(name) = name {
            self.running.insert(name, running);
        }
    }

    /// Cancels a request. Work that it started in the engine continues.
    fn cancel(&mut self, params: &Value) {
        if let Some(running) = self.running.remove(&params["requestId"].to_string()) {
            running.abort();
        }
    }

    /// Requests the end of the daemon. This is not done in a task, because a task is aborted when
    /// its client disconnects, and a client may disconnect because the daemon hangs.
    async fn stop(&self, id: Option<Value>) {
        self.daemon.stop_requested.notify_one();
        if let Some(id) = id {
            self.answer(id, Ok(json!({}))).await;
        }
    }

    /// Waits until no request is running.
    async fn finish(&mut self) {
        while self.requests.join_next().await.is_some() {}
    }

    /// Aborts the requests that have an id, and waits until no request is running.
    async fn abort(&mut self) {
        self.running.values().for_each(AbortHandle::abort);
        self.finish().await;
    }

    async fn answer(&self, id: Value, outcome: Result<Value, Error>) {
        // Sending fails only when the client has disconnected.
        let _ = self.answers.send(Response::new(id, outcome).to_line()).await;
    }
}

/// The client read nothing for [`LINE_TIMEOUT`], although an answer was waiting.
#[derive(Debug, PartialEq)]
struct Stalled;

/// Writes the answers until there are no more senders, or until the client has disconnected. A
/// client that reads slowly has no time limit.
async fn write_answers(
    mut stream: impl AsyncWrite + Unpin,
    mut waiting: mpsc::Receiver<Vec<u8>>,
) -> Result<(), Stalled> {
    while let Some(line) = waiting.recv().await {
        let mut rest = &line[..];
        while !rest.is_empty() {
            match timeout(LINE_TIMEOUT, stream.write(rest)).await {
                Ok(Ok(written @ 1..)) => rest = &rest[written..],
                // Lines that the client sent before it disconnected are still read.
                Ok(_) => return Ok(()),
                Err(_) => return Err(Stalled),
            }
        }
    }
    Ok(())
}

/// Waits until the client has closed both directions of the connection.
#[cfg(unix)]
async fn disconnected(stream: &Stream) -> io::Result<()> {
    use std::os::fd::AsFd;

    use tokio::io::{Interest, unix::AsyncFd};
    let Stream::UdSocket(stream) = stream;
    // Uses a second descriptor, because clearing the readiness of the first descriptor could delay
    // the writer.
    let socket = stream.as_fd().try_clone_to_owned()?;
    #[expect(
        deprecated,
        reason = "the replacement needs unsafe code; an owned descriptor is safe here"
    )]
    let socket = AsyncFd::with_interest(socket, Interest::WRITABLE)?;
    loop {
        let mut writable = socket.writable().await?;
        if writable.ready().is_write_closed() {
            return Ok(());
        }
        writable.clear_ready();
    }
}

/// On Windows, a disconnection is not detected, and the requests continue.
#[cfg(not(unix))]
async fn disconnected(_: &Stream) -> io::Result<()> {
    std::future::pending().await
}

struct Disconnected;

/// Forwards the progress of a request until the request ends.
async fn forward_progress(
    token: Value,
    mut steps: watch::Receiver<ProgressStep>,
    answers: mpsc::Sender<Vec<u8>>,
) -> Result<(), Disconnected> {
    while steps.changed().await.is_ok() {
        let ProgressStep { done, total, message } = steps.borrow_and_update().clone();
        let params = json!({
            "progressToken": token, "progress": done, "total": total, "message": message,
        });
        let notification = Request {
            jsonrpc: "2.0".to_owned(),
            id: None,
            method: mcp::PROGRESS.to_owned(),
            params,
        };
        answers.send(notification.to_line()).await.map_err(|_| Disconnected)?;
    }
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::{net::Shutdown, os::unix::net::UnixStream, pin::pin};

    use interprocess::local_socket::tokio::prelude::*;
    use tokio::{
        io::{AsyncReadExt, duplex},
        time::sleep,
    };

    use super::*;
    use crate::api::server;

    const BUFFER: usize = 1_000;

    /// Returns a task that writes an answer of ten times [`BUFFER`], and the client's end.
    async fn writing() -> (tokio::task::JoinHandle<Result<(), Stalled>>, tokio::io::DuplexStream) {
        let (client, stream) = duplex(BUFFER);
        let (answers, waiting) = mpsc::channel(1);
        answers.send(vec![b'x'; 10 * BUFFER]).await.expect("the receiver exists");
        (tokio::spawn(write_answers(stream, waiting)), client)
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_stops_reading_has_stalled() {
        let (writing, mut client) = writing().await;
        client.read_exact(&mut [0; BUFFER]).await.unwrap();
        assert_eq!(writing.await.unwrap(), Err(Stalled));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_slowly_or_disconnects_has_not_stalled() {
        let (slow, mut client) = writing().await;
        for _ in 0..10 {
            sleep(LINE_TIMEOUT * 9 / 10).await;
            client.read_exact(&mut [0; BUFFER]).await.unwrap();
        }
        assert_eq!(slow.await.unwrap(), Ok(()));
        let (writing, client) = writing().await;
        drop(client);
        assert_eq!(writing.await.unwrap(), Ok(()));
    }

    #[tokio::test]
    async fn a_client_that_closed_only_its_sending_side_has_not_disconnected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = server::listen(path.to_str().unwrap()).unwrap();
        let client = UnixStream::connect(&path).unwrap();
        let stream = listener.accept().await.unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        assert_eq!((&stream).read(&mut [0; 8]).await.unwrap(), 0);
        let mut gone = pin!(disconnected(&stream));
        for _ in 0..100 {
            tokio::select! {
                biased;
                _ = &mut gone => panic!("the client can still read"),
                () = tokio::task::yield_now() => {}
            }
        }
        drop(client);
        gone.await.unwrap();
    }
}
