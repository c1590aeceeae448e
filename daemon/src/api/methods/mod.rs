//! Answers requests: the methods for the command line and for hooks are here, [`tools`] answers
//! `tools/call`.

mod corrections;
mod files;
mod forget;
pub mod hook;
mod models;
mod sessions;
mod share;
mod stats;
pub mod transfer;

use graphiti_proto::{
    PROTOCOL,
    methods::{self, Close, Settle, Welcome, static_copy::StaticCopyRequest},
    rpc::{Error, Request, code},
};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::{
    api::{
        AdminRequest, DaemonState,
        client_context::ClientContext,
        current,
        errors::{engine_error, resolve_error},
        parameters::{read, write},
        spool, tools,
    },
    model::CloseReason,
};

pub(super) async fn answer(
    daemon: &DaemonState,
    client: &ClientContext,
    request: Request,
) -> Result<Value, Error> {
    match request.method.as_str() {
        "tools/call" => tools::call(daemon, client, request.params).await,
        "ping" => Ok(json!({})),
        methods::HELLO => Ok(welcome(daemon)),
        methods::hook::HOOK => hook::hook(daemon, client, request.params).await,
        methods::hook::HOOKS => Ok(hook::hooks(daemon)),
        methods::CLOSE => close(daemon, client, read(request.params)?).await,
        methods::SETTLE => {
            let Settle { sessions } = read(request.params)?;
            if spool::count(&daemon.home) > 0 {
                // Events in the spool may belong to sessions that are not discovered yet.
                daemon.engine.wait_until_settled(false).await.map_err(engine_error)?;
                spool::process_all(daemon).await;
            }
            daemon.engine.wait_until_settled(sessions).await.map_err(engine_error)?;
            daemon.embedding.wait_until_settled().await;
            Ok(json!({}))
        }
        methods::files::FILES => files::files(daemon).await,
        methods::corrections::CORRECTIONS => {
            corrections::corrections(daemon, read(request.params)?).await
        }
        methods::forget::FORGET => forget::forget(daemon, read(request.params)?).await,
        methods::share::SHARE => share::share(daemon, read(request.params)?).await,
        methods::transfer::EXPORT => transfer::export(daemon, &read(request.params)?),
        methods::transfer::SESSIONS => sessions::sessions(daemon, &read(request.params)?),
        methods::transfer::IMPORT => transfer::import(daemon, read(request.params)?).await,
        methods::models::USAGE => models::usage(daemon, read(request.params)?).await,
        methods::stats::STATS => stats::stats(daemon, read(request.params)?).await,
        methods::models::REACH => models::reach(daemon).await,
        methods::models::TOOLS => models::tools(daemon, read(request.params)?).await,
        methods::models::PROMPTS => models::prompts(daemon, read(request.params)?).await,
        methods::RELOAD => reload(daemon).await,
        methods::view::VIEW => view(daemon).await,
        methods::static_copy::STATIC_COPY => static_copy(daemon, read(request.params)?).await,
        other => Err(Error::new(
            code::NO_METHOD,
            format!("there is no method `{other}`; call tools with `tools/call`"),
        )),
    }
}

fn welcome(daemon: &DaemonState) -> Value {
    write(&Welcome {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        home: daemon.home.display().to_string(),
        capabilities: methods::CAPABILITIES.iter().map(|name| (*name).to_owned()).collect(),
    })
}

async fn close(daemon: &DaemonState, client: &ClientContext, close: Close) -> Result<Value, Error> {
    let session = current::resolve(daemon, close.session_id.as_deref(), client)
        .await
        .map_err(resolve_error)?;
    let reason = CloseReason::from_argument(close.reason.as_deref());
    daemon.engine.close_later(session, reason).await.map_err(engine_error)?;
    Ok(json!({}))
}

async fn reload(daemon: &DaemonState) -> Result<Value, Error> {
    Ok(write(&ask_supervisor(daemon, AdminRequest::Reload).await?))
}

async fn view(daemon: &DaemonState) -> Result<Value, Error> {
    let opened = ask_supervisor(daemon, AdminRequest::View).await?;
    opened.map(|address| write(&address)).map_err(|why| Error::new(code::INTERNAL, why))
}

async fn static_copy(daemon: &DaemonState, request: StaticCopyRequest) -> Result<Value, Error> {
    let request = |reply| AdminRequest::StaticCopy(request, reply);
    ask_supervisor(daemon, request).await?.map(|part| write(&part))
}

async fn ask_supervisor<T>(
    daemon: &DaemonState,
    request: impl FnOnce(oneshot::Sender<T>) -> AdminRequest,
) -> Result<T, Error> {
    let (reply, answer) = oneshot::channel();
    // If sending fails, `answer` fails below.
    let _ = daemon.admin_requests.send(request(reply)).await;
    answer.await.map_err(|_| Error::new(code::STOPPING, "graphitid is stopping"))
}

#[cfg(test)]
mod tests {
    use graphiti_proto::tools::{get_episode_entities, get_session, search_sessions};

    use serde::de::DeserializeOwned;

    use super::*;

    #[test]
    fn an_error_contains_the_wrong_argument() {
        fn error_of<T: DeserializeOwned + Default>(params: Value) -> String {
            read::<T>(params).err().map_or_else(String::new, |error| error.message)
        }
        use search_sessions::SearchSessionsArguments as Search;
        for (params, wanted) in [
            (
                json!({ "query": "x", "limit": "many" }),
                "`limit` must be a whole number, 0 or more, not \"many\"",
            ),
            (json!({ "query": 7, "limit": 1 }), "`query` must be a text, not 7"),
            (json!({ "limit": -1 }), "`limit` must be a whole number, 0 or more, not -1"),
            (json!({ "limit": 1.5 }), "`limit` must be a whole number, 0 or more, not 1.5"),
            (json!({ "explain": "yes" }), "`explain` must be true or false, not \"yes\""),
            (json!({ "project": ["x"] }), "`project` must be a text, not [\"x\"]"),
            (json!("x"), "arguments must be an object"),
            (json!({ "limit": 1 }), ""),
            (Value::Null, ""),
        ] {
            assert_eq!(error_of::<Search>(params), wanted);
        }
        assert_eq!(
            error_of::<get_episode_entities::EpisodeEntitiesArguments>(
                json!({ "episode_uuids": "x" })
            ),
            "`episode_uuids` must be a list, not \"x\""
        );
        assert_eq!(
            error_of::<get_session::GetSessionArguments>(json!({ "from": true })),
            "`from` must be a whole number, 0 or more, not true"
        );
    }
}
