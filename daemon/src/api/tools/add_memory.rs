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
/// Maximum number of characters before a replaced part that the answer shows.
const CHARS_BEFORE: usize = 40;
/// Maximum number of characters that the answer shows of the stored text.
const SHOWN_CHARS: usize = 120;
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
        name: name.trim().to_owned(),
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
    let redacted = redacted(&arguments, &episode);
    Ok(AddMemoryAnswer {
        message: acknowledgement(&episode, redacted.as_deref()),
        uuid: episode.id.to_string(),
        group_id,
        fact: fact.map(|fact| fact.id.to_string()),
        known_since: known_since.map(|at| at.to_string()),
        contradicts,
        redacted,
    })
}

/// Returns the stored text around the first replaced part of the given texts, if a part was
/// replaced.
fn redacted(given: &AddMemoryArguments, stored: &Episode) -> Option<String> {
    let description = stored.external.as_ref().map(|content| content.description.as_str());
    [
        (&given.episode_body, stored.text()),
        (&given.name, Some(stored.name.as_str())),
        (&given.source_description, description),
    ]
    .into_iter()
    .find_map(|(given, stored)| replaced_part(given.trim(), stored?))
}

/// Returns the text around the first replacement in `stored`; `None` if `given` contains the same
/// text, or if `stored` is only a part of `given`.
fn replaced_part(given: &str, stored: &str) -> Option<String> {
    let same = given.chars().zip(stored.chars()).take_while(|(one, other)| one == other).count();
    let start = same.saturating_sub(CHARS_BEFORE);
    let mut rest = stored.chars().skip(start);
    let shown: String = rest.by_ref().take(SHOWN_CHARS).collect();
    if given.starts_with(stored) || !shown.contains("[REDACTED:") {
        return None;
    }
    let before = if start > 0 { "…" } else { "" };
    let after = if rest.next().is_some() { "…" } else { "" };
    Some(format!("{before}{shown}{after}"))
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

/// Says what was stored, for which projects, and whether a part was replaced.
fn acknowledgement(episode: &Episode, redacted: Option<&str>) -> String {
    let what = match &episode.summary.preferences {
        Some(_) => "a wish for",
        None => "a note about",
    };
    let project = match episode.is_wish_for_all_projects() {
        true => "all projects",
        false => episode.project.path(),
    };
    let note = redacted.map(|text| {
        format!(" A part of the text was replaced, because it looks like a secret: “{text}”.")
    });
    format!("{ADDED} '{}' as {what} {project}.{}", episode.name, note.unwrap_or_default())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_around_a_replaced_part_is_shown() {
        let part = |given: &str, stored: &str| replaced_part(given, stored);
        let mark = "[REDACTED:pin]";
        assert_eq!(
            part("the pin is 4821.", "the pin is [REDACTED:pin]."),
            Some(format!("the pin is {mark}."))
        );
        let long = "many words ".repeat(30);
        let shown =
            part(&format!("{long}pin is 4821 {long}"), &format!("{long}pin is {mark} {long}"));
        let shown = shown.unwrap();
        assert!(shown.starts_with('…') && shown.ends_with('…') && shown.contains(mark), "{shown}");
        assert_eq!(shown.chars().count(), SHOWN_CHARS + 2);
    }

    #[test]
    fn an_unchanged_text_and_a_cut_name_have_no_replaced_part() {
        for (given, stored) in [
            ("use tabs", "use tabs"),
            ("a mark such as [REDACTED:pin]", "a mark such as [REDACTED:pin]"),
            ("[REDACTED:pin] and a long name", "[REDACTED:pin] and a long"),
        ] {
            assert_eq!(replaced_part(given, stored), None, "{given}");
        }
    }
}
