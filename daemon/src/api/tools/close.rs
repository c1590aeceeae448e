//! `session_tracking_close`: closes a session, and waits until searches find its episode.

use graphiti_proto::{
    rpc::Error,
    tools::close::{CloseAnswer, CloseArguments, NAME},
};

use super::{Effect, Tool, engine_error, input, output, resolve_error, store_error, typed};
use crate::{
    api::{
        DaemonState,
        client_context::ClientContext,
        current,
        projects::{hidden, is_hidden},
    },
    engine::{CloseOutcome, Closed},
    model::{CloseReason, Episode, episode::Author},
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
    let store = daemon.engine.store();
    let session = store.session(key).map_err(store_error)?;
    let is_given = arguments.session_id.as_ref().is_some_and(|given| !given.trim().is_empty());
    if is_given && session.is_some_and(|session| is_hidden(daemon, client, &session)) {
        return Err(hidden());
    }
    let reason = CloseReason::from_argument(arguments.reason.as_deref());
    client.progress.report(0, 1, || "Indexing the session".to_owned());
    let before = store.stored_episode_of(key).map_err(store_error)?;
    let closed = match arguments.again {
        true => daemon.engine.close_again(key).await,
        false => daemon.engine.close(key, reason).await,
    };
    let closed = closed.map_err(engine_error)?;
    let session = store.session(key).map_err(store_error)?;
    let mut answer = answer(&closed, session.map(|session| session.id.id).unwrap_or_default());
    if closed.how == CloseOutcome::Unchanged
        && let Some(episode) = closed.episode
        && let Some(episode) = store.episode(episode).map_err(store_error)?
    {
        let summarizer = daemon.engine.summarizer().await.map_err(engine_error)?;
        let is_new = before.is_some_and(|before| before.author != episode.author);
        answer.message.push_str(match is_new {
            true => " The model has written its summary now.",
            false => hint(&episode, summarizer.writes_summaries()),
        });
    }
    Ok(answer)
}

/// Returns what can be done about an unchanged session.
fn hint(episode: &Episode, has_model: bool) -> &'static str {
    match episode.author {
        _ if episode.external.is_some() => "",
        Author::Evidence if has_model => {
            " The model was asked for its summary, and has not written it yet; `graphiti status` \
             shows why."
        }
        Author::Evidence | Author::Model(_) => {
            " With --again, its summary is created again, by the present settings."
        }
    }
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
