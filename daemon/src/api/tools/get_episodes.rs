//! `get_episodes`.

use graphiti_proto::{
    rpc::{Error, code},
    tools::get_episodes::{EpisodeNode, GetEpisodesAnswer, GetEpisodesArguments, NAME},
};

use super::{Effect, Tool, groups, input, output, store_error, typed};
use crate::{
    api::{
        DaemonState, catch_up,
        client_context::{ClientContext, ReplyBudget, ReplyForm},
    },
    engine::episode,
    model::{Episode, EpisodeId},
};

/// Default and maximum number of episodes in an answer.
const USUAL: usize = 10;
const MOST: usize = 200;
/// Bytes of episodes in a text for a model.
const TEXT: usize = 8_000;

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Latest episodes",
    description: "The latest episodes, one for each finished session, with their whole summaries. Continue with `before` = `next`.",
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
    let given = arguments.group_ids.unwrap_or_default();
    let groups = groups(given.iter().chain(&arguments.group_id));
    let indexed = catch_up::index_pending(daemon, client, groups.clone()).await?;
    let before = match arguments.before.as_deref().map(str::trim).filter(|id| !id.is_empty()) {
        None => None,
        Some(id) => Some(EpisodeId::parse(id).ok_or_else(|| {
            Error::new(code::INVALID_PARAMS, format!("`before` is an episode's id, not `{id}`"))
        })?),
    };
    let most = arguments.max_episodes.or(arguments.last_n).unwrap_or(USUAL).min(MOST);
    let store = daemon.engine.store();
    // One more than requested, to know whether there is a next page.
    let mut episodes = Vec::new();
    if groups.is_empty() {
        episodes = store.newest_episodes(None, before, most + 1).map_err(store_error)?;
    }
    for group in groups {
        let of_group = store.newest_episodes(Some(group), before, most + 1);
        episodes.extend(of_group.map_err(store_error)?);
    }
    episodes.sort_unstable_by_key(|episode| std::cmp::Reverse(episode.id));
    let found = episodes.len();
    let mut nodes: Vec<EpisodeNode> = episodes.iter().take(most).map(node).collect();
    match client.reply_form {
        ReplyForm::Structured => client.reply_budget.fit(&mut nodes),
        ReplyForm::Text => ReplyBudget::Bytes(TEXT).fit(&mut nodes),
    }
    let next = nodes.last().filter(|_| nodes.len() < found).map(|last| last.uuid.clone());
    let message = match (found, indexed.message()) {
        (0, message) if message.is_empty() => "No episodes found".to_owned(),
        (_, message) if message.is_empty() => "Episodes retrieved successfully".to_owned(),
        (_, message) => message,
    };
    Ok(GetEpisodesAnswer { message, episodes: nodes, next, pending: indexed.pending })
}

pub(in crate::api) fn node(episode: &Episode) -> EpisodeNode {
    let session = &episode.session_id;
    let description = match (&episode.external, episode.from()) {
        (Some(told), _) if episode.is_memory() => told.description.clone(),
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
            None => episode::document(episode),
        },
        created_at: episode.created_at.to_string(),
        source: episode
            .external
            .as_ref()
            .map_or_else(|| "text".to_owned(), |content| content.source.clone()),
        source_description: description,
        group_id: episode.project.namespace().to_string(),
    }
}
