//! What a request may ask for by its method.

mod files;
mod forget;
pub mod hook;
mod models;
mod transfer;

use graphiti_proto::{
    PROTOCOL,
    methods::{self, Close, Reloaded, Settle, Welcome},
    rpc::{Error, Request, code},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::{
    api::{Administration, Daemon, caller::Caller, current, spool, tools},
    model::CloseReason,
};

/// Answers one request.
pub(super) async fn answer(
    daemon: &Daemon,
    caller: &Caller,
    request: Request,
) -> Result<Value, Error> {
    match request.method.as_str() {
        "tools/call" => tools::call(daemon, caller, request.params).await,
        "ping" => Ok(json!({})),
        methods::HELLO => Ok(welcome(daemon)),
        methods::hook::HOOK => hook::hook(daemon, caller, request.params).await,
        methods::hook::HOOKS => Ok(hook::hooks(daemon)),
        methods::CLOSE => close(daemon, caller, read(request.params)?).await,
        methods::SETTLE => {
            let Settle { sessions } = read(request.params)?;
            if spool::count(&daemon.home) > 0 {
                // The sessions that these events are about may have to be found first.
                daemon.engine.settled(false).await.map_err(tools::engine_error)?;
                spool::take_all(daemon).await;
            }
            daemon.engine.settled(sessions).await.map_err(tools::engine_error)?;
            daemon.embedding.settled().await;
            Ok(json!({}))
        }
        methods::files::FILES => files::files(daemon).await,
        methods::forget::FORGET => forget::forget(daemon, read(request.params)?).await,
        methods::transfer::EXPORT => transfer::export(daemon, &read(request.params)?),
        methods::transfer::IMPORT => transfer::import(daemon, read(request.params)?).await,
        methods::models::USAGE => models::usage(daemon, read(request.params)?).await,
        methods::models::REACH => models::reach(daemon).await,
        methods::models::TOOLS => models::tools(daemon, read(request.params)?).await,
        methods::models::PROMPTS => models::prompts(daemon, read(request.params)?).await,
        methods::RELOAD => reload(daemon).await,
        methods::STOP => {
            drop(daemon.administration.send(Administration::Stop).await);
            Ok(json!({}))
        }
        other => Err(Error::new(
            code::NO_METHOD,
            format!("there is no method `{other}`; tools are asked for by `tools/call`"),
        )),
    }
}

fn welcome(daemon: &Daemon) -> Value {
    write(&Welcome {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        home: daemon.home.display().to_string(),
    })
}

async fn close(daemon: &Daemon, caller: &Caller, close: Close) -> Result<Value, Error> {
    let session = current::resolve(daemon, close.session_id.as_deref(), caller)
        .await
        .map_err(tools::unclear_error)?;
    let reason = CloseReason::from_argument(close.reason.as_deref());
    daemon.engine.close_later(session, reason).await.map_err(tools::engine_error)?;
    Ok(json!({}))
}

async fn reload(daemon: &Daemon) -> Result<Value, Error> {
    let (reply, reloaded) = oneshot::channel();
    drop(daemon.administration.send(Administration::Reload(reply)).await);
    let stopping = |_| Error::new(code::STOPPING, "graphitid is stopping");
    let reloaded: Reloaded = reloaded.await.map_err(stopping)?;
    Ok(write(&reloaded))
}

/// Reads the parameters of a method or the arguments of a tool.
pub(super) fn read<T: DeserializeOwned + Default>(params: Value) -> Result<T, Error> {
    match params {
        Value::Null => Ok(T::default()),
        params => serde_json::from_value(params)
            .map_err(|error| Error::new(code::INVALID_PARAMS, format!("wrong arguments: {error}"))),
    }
}

/// Turns an answer into what is sent.
pub(super) fn write<T: Serialize>(answer: &T) -> Value {
    serde_json::to_value(answer).expect("answers have only string keys")
}
