//! `session_tracking_close`: closes a session, and waits until searches find its episode.

use graphiti_proto::{
    rpc::Error,
    tools::close::{CloseAnswer, CloseArguments, NAME},
};

use super::{Effect, Tool, engine_error, input, output, resolve_error, store_error, typed};
use crate::{
    api::{DaemonState, client_context::ClientContext, current},
    engine::{CloseOutcome, Closed},
    model::CloseReason,
};

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Close a session",
    description: "Close and index a session, so that the next agent finds what was decided, fixed and left open. \
        Call it when a task is complete, and before clearing the context or handing over.",
    effect: Effect::Updates,
    input: input::<CloseArguments>,
    output: output::<CloseAnswer>,
    call: |daemon, client, arguments| {
        Box::pin(typed(arguments, |given| run(daemon, client, given)))
    },
};

async fn run(
    daemon: &DaemonState,
    client: &ClientContext,
    arguments: CloseArguments,
) -> Result<CloseAnswer, Error> {
    let key = current::resolve(daemon, arguments.session_id.as_deref(), client)
        .await
        .map_err(resolve_error)?;
    let reason = CloseReason::from_argument(arguments.reason.as_deref());
    client.progress.report(0, 1, || "Indexing the session".to_owned());
    let closed = daemon.engine.close(key, reason).await.map_err(engine_error)?;
    let session = daemon.engine.store().session(key).map_err(store_error)?;
    Ok(answer(&closed, session.map(|session| session.id.id).unwrap_or_default()))
}

fn answer(closed: &Closed, session_id: String) -> CloseAnswer {
    let (action, message) = match closed.how {
        CloseOutcome::Indexed => ("indexed", "The session was indexed."),
        CloseOutcome::Replaced => (
            "replaced",
            "The session has changed since it was last indexed, so its episode was replaced.",
        ),
        CloseOutcome::Unchanged if closed.episode.is_none() => {
            ("unchanged", "The session is unchanged since its episode was deleted.")
        }
        CloseOutcome::Unchanged => {
            ("unchanged", "The session is unchanged since it was last indexed.")
        }
        CloseOutcome::Empty => {
            ("empty", "The session has no messages yet, so there is nothing to index.")
        }
        CloseOutcome::NotWanted => (
            "empty",
            "No episode was created, because `session_tracking.store_in_graph` is false; the text of the \
             session can be searched.",
        ),
    };
    CloseAnswer {
        status: "success".to_owned(),
        session_id,
        episode_uuid: closed.episode.map(|episode| episode.to_string()),
        action: action.to_owned(),
        message: message.to_owned(),
    }
}
