//! One connection: lines in, lines out.
//!
//! Requests are served side by side, so that one that waits for an episode does not hold up the
//! next. A caller that is slow, silent in the middle of a line or does not read its answers is let
//! go; nobody else notices.

use std::{sync::Arc, time::Duration};

use graphiti_proto::{
    frame::Lines,
    rpc::{Error, Request, Response, code},
};
use interprocess::local_socket::tokio::Stream;
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::{mpsc, watch},
    task::JoinSet,
};

use crate::api::{Shared, caller::Caller, methods, server::Peer};

/// Requests of one connection served at one time; further ones are told so.
const AT_ONCE: usize = 32;
/// Answers that may wait to be read by the caller; whoever serves the next waits with it.
const ANSWERS: usize = 32;
/// A line must be whole in this time, and an answer be taken.
const PATIENCE: Duration = Duration::from_secs(30);

/// Serves a connection until the caller hangs up or the daemon stops.
pub async fn serve(
    stream: Stream,
    peer: Peer,
    daemon: Shared,
    mut stopping: watch::Receiver<bool>,
) {
    let stream = Arc::new(stream);
    let (mut incoming, outgoing) = (stream.as_ref(), stream.clone());
    let (answers, mut waiting) = mpsc::channel::<Vec<u8>>(ANSWERS);
    let writing = tokio::spawn(async move {
        while let Some(line) = waiting.recv().await {
            match tokio::time::timeout(PATIENCE, outgoing.as_ref().write_all(&line)).await {
                Ok(Ok(())) => {}
                _ => return,
            }
        }
    });
    let mut requests = JoinSet::new();
    let mut lines = Lines::default();
    let mut buffer = vec![0; 16 << 10];
    loop {
        let patience = lines.is_within_line().then_some(PATIENCE);
        let read = tokio::select! {
            read = incoming.read(&mut buffer) => read,
            () = tokio::time::sleep(patience.unwrap_or(PATIENCE)), if patience.is_some() => break,
            _ = stopping.wait_for(|stopping| *stopping) => break,
        };
        let Ok(bytes @ 1..) = read else { break };
        lines.push(&buffer[..bytes]);
        while requests.try_join_next().is_some() {}
        let whole = loop {
            match lines.next_line() {
                Ok(Some(line)) if line.trim_ascii().is_empty() => {}
                Ok(Some(line)) => {
                    take_line(&line, peer, &daemon, &answers, &mut requests).await;
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        if let Err(error) = whole {
            let error = Error::new(code::INVALID_REQUEST, error.to_string());
            drop(answers.send(Response::new(Value::Null, Err(error)).to_line()).await);
            break;
        }
    }
    // The caller may have closed its sending side only, and still wait for answers.
    while requests.join_next().await.is_some() {}
    drop(answers);
    drop(writing.await);
}

async fn take_line(
    line: &[u8],
    peer: Peer,
    daemon: &Shared,
    answers: &mpsc::Sender<Vec<u8>>,
    requests: &mut JoinSet<()>,
) {
    let request = match Request::read(line) {
        Ok(request) => request,
        Err(error) => {
            drop(answers.send(Response::new(Value::Null, Err(error)).to_line()).await);
            return;
        }
    };
    let id = request.id.clone();
    if requests.len() >= AT_ONCE {
        let error = Error::new(code::BUSY, "too many requests at once; wait for an answer first");
        if let Some(id) = id {
            drop(answers.send(Response::new(id, Err(error)).to_line()).await);
        }
        return;
    }
    let (daemon, answers) = (daemon.clone(), answers.clone());
    requests.spawn(async move {
        let caller = Caller::new(peer.process, &request.params);
        let outcome = methods::answer(&daemon, &caller, request).await;
        // A notification gets no answer.
        if let Some(id) = id {
            drop(answers.send(Response::new(id, outcome).to_line()).await);
        }
    });
}
