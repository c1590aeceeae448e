//! One connection: lines in, lines out.
//!
//! The first line decides: a caller that begins with the handshake of the Model Context Protocol,
//! or with a request of its stateless form, is served by [`mcp`] from there on; any other sends
//! bare requests, which are served here.
//!
//! Requests are served side by side, so that one that waits for an episode does not hold up the
//! next. A caller that is slow, silent in the middle of a line or does not read its answers is let
//! go; nobody else notices.

use std::{collections::HashMap, sync::Arc, time::Duration};

use graphiti_proto::{
    frame::{Lines, TooLong},
    rpc::{Error, Request, Response, code},
};
use interprocess::local_socket::tokio::Stream;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::{mpsc, watch},
    task::{AbortHandle, JoinSet},
};

use crate::api::{
    Shared,
    caller::Caller,
    mcp, methods,
    progress::{Progress, Step},
    server::Peer,
};

/// Requests of one connection served at one time; further ones are told so.
pub(super) const AT_ONCE: usize = 32;
/// Answers that may wait to be read by the caller; whoever serves the next waits with it.
const ANSWERS: usize = 32;
/// A line must be whole in this time, and an answer be taken.
const PATIENCE: Duration = Duration::from_secs(30);

/// Serves a connection until the caller hangs up or the daemon stops.
pub async fn serve(stream: Stream, peer: Peer, daemon: Shared, stopping: watch::Receiver<bool>) {
    let stream = Arc::new(stream);
    let (answers, mut waiting) = mpsc::channel::<Vec<u8>>(ANSWERS);
    let outgoing = stream.clone();
    let writing = tokio::spawn(async move {
        while let Some(line) = waiting.recv().await {
            match tokio::time::timeout(PATIENCE, outgoing.as_ref().write_all(&line)).await {
                Ok(Ok(())) => {}
                _ => return,
            }
        }
    });
    let mut input = Input { stream, stopping, lines: Lines::default(), buffer: vec![0; 16 << 10] };
    let mut bare =
        Bare { peer, daemon, answers, requests: JoinSet::new(), running: HashMap::new() };
    let first = bare.serve(&mut input).await;
    if let Some(first) = first {
        mcp::serve(&bare.daemon, peer, mcp::Lines::new(first, input, bare.answers.clone())).await;
    }
    // The caller may have closed its sending side only, and still wait for answers.
    while bare.requests.join_next().await.is_some() {}
    drop(bare);
    drop(writing.await);
}

/// Where the caller's lines come from.
pub(super) struct Input {
    stream: Arc<Stream>,
    stopping: watch::Receiver<bool>,
    lines: Lines,
    buffer: Vec<u8>,
}

impl Input {
    /// The next line that is not empty; `None` when no more comes. Nothing is lost when the
    /// future is dropped.
    pub(super) async fn next(&mut self) -> Option<Result<Vec<u8>, TooLong>> {
        loop {
            match self.lines.next_line() {
                Ok(Some(line)) if line.trim_ascii().is_empty() => continue,
                Ok(Some(line)) => return Some(Ok(line)),
                Ok(None) => {}
                Err(error) => return Some(Err(error)),
            }
            let is_within_line = self.lines.is_within_line();
            let mut incoming = self.stream.as_ref();
            let read = tokio::select! {
                read = incoming.read(&mut self.buffer) => read,
                () = tokio::time::sleep(PATIENCE), if is_within_line => return None,
                _ = self.stopping.wait_for(|stopping| *stopping) => return None,
            };
            let Ok(bytes @ 1..) = read else { return None };
            self.lines.push(&self.buffer[..bytes]);
        }
    }
}

/// A caller that sends bare requests.
struct Bare {
    peer: Peer,
    daemon: Shared,
    answers: mpsc::Sender<Vec<u8>>,
    requests: JoinSet<()>,
    /// Requests in hand by their ids, for those who think better of it.
    running: HashMap<String, AbortHandle>,
}

impl Bare {
    /// Serves bare requests. Returns the line with which the caller turns to the Model Context
    /// Protocol, if it does.
    async fn serve(&mut self, input: &mut Input) -> Option<Vec<u8>> {
        loop {
            let line = match input.next().await? {
                Ok(line) => line,
                Err(error) => {
                    let error = Error::new(code::INVALID_REQUEST, error.to_string());
                    self.answer(Value::Null, Err(error)).await;
                    return None;
                }
            };
            while self.requests.try_join_next().is_some() {}
            match Request::read(&line) {
                Ok(request) if mcp::is_spoken(&request) => return Some(line),
                Ok(request) if request.method == mcp::CANCELLED => self.cancel(&request.params),
                Ok(request) => self.take(request).await,
                Err(error) => self.answer(Value::Null, Err(error)).await,
            }
        }
    }

    async fn take(&mut self, request: Request) {
        let id = request.id.clone();
        if self.requests.len() >= AT_ONCE {
            let what = "too many requests at once; wait for an answer first";
            if let Some(id) = id {
                self.answer(id, Err(Error::new(code::BUSY, what))).await;
            }
            return;
        }
        let mut caller = Caller::new(self.peer.process, &request.params);
        let token = request.params["_meta"]["progressToken"].clone();
        let telling = (!token.is_null()).then(|| {
            let (progress, told) = Progress::watched();
            caller.progress = progress;
            tell(token, told, self.answers.clone())
        });
        let (daemon, answers) = (self.daemon.clone(), self.answers.clone());
        let name = id.as_ref().map(Value::to_string);
        let running = self.requests.spawn(async move {
            let work = async move {
                let outcome = methods::answer(&daemon, &caller, request).await;
                // The telling ends with its teller.
                drop(caller);
                outcome
            };
            // Whoever asked to be told and hung up waits for nothing any more.
            let outcome = match telling {
                Some(telling) => tokio::try_join!(async { Ok(work.await) }, telling),
                None => Ok((work.await, ())),
            };
            let Ok((outcome, ())) = outcome else { return };
            // A notification gets no answer.
            if let Some(id) = id {
                drop(answers.send(Response::new(id, outcome).to_line()).await);
            }
        });
        self.running.retain(|_, running| !running.is_finished());
        if let Some(name) = name {
            self.running.insert(name, running);
        }
    }

    /// Gives a request up; what it began for others goes on.
    fn cancel(&mut self, params: &Value) {
        if let Some(running) = self.running.remove(&params["requestId"].to_string()) {
            running.abort();
        }
    }

    async fn answer(&self, id: Value, outcome: Result<Value, Error>) {
        drop(self.answers.send(Response::new(id, outcome).to_line()).await);
    }
}

/// The caller does not read any more.
struct HungUp;

/// Passes on how far a request is, until it ends.
async fn tell(
    token: Value,
    mut told: watch::Receiver<Step>,
    answers: mpsc::Sender<Vec<u8>>,
) -> Result<(), HungUp> {
    while told.changed().await.is_ok() {
        let Step { done, total, message } = told.borrow_and_update().clone();
        let params = json!({
            "progressToken": token, "progress": done, "total": total, "message": message,
        });
        let notification = Request {
            jsonrpc: "2.0".to_owned(),
            id: None,
            method: mcp::PROGRESS.to_owned(),
            params,
        };
        answers.send(notification.to_line()).await.map_err(|_| HungUp)?;
    }
    Ok(())
}
