//! `add_memory`: stores a note or a preference of the user as an episode.

use graphiti_proto::{
    rpc::{Error, code},
    tools::add_memory::{AddMemoryAnswer, AddMemoryArguments, EarlierWish, NAME},
};

use super::{Effect, Tool, engine_error, graph, input, is_project_id, output, store_error, typed};
use crate::{
    api::{
        DaemonState,
        client_context::ClientContext,
        parameters::episode_id,
        projects::{given_project, is_project_hidden, project_of},
    },
    clock,
    engine::{
        entities::Preference,
        episode::unknown_project,
        imported::{Memory, MemoryKind},
    },
    model::{Episode, EpisodeId, Fact, Namespace, Project, graph::Relation},
    store::StoreError,
};

/// Maximum length, in bytes, of the argument `episode_body`.
const MAX_BODY_BYTES: usize = 256 << 10;
/// Maximum length, in characters, of the argument `name`; the rest is cut off.
const MAX_NAME_CHARS: usize = 200;
/// The start of the acknowledgement.
pub(in crate::api) const ADDED: &str = "Remembered";

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Remember something",
    description: "Remember something that is not in a session: a text, JSON, or a conversation. Searches find it \
        immediately. Sessions are recorded automatically.",
    effect: Effect::Adds,
    input: input::<AddMemoryArguments>,
    output: output::<AddMemoryAnswer>,
    call: |daemon, client, arguments| {
        Box::pin(typed(arguments, |given| run(daemon, client, given)))
    },
};

async fn run(
    daemon: &DaemonState,
    client: &ClientContext,
    arguments: AddMemoryArguments,
) -> Result<AddMemoryAnswer, Error> {
    let AddMemoryArguments { name, episode_body: body, source, source_description, .. } =
        &arguments;
    check(&arguments)?;
    let replaces = replaces(daemon, arguments.uuid.as_deref())?;
    let memory = Memory {
        name: name.trim().chars().take(MAX_NAME_CHARS).collect(),
        body: body.trim().to_owned(),
        source: source.clone(),
        description: source_description.trim().to_owned(),
        project: project(daemon, client, arguments.group_id.as_deref())?,
        replaces,
        kind: kind(&arguments)?,
    };
    // An agent may add a wish to a project, even if the agent may not search this project. Then,
    // the answer must not show whether the project has the wish.
    let is_hidden = is_project_hidden(daemon, client, memory.project.namespace());
    let added = daemon.engine.add_memory(memory, !is_hidden).await;
    let (episode, is_known) = added.map_err(engine_error)?;
    let group_id = graph::group_id(daemon, episode.project.namespace());
    let stated = graph::graph(daemon).of_episode(episode.id).map_err(store_error)?;
    let fact = stated.facts.into_iter().find(|fact| fact.relation == Relation::Prefers);
    let shown = fact.as_ref().filter(|_| !is_hidden);
    let known_since = shown.map(|fact| fact.valid_at);
    let known_since = known_since.filter(|at| is_known || *at < episode.created_at);
    let contradicts = match shown {
        Some(fact) => contradicted(daemon, &episode, fact).map_err(store_error)?,
        None => None,
    };
    Ok(AddMemoryAnswer {
        message: acknowledgement(&episode),
        uuid: episode.id.to_string(),
        group_id,
        fact: fact.map(|fact| fact.id.to_string()),
        known_since: known_since.map(|at| at.to_string()),
        contradicts,
    })
}

/// Returns an earlier wish that the new wish may contradict.
fn contradicted(
    daemon: &DaemonState,
    episode: &Episode,
    wish: &Fact,
) -> Result<Option<EarlierWish>, StoreError> {
    let graph = graph::graph(daemon);
    let projects = daemon.engine.projects().of_namespace(episode.project.namespace());
    let wishes = graph.preferences(&projects, clock::now())?;
    let contradicts = |wish: &Preference| wish.contradicts;
    let earlier = wishes.iter().find(|one| one.fact.id == wish.id).and_then(contradicts);
    let earlier = wishes.iter().find(|one| Some(one.fact.id) == earlier).map(|one| &one.fact);
    Ok(earlier.map(|fact| EarlierWish {
        fact: fact.id.to_string(),
        text: fact.sentence.clone(),
        since: fact.valid_at.to_string(),
    }))
}

/// Says what was stored, and for which projects.
fn acknowledgement(episode: &Episode) -> String {
    let what = match &episode.summary.preferences {
        Some(_) => "a wish for",
        None => "a note about",
    };
    let project = match episode.is_wish_for_all_projects() {
        true => "all projects",
        false => episode.project.path(),
    };
    format!("{ADDED} '{}' as {what} {project}.", episode.name)
}

fn kind(arguments: &AddMemoryArguments) -> Result<MemoryKind, Error> {
    match arguments.kind.as_deref() {
        Some("note") => Ok(MemoryKind::Note),
        Some("preference") | None if arguments.everywhere => Ok(MemoryKind::PreferenceEverywhere),
        Some("preference") => Ok(MemoryKind::Preference),
        None if arguments.source == "text" => Ok(MemoryKind::of(&arguments.episode_body)),
        None => Ok(MemoryKind::Note),
        Some(other) => {
            let what = format!("`kind` must be `note` or `preference`, not `{other}`");
            Err(Error::new(code::INVALID_PARAMS, what))
        }
    }
}

fn check(arguments: &AddMemoryArguments) -> Result<(), Error> {
    let AddMemoryArguments { name, episode_body: body, source, .. } = arguments;
    let wrong = |what: &str| Err(Error::new(code::INVALID_PARAMS, what.to_owned()));
    if name.trim().is_empty() || body.trim().is_empty() {
        return wrong("`name` and `episode_body` must not be empty");
    }
    if body.len() > MAX_BODY_BYTES {
        return wrong("`episode_body` is longer than 256 KiB: add it in parts");
    }
    match source.as_str() {
        "text" | "message" => Ok(()),
        "json" => match serde_json::from_str::<serde_json::Value>(body) {
            Ok(_) => Ok(()),
            Err(error) => wrong(&format!("`episode_body` is not JSON: {error}")),
        },
        other => wrong(&format!("`source` must be `text`, `json` or `message`, not `{other}`")),
    }
}

/// Returns the memory to replace. The episode of a session cannot be replaced, because it is
/// derived from the transcript.
fn replaces(daemon: &DaemonState, given: Option<&str>) -> Result<Option<EpisodeId>, Error> {
    let Some(given) = given.map(str::trim).filter(|given| !given.is_empty()) else {
        return Ok(None);
    };
    let id = episode_id("uuid", given)?;
    match daemon.engine.store().episode(id).map_err(store_error)? {
        Some(episode) if episode.is_memory() => Ok(Some(id)),
        Some(_) => {
            let what = format!("{id} is the episode of a session, and cannot be replaced");
            Err(Error::new(code::INVALID_PARAMS, what))
        }
        None => Err(Error::new(code::NOT_FOUND, format!("there is no episode {id}"))),
    }
}

/// Returns the given project, by directory, remote or known namespace; otherwise the client's
/// project, or `/unknown` if the client reports no directory.
fn project(
    daemon: &DaemonState,
    client: &ClientContext,
    given: Option<&str>,
) -> Result<Project, Error> {
    let given = given.map(str::trim).filter(|given| !given.is_empty() && is_project_id(given));
    let store = daemon.engine.store().as_ref();
    if let Some(namespace) = given.and_then(Namespace::parse) {
        let newest = store.newest_episodes(Some(namespace), None, 1).map_err(store_error)?;
        let known = newest.into_iter().next().map(|episode| episode.project);
        return known.ok_or_else(|| {
            let what =
                format!("no project with the namespace {namespace} is known: give its directory");
            Error::new(code::NOT_FOUND, what)
        });
    }
    if let Some(given) = given {
        return given_project(daemon, client, given);
    }
    let Some(directory) = &client.directory else { return Ok(unknown_project()) };
    Ok(project_of(daemon, directory))
}
