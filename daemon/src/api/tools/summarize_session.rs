//! `summarize_session`: closes a session, and returns its summary as an overview with lists.

use graphiti_proto::{
    rpc::{Error, code},
    tools::summarize_session::{NAME, SummarizeSessionAnswer, SummarizeSessionArguments},
};

use super::{Effect, Tool, engine_error, input, output, resolve_error, store_error, typed};
use crate::{
    api::{
        DaemonState,
        client_context::ClientContext,
        current,
        projects::{client_argument, hidden, is_hidden, is_of_project},
    },
    engine::episode,
    model::CloseReason,
};

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Summarise a session",
    description: "Summarise and archive a session: overview, topics, decisions, code references and key points. The \
        session is closed, as by session_tracking_close.",
    effect: Effect::Updates,
    input: input::<SummarizeSessionArguments>,
    output: output::<SummarizeSessionAnswer>,
    call: |daemon, client, arguments| {
        Box::pin(typed(arguments, |given| run(daemon, client, given)))
    },
};

async fn run(
    daemon: &DaemonState,
    client: &ClientContext,
    arguments: SummarizeSessionArguments,
) -> Result<SummarizeSessionAnswer, Error> {
    let key = current::resolve(daemon, arguments.session.as_deref(), client)
        .await
        .map_err(resolve_error)?;
    let store = daemon.engine.store();
    let session = store.session(key).map_err(store_error)?;
    let session =
        session.ok_or_else(|| Error::new(code::NOT_FOUND, "the session was just forgotten"))?;
    if is_hidden(daemon, client, &session) {
        return Err(hidden());
    }
    let project = client_argument(daemon, client, arguments.project.as_deref())?;
    if !is_of_project(&session, project.as_deref()) {
        let what = format!("session {} belongs to another project", session.id);
        return Err(Error::new(code::NOT_FOUND, what));
    }
    client.progress.report(0, 1, || "Indexing the session".to_owned());
    let reason = CloseReason::Explicit(None);
    let closed = daemon.engine.close(key, reason).await.map_err(engine_error)?;
    let mut answer = SummarizeSessionAnswer {
        status: "success".to_owned(),
        session_id: session.id.id,
        episode_uuid: closed.episode.map(|episode| episode.to_string()),
        overview: "The session has no episode.".to_owned(),
        ..SummarizeSessionAnswer::default()
    };
    let episode = match closed.episode {
        Some(id) => store.episode(id).map_err(store_error)?,
        None => None,
    };
    if let Some(episode) = episode {
        let summary = episode::conversation(&episode);
        answer.overview = summary.overview;
        answer.topics = summary.topics;
        answer.decisions = summary.decisions;
        answer.code_references = summary.code_references;
        answer.key_points = summary.key_points;
    }
    Ok(answer)
}
