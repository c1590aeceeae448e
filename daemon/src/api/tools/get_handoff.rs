//! `get_handoff`.

use graphiti_proto::{
    rpc::{Error, code},
    tools::{
        SessionRow,
        get_handoff::{
            FailingSuite, GetHandoffAnswer, GetHandoffArguments, HandoffItem, HandoffSession, NAME,
        },
    },
};

use super::{
    Effect, Tool, engine_error, input, output, project_argument, resolve_error, store_error, typed,
};
use crate::{
    api::{DaemonState, catch_up, client_context::ClientContext, convert, current, handoff},
    engine::episode::handoff::{self as built, Handoff},
    model::{Namespace, Project, SessionKey, session::State},
};

/// Maximum number of sessions in a handoff.
const SESSIONS: usize = 20;
/// Maximum characters of the text.
const LONGEST: usize = 20_000;
/// Maximum number of running sessions in the answer.
const ONGOING: usize = 10;

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Handoff",
    description: "What the next agent in this project needs: objective and state of the last sessions, what they decided \
        and left open, failing tests, changed files. Call it at the start of work.",
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
    let place = place(daemon, client, arguments.project.as_deref())?;
    let indexed = catch_up::index_pending(daemon, client, vec![place]).await?;
    let store = daemon.engine.store().as_ref();
    let except = current::client_session(daemon, client).await.map_err(resolve_error)?;
    let sessions = arguments.sessions.min(SESSIONS);
    let found = handoff::of_project(store, place, except, sessions).map_err(store_error)?;
    let text = found.to_text(arguments.max_chars.min(LONGEST)).unwrap_or_default();
    let newest = store.newest_episodes(Some(place), None, 1).map_err(store_error)?;
    let mut answer = answer(found);
    answer.project = newest.first().map(|one| one.project.path().to_owned()).unwrap_or_default();
    answer.project_namespace = place.to_string();
    answer.text = text;
    answer.ongoing = ongoing(daemon, place, except).await?;
    answer.pending = indexed.pending;
    answer.message = match answer.sessions.as_slice() {
        [] if indexed.pending == 0 && sessions > 0 => {
            "No earlier session is known in this project.".to_owned()
        }
        _ => indexed.message(),
    };
    Ok(answer)
}

/// Returns the project: the given one, or that of the nearest known parent of the directory.
fn place(
    daemon: &DaemonState,
    client: &ClientContext,
    given: Option<&str>,
) -> Result<Namespace, Error> {
    let given = given.map(str::trim).filter(|given| !given.is_empty());
    if let Some(namespace) = given.and_then(Namespace::parse) {
        return Ok(namespace);
    }
    let Some(directory) = given.or(client.directory.as_deref()) else {
        let what = "the project cannot be determined: give `project`, a directory";
        return Err(Error::new(code::AMBIGUOUS, what));
    };
    let store = daemon.engine.store().as_ref();
    let known = handoff::project_of(store, directory).map_err(store_error)?;
    let known = known.map(|(project, _)| project.namespace());
    Ok(known.or(project_argument(Some(directory))).unwrap_or_default())
}

async fn ongoing(
    daemon: &DaemonState,
    place: Namespace,
    except: Option<SessionKey>,
) -> Result<Vec<SessionRow>, Error> {
    let mut live = daemon.engine.live().await.map_err(engine_error)?;
    live.retain(|session| {
        let is_here = session.project.as_ref().map(Project::namespace) == Some(place);
        is_here && Some(session.key) != except && matches!(session.state, State::Active)
    });
    live.sort_by_key(|session| std::cmp::Reverse(session.last_activity));
    let store = daemon.engine.store().as_ref();
    let rows = live.iter().take(ONGOING).map(|session| {
        let mut row = convert::session_row(store, session)?;
        row.title = built::line(&row.title);
        if let Some(episode) = &mut row.episode {
            episode.name = built::line(&episode.name);
            episode.branches.iter_mut().for_each(|branch| *branch = built::name(branch));
        }
        Ok(row)
    });
    rows.collect::<Result<_, _>>().map_err(store_error)
}

fn answer(handoff: Handoff) -> GetHandoffAnswer {
    let ids: Vec<String> = handoff.sessions.iter().map(|past| past.session_id.clone()).collect();
    let id = |session: usize| ids.get(session).cloned().unwrap_or_default();
    let told = |list: Vec<built::Told>| -> Vec<HandoffItem> {
        list.into_iter()
            .map(|told| HandoffItem { text: told.text, session_id: id(told.session) })
            .collect()
    };
    let failing = |suite: built::Failing| FailingSuite {
        framework: suite.framework,
        failed: suite.failed,
        total: suite.total,
        names: suite.names,
        session_id: id(suite.session),
    };
    GetHandoffAnswer {
        open_ends: told(handoff.open_ends),
        decisions: told(handoff.decisions),
        errors: told(handoff.errors),
        settings: told(handoff.settings),
        failing_tests: handoff.failing_tests.into_iter().map(failing).collect(),
        files: handoff.files,
        sessions: handoff.sessions.into_iter().map(past).collect(),
        ..GetHandoffAnswer::default()
    }
}

fn past(past: built::Past) -> HandoffSession {
    HandoffSession {
        session_id: past.session_id,
        name: past.name,
        objective: past.objective,
        outcome: past.outcome.as_str().to_owned(),
        ended_at: past.ended_at.to_string(),
        branches: past.branches,
        done: past.done,
    }
}
