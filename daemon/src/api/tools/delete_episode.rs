//! `delete_episode`: deletes an episode. If no transcript of the session was read on this machine,
//! for example because the episode was imported, also deletes the session.

use graphiti_proto::{
    rpc::{Error, code},
    tools::delete_episode::{DeleteEpisodeAnswer, DeleteEpisodeArguments, NAME},
};

use super::{Effect, Tool, input, output, store_error, typed};
use crate::{
    api::{
        DaemonState,
        client_context::ClientContext,
        parameters::episode_id,
        projects::{hidden, is_project_hidden},
    },
    engine::sharing,
    store::Write,
};

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Delete an episode",
    description: "Delete one episode for good. The session's messages stay searchable; the session gets a new \
        episode only when it continues and is closed again.",
    effect: Effect::Removes,
    input: input::<DeleteEpisodeArguments>,
    output: output::<DeleteEpisodeAnswer>,
    call: |daemon, client, arguments| {
        Box::pin(typed(arguments, |given| run(daemon, client, given)))
    },
};

async fn run(
    daemon: &DaemonState,
    client: &ClientContext,
    arguments: DeleteEpisodeArguments,
) -> Result<DeleteEpisodeAnswer, Error> {
    let id = episode_id("uuid", arguments.uuid.trim())?;
    let store = daemon.engine.store();
    let Some(episode) = store.episode(id).map_err(store_error)? else {
        return Err(Error::new(code::NOT_FOUND, format!("there is no episode {id}")));
    };
    if is_project_hidden(daemon, client, episode.project.namespace()) {
        return Err(hidden());
    }
    // If no transcript of the session was read on this machine, the session has no data except the
    // episode.
    let is_all = store.sources_of(episode.session).map_err(store_error)?.is_empty();
    let gone = if is_all { Write::DropSession(episode.session) } else { Write::DropEpisode(id) };
    let shared = sharing::deletion(episode.session);
    let position = store.write(vec![gone, shared]).done().await.map_err(store_error)?;
    daemon.sharing.note_deletion(episode.session);
    daemon.recall.clear();
    // The episode is deleted, even if the search index still contains it.
    let _ = daemon.engine.wait_until_searchable(position).await;
    Ok(DeleteEpisodeAnswer { message: format!("Episode with UUID {id} deleted successfully") })
}
