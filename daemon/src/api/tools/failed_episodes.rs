//! `get_failed_episodes`: lists the sessions whose episode could not be created.

use graphiti_proto::{
    rpc::Error,
    tools::failed_episodes::{Failed, FailedEpisodesAnswer, FailedEpisodesArguments, NAME},
};

use super::{Effect, Tool, engine_error, input, output, typed};
use crate::{
    api::{
        DaemonState,
        client_context::ClientContext,
        errors::store_error,
        projects::{is_of_project, listed_projects},
    },
    engine::{redaction, transcript_path},
    model::{
        Project,
        session::{Session, State},
    },
    store::{Store, StoreError},
};

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Failed episodes",
    description: "List sessions whose episode could not be created, with the reason and the time of the next attempt.",
    effect: Effect::Reads,
    input: input::<FailedEpisodesArguments>,
    output: output::<FailedEpisodesAnswer>,
    call: |daemon, client, arguments| {
        Box::pin(typed(arguments, |given| run(daemon, client, given)))
    },
};

async fn run(
    daemon: &DaemonState,
    client: &ClientContext,
    arguments: FailedEpisodesArguments,
) -> Result<FailedEpisodesAnswer, Error> {
    let mut live = daemon.engine.live().await.map_err(engine_error)?;
    let projects = listed_projects(daemon, client, None)?;
    live.retain(|session| is_of_project(session, projects.as_deref()));
    live.sort_by_key(|session| std::cmp::Reverse(session.last_activity));
    let store = daemon.engine.store().as_ref();
    let failed = live.iter().filter_map(|session| failed(store, session).transpose());
    let mut failed: Vec<Failed> = failed.collect::<Result<_, _>>().map_err(store_error)?;
    failed.retain(|failed| arguments.include_permanent || !failed.permanent);
    let count = failed.len();
    failed.truncate(arguments.limit);
    client.reply_budget.fit(&mut failed);
    let message = match count {
        0 => "No session failed.".to_owned(),
        1 => "1 session failed; close it to retry it now.".to_owned(),
        count => format!("{count} sessions failed; close a session to retry it now."),
    };
    Ok(FailedEpisodesAnswer { status: "success".to_owned(), count, failed, message })
}

fn failed(store: &dyn Store, session: &Session) -> Result<Option<Failed>, StoreError> {
    let State::Failed(failure) = &session.state else { return Ok(None) };
    Ok(Some(Failed {
        session_id: session.id.id.clone(),
        project: session.project.as_ref().map(Project::path).unwrap_or_default().to_owned(),
        file_path: redaction::text(&transcript_path(store, session)?).into_owned(),
        error: failure.error.clone(),
        attempts: failure.attempts,
        retry_at: failure.retry_at.map(|at| at.to_string()),
        permanent: failure.retry_at.is_none(),
    }))
}
