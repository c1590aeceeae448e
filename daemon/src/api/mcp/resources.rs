//! Serves episodes as resources, in Markdown, at `graphiti://episode/<uuid>`.

use rmcp::{
    ErrorData,
    model::{
        ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
    },
};

use crate::{
    api::{
        DaemonState,
        client_context::ClientContext,
        projects::{hidden, is_project_hidden, newest_episodes, visible_projects},
    },
    engine::episode,
    model::{Episode, EpisodeId},
    store::StoreError,
};

/// Maximum number of episodes on a page.
const PAGE: usize = 50;
const SCHEME: &str = "graphiti://episode/";
const MARKDOWN: &str = "text/markdown";

/// Returns a page of episodes, the latest first; `cursor` is the id of the last episode of the
/// previous page.
pub(super) fn list(
    daemon: &DaemonState,
    client: &ClientContext,
    cursor: Option<String>,
) -> Result<ListResourcesResult, ErrorData> {
    let before = match cursor {
        None => None,
        Some(cursor) => Some(EpisodeId::parse(&cursor).ok_or_else(|| {
            ErrorData::invalid_params(format!("`{cursor}` is not the cursor of a page"), None)
        })?),
    };
    let store = daemon.engine.store();
    // Reads one episode more than a page has, to find out whether there is another page.
    let projects = visible_projects(daemon, client);
    let episodes = newest_episodes(store.as_ref(), projects.as_deref(), before, PAGE + 1);
    let mut episodes = episodes.map_err(|error| failed(&error))?;
    let has_more = episodes.len() > PAGE;
    episodes.truncate(PAGE);
    let mut page = ListResourcesResult::with_all_items(
        episodes.iter().map(|episode| resource(daemon, episode)).collect(),
    );
    page.next_cursor = episodes.last().filter(|_| has_more).map(|episode| episode.id.to_string());
    Ok(page)
}

pub(super) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{SCHEME}{{uuid}}"), "episode")
            .with_title("An episode")
            .with_description("The summary of one finished session, by its episode's id")
            .with_mime_type(MARKDOWN),
    ]
}

pub(super) fn read(
    daemon: &DaemonState,
    client: &ClientContext,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let id = uri.strip_prefix(SCHEME).and_then(EpisodeId::parse);
    let episode = match id {
        Some(id) => daemon.engine.store().episode(id).map_err(|error| failed(&error))?,
        None => None,
    };
    let Some(episode) = episode else {
        let what = format!("there is no {uri}; addresses are {SCHEME}<uuid>");
        return Err(ErrorData::resource_not_found(what, None));
    };
    if is_project_hidden(daemon, client, episode.project.namespace()) {
        return Err(ErrorData::resource_not_found(hidden().message, None));
    }
    let text = episode::document(&episode, daemon.includes_paths());
    let contents = ResourceContents::text(text, uri).with_mime_type(MARKDOWN);
    Ok(ReadResourceResult::new(vec![contents]))
}

fn resource(daemon: &DaemonState, episode: &Episode) -> Resource {
    let project = match daemon.includes_paths() {
        true => episode.project.path().to_owned(),
        false => episode.project.namespace().to_string(),
    };
    let outcome = episode.summary.outcome.as_str().replace('_', " ");
    Resource::new(format!("{SCHEME}{}", episode.id), episode.name.clone())
        .with_title(episode.name.clone())
        .with_description(format!("{project}, {outcome}, ended {}", episode.ended_at))
        .with_mime_type(MARKDOWN)
}

fn failed(error: &StoreError) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
