//! `summarize_session` (conversation-summarization).

use graphiti_proto::{
    rpc::{Error, code},
    tools::summarize_session::{Answer, Arguments, NAME},
};

use super::{
    Effect, Tool, engine_error, input, is_of_project, output, project_argument, store_error, typed,
    unclear_error,
};
use crate::{
    api::{Daemon, caller::Caller, current},
    engine::episode,
    model::CloseReason,
};

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Summarise a session",
    description: "Summarise and archive a session: overview, topics, decisions, code references and key points. It is \
        closed as by session_tracking_close.",
    effect: Effect::Updates,
    input: input::<Arguments>,
    output: output::<Answer>,
    call: |daemon, caller, arguments| {
        Box::pin(typed(arguments, |given| run(daemon, caller, given)))
    },
};

async fn run(daemon: &Daemon, caller: &Caller, arguments: Arguments) -> Result<Answer, Error> {
    let key = current::resolve(daemon, arguments.session.as_deref(), caller)
        .await
        .map_err(unclear_error)?;
    caller.progress.tell(0, 1, || "Indexing the session".to_owned());
    let reason = CloseReason::Explicit(None);
    let closed = daemon.engine.close(key, reason).await.map_err(engine_error)?;
    let store = daemon.engine.store();
    let session = store.session(key).map_err(store_error)?;
    let session = session.ok_or_else(|| Error::new(code::NOT_FOUND, "it was just forgotten"))?;
    if !is_of_project(&session, project_argument(arguments.project.as_deref())) {
        let what = format!("session {} is of another project", session.id);
        return Err(Error::new(code::NOT_FOUND, what));
    }
    let mut answer = Answer {
        status: "success".to_owned(),
        session_id: session.id.id,
        episode_uuid: closed.episode.map(|episode| episode.to_string()),
        overview: "The session says nothing yet.".to_owned(),
        ..Answer::default()
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
