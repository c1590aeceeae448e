//! `get_episode_entities`: returns the entities and facts of episodes.

use graphiti_proto::{
    rpc::{Error, code},
    tools::get_episode_entities::{EpisodeEntitiesAnswer, EpisodeEntitiesArguments, NAME},
};

use super::{Effect, Tool, graph, input, output, store_error, typed};
use crate::{
    api::{
        DaemonState,
        client_context::ClientContext,
        projects::{hidden, is_project_hidden},
    },
    model::EpisodeId,
};

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Show the entities and facts of episodes",
    description: "Show the entities that episodes mention and the facts that they state. Needs the uuids of the episodes.",
    effect: Effect::Reads,
    input: input::<EpisodeEntitiesArguments>,
    output: output::<EpisodeEntitiesAnswer>,
    call: |daemon, client, arguments| {
        Box::pin(typed(arguments, |given| run(daemon, client, given)))
    },
};

async fn run(
    daemon: &DaemonState,
    client: &ClientContext,
    arguments: EpisodeEntitiesArguments,
) -> Result<EpisodeEntitiesAnswer, Error> {
    let graph = graph::graph(daemon);
    let mut answer = EpisodeEntitiesAnswer::default();
    let mut missing = Vec::new();
    for uuid in &arguments.episode_uuids {
        let wrong =
            || Error::new(code::INVALID_PARAMS, format!("`{uuid}` is not the id of an episode"));
        let id = EpisodeId::parse(uuid).ok_or_else(wrong)?;
        let Some(episode) = daemon.engine.store().episode(id).map_err(store_error)? else {
            missing.push(uuid.as_str());
            continue;
        };
        if is_project_hidden(daemon, client, episode.project.namespace()) {
            return Err(hidden());
        }
        let stated = graph.of_episode(id).map_err(store_error)?;
        for entity in &stated.entities {
            let row = graph::node_row(daemon, entity)?;
            if !answer.nodes.iter().any(|known| known.uuid == row.uuid) {
                answer.nodes.push(row);
            }
        }
        for fact in &stated.facts {
            let row = graph::fact_row(daemon, fact)?;
            if !answer.facts.iter().any(|known| known.uuid == row.uuid) {
                answer.facts.push(row);
            }
        }
    }
    if !missing.is_empty() {
        answer.message = format!("there is no episode {}", missing.join(", "));
    }
    Ok(answer)
}
