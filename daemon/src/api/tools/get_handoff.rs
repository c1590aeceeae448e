//! `get_handoff`: returns the information that the next agent in a project needs.

use graphiti_proto::{
    rpc::{Error, code},
    tools::get_handoff::{
        FailingSuite, GetHandoffAnswer, GetHandoffArguments, HandoffItem, HandoffSession, NAME,
    },
};

use super::{Effect, Tool, engine_error, input, output, resolve_error, store_error, typed};
use crate::{
    api::{
        DaemonState, catch_up,
        client_context::ClientContext,
        current,
        handoff::{self, HandoffScope},
        ongoing,
        projects::{newest_episodes, of_directory, searched_projects},
        team_handoff,
    },
    engine::episode::handoff::{self as built, Handoff},
    model::{Namespace, Project},
};

/// Maximum number of sessions in a handoff.
const MAX_SESSIONS: usize = 20;
/// Maximum length, in characters, of the text.
const MAX_TEXT_CHARS: usize = 20_000;

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Handoff",
    description: "What the next agent in this project needs: how the last session ended, the user's wishes, the \
        repository's state, what is open and decided, failing tests. Call it at the start of work.",
    effect: Effect::Reads,
    input: input::<GetHandoffArguments>,
    output: output::<GetHandoffAnswer>,
    call: |daemon, client, arguments| {
        Box::pin(typed(arguments, |given| run(daemon, client, given)))
    },
};

async fn run(
    daemon: &DaemonState,
    client: &ClientContext,
    arguments: GetHandoffArguments,
) -> Result<GetHandoffAnswer, Error> {
    let projects = projects(daemon, client, arguments.project.as_deref())?;
    let indexed = catch_up::index_pending(daemon, client, projects.clone()).await?;
    let store = daemon.engine.store().as_ref();
    let except = current::client_session(daemon, client).await.map_err(resolve_error)?;
    let sessions = arguments.sessions.min(MAX_SESSIONS);
    let scope = HandoffScope { projects: &projects, except, sessions };
    let found = handoff::of_project(store, &scope).map_err(store_error)?;
    let text = found.to_text(arguments.max_chars.min(MAX_TEXT_CHARS)).unwrap_or_default();
    let has_text = !text.is_empty() || found.to_text(MAX_TEXT_CHARS).is_some();
    let newest = newest_episodes(store, Some(&projects), None, 1).map_err(store_error)?;
    let newest = newest.first().map(|episode| &episode.project);
    let namespace = newest.map(Project::namespace).or(projects.first().copied());
    let mut answer = answer(found);
    answer.project = newest.map(|project| project.path().to_owned()).unwrap_or_default();
    answer.project_namespace = namespace.unwrap_or_default().to_string();
    answer.text = text;
    let hooks = daemon.hooks();
    if hooks.team_handoff {
        let left =
            arguments.max_chars.min(MAX_TEXT_CHARS).saturating_sub(answer.text.chars().count());
        if let Some(team) = team_handoff::text(&daemon.sharing, &projects, left).await {
            let gap = if answer.text.is_empty() { "" } else { "\n\n" };
            answer.text.push_str(&format!("{gap}{team}"));
        }
    }
    let running =
        ongoing::sessions(&daemon.engine, &projects, except).await.map_err(engine_error)?;
    answer.ongoing = ongoing::describe(store, &running).map_err(store_error)?;
    answer.pending = indexed.pending;
    answer.message = match answer.sessions.as_slice() {
        [] if indexed.pending == 0 && sessions > 0 && answer.text.is_empty() => {
            let unread = catch_up::unread(daemon).await.unwrap_or_default();
            format!("No earlier session is known in this project. {unread}").trim_end().to_owned()
        }
        _ if answer.text.is_empty() && has_text => format!(
            "The handoff does not fit into `max_chars` {}: give a higher number, such as {}. {}",
            arguments.max_chars,
            GetHandoffArguments::default().max_chars,
            indexed.message()
        )
        .trim_end()
        .to_owned(),
        _ => indexed.message(),
    };
    Ok(answer)
}

/// Returns the directories of the given project, or of the client's project.
fn projects(
    daemon: &DaemonState,
    client: &ClientContext,
    given: Option<&str>,
) -> Result<Vec<Namespace>, Error> {
    if given.is_some_and(|given| !given.trim().is_empty())
        && let Some(given) = searched_projects(daemon, client, given)?
    {
        return Ok(given);
    }
    let Some(directory) = client.directory.as_deref() else {
        let what = "the project cannot be determined: give `project`, a directory";
        return Err(Error::new(code::AMBIGUOUS, what));
    };
    Ok(of_directory(daemon, directory))
}

fn answer(handoff: Handoff) -> GetHandoffAnswer {
    let ids: Vec<String> = handoff.sessions.iter().map(|past| past.session_id.clone()).collect();
    let id = |session: usize| ids.get(session).cloned().unwrap_or_default();
    let items = |list: Vec<built::SessionLine>| -> Vec<HandoffItem> {
        list.into_iter()
            .map(|line| HandoffItem { text: line.text, session_id: id(line.session) })
            .collect()
    };
    let failing = |suite: built::FailedSuite| FailingSuite {
        framework: suite.framework,
        failed: suite.failed,
        total: suite.total,
        names: suite.names,
        session_id: id(suite.session),
    };
    GetHandoffAnswer {
        open_ends: items(handoff.open_ends),
        repository: items(handoff.repository),
        preferences: handoff.preferences,
        decisions: items(handoff.decisions),
        errors: items(handoff.errors),
        settings: items(handoff.settings),
        failing_tests: handoff.failing_tests.into_iter().map(failing).collect(),
        files: handoff.files,
        sessions: handoff.sessions.into_iter().map(past).collect(),
        ..GetHandoffAnswer::default()
    }
}

fn past(past: built::EndedSession) -> HandoffSession {
    HandoffSession {
        session_id: past.session_id,
        name: past.name,
        objective: past.objective,
        outcome: past.outcome.as_str().to_owned(),
        reason: past.reason,
        last_words: past.last_words,
        ended_at: past.ended_at.to_string(),
        branches: past.branches,
        done: past.done,
    }
}
