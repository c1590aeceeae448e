//! `get_episodes`: returns the latest episodes, page by page.

use graphiti_proto::{
    rpc::Error,
    tools::get_episodes::{EpisodeNode, GetEpisodesAnswer, GetEpisodesArguments, NAME},
};

use super::{Effect, Tool, graph, input, output, store_error, typed};
use crate::{
    api::{
        DaemonState, catch_up,
        client_context::{ClientContext, ReplyBudget, ReplyForm},
        parameters::episode_id,
        projects::newest_episodes,
    },
    engine::episode,
    model::Episode,
};

/// Default number of episodes in an answer.
const DEFAULT_EPISODES: usize = 10;
/// Maximum number of episodes in an answer.
const MAX_EPISODES: usize = 200;
/// Maximum size, in bytes, of the episodes in a text for a model that does not request a number of
/// episodes. An episode that is larger is returned alone.
const TEXT_BYTES: usize = 3_800;
/// Same as [`TEXT_BYTES`], for a model that requests a number of episodes.
const MAX_TEXT_BYTES: usize = 8_000;

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Latest episodes",
    description: "The latest episodes, one for each finished session, with their whole summaries. For the next page, set `before` to the returned `next`.",
    effect: Effect::Reads,
    input: input::<GetEpisodesArguments>,
    output: output::<GetEpisodesAnswer>,
    call: |daemon, client, arguments| {
        Box::pin(typed(arguments, |given| run(daemon, client, given)))
    },
};

async fn run(
    daemon: &DaemonState,
    client: &ClientContext,
    arguments: GetEpisodesArguments,
) -> Result<GetEpisodesAnswer, Error> {
    let given: Vec<String> =
        arguments.group_ids.into_iter().flatten().chain(arguments.group_id).collect();
    let groups = graph::projects(daemon, client, None, &given)?;
    let indexed =
        catch_up::index_pending(daemon, client, groups.clone().unwrap_or_default()).await?;
    let before = arguments.before.as_deref().map(str::trim).filter(|id| !id.is_empty());
    let before = before.map(|id| episode_id("before", id)).transpose()?;
    let requested = arguments.max_episodes.or(arguments.last_n);
    let most = requested.unwrap_or(DEFAULT_EPISODES).min(MAX_EPISODES);
    let store = daemon.engine.store();
    // Reads one episode more than requested, to find out whether there is a next page.
    let episodes = newest_episodes(store.as_ref(), groups.as_deref(), before, most + 1);
    let episodes = episodes.map_err(store_error)?;
    let found = episodes.len();
    let mut nodes: Vec<EpisodeNode> =
        episodes.iter().take(most).map(|episode| node(daemon, episode)).collect();
    match client.reply_form {
        ReplyForm::Structured => client.reply_budget.fit(&mut nodes),
        ReplyForm::Text => ReplyBudget::Bytes(text_bytes(requested)).fit(&mut nodes),
    }
    let next = nodes.last().filter(|_| nodes.len() < found).map(|last| last.uuid.clone());
    let message = match (found, indexed.message()) {
        (0, message) if message.is_empty() => "No episodes found".to_owned(),
        (_, message) if message.is_empty() => "Episodes retrieved successfully".to_owned(),
        (_, message) => message,
    };
    Ok(GetEpisodesAnswer { message, episodes: nodes, next, pending: indexed.pending })
}

fn text_bytes(requested: Option<usize>) -> usize {
    if requested.is_some() { MAX_TEXT_BYTES } else { TEXT_BYTES }
}

pub(in crate::api) fn node(daemon: &DaemonState, episode: &Episode) -> EpisodeNode {
    let session = &episode.session_id;
    let description = match (&episode.external, episode.from()) {
        (Some(content), _) if episode.is_memory() => content.description.clone(),
        (_, None) => format!("{} session {}", session.agent, session.id),
        (_, Some("")) => {
            format!("{} session {}, from another machine", session.agent, session.id)
        }
        (_, Some(from)) => format!("{} session {}, from {from}", session.agent, session.id),
    };
    EpisodeNode {
        uuid: episode.id.to_string(),
        name: episode.name.clone(),
        // The text of a memory is returned unchanged.
        content: match episode.text().filter(|_| episode.is_memory()) {
            Some(text) => text.to_owned(),
            None => episode::document(episode, daemon.includes_paths()),
        },
        created_at: episode.created_at.to_string(),
        source: episode
            .external
            .as_ref()
            .map_or_else(|| "text".to_owned(), |content| content.source.clone()),
        source_description: description,
        group_id: graph::group_id(daemon, episode.project.namespace()),
    }
}
