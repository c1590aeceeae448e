//! Queries the sessions and facts of the team, and merges them into the rows of this machine.

use std::sync::Arc;

use graphiti_proto::{
    rpc::{Error, code},
    tools::{
        EpisodeRow, SessionRow, TeamOrigin,
        graph::FactRow,
        search_sessions::{Hit, MatchedPassage, SearchSessionsArguments},
    },
};
use tokio::task::JoinHandle;

use super::store_error;
use crate::{
    api::{DaemonState, blocking},
    engine::sharing::team::{TeamAnswer, TeamAuthor, TeamEpisode, TeamFact, TeamGroup},
    model::Namespace,
    search::{
        index::EpisodeField,
        query::Query,
        rank::{MergedPlace, merge},
        snippet::Snippet,
    },
    store::{Store, StoreError},
};

/// Maximum number of episodes that are fetched per shared project.
const MAX_EPISODES: usize = 20;
/// Length, in characters, of the short id of a session.
const SHORT_ID: usize = 8;

/// A running query of the team's memory. This machine searches at the same time.
pub(super) type TeamQuery<T> = JoinHandle<TeamAnswer<T>>;

/// Whether the argument `scope` includes the team's memory.
pub(super) fn is_wanted(scope: Option<&str>) -> Result<bool, Error> {
    match scope.map(str::trim) {
        None | Some("" | "mine") => Ok(false),
        Some("team") => Ok(true),
        Some(other) => {
            let what = format!("`scope` must be `mine` or `team`, not `{other}`");
            Err(Error::new(code::INVALID_PARAMS, what))
        }
    }
}

/// A query of the sessions of the team.
pub(super) enum SessionQuery {
    Running(TeamQuery<TeamEpisode>),
    /// The query is not possible. Contains the reason, as a sentence.
    Unsupported(String),
}

/// Starts a query of the sessions of the team; `None` when the request does not include the team.
pub(super) fn ask_sessions(
    daemon: &DaemonState,
    arguments: &SearchSessionsArguments,
    projects: Option<&[Namespace]>,
    query: &Query,
) -> Result<Option<SessionQuery>, Error> {
    if !is_wanted(arguments.scope.as_deref())? {
        return Ok(None);
    }
    if let Some(problem) = unsupported_filter(arguments) {
        return Ok(Some(SessionQuery::Unsupported(problem)));
    }
    let sharing = Arc::clone(&daemon.sharing);
    let (groups, text) = (sharing.team_groups(projects), query.text_for_embedding().to_owned());
    let asked = tokio::spawn(sharing.team_episodes(groups, text, MAX_EPISODES));
    Ok(Some(SessionQuery::Running(asked)))
}

impl SessionQuery {
    /// Merges the answer into the hits. Adds a sentence to the message if the team's sessions are
    /// missing or incomplete.
    pub(super) async fn merged(
        self,
        daemon: &DaemonState,
        query: &Query,
        hits: Vec<Hit>,
        snippet: &(dyn Fn(&str) -> Snippet + Sync),
        message: &mut String,
    ) -> Result<Vec<Hit>, Error> {
        match self {
            SessionQuery::Running(asked) => {
                let episodes = answered(asked, message).await;
                merge_sessions(daemon, query, hits, episodes, snippet)
            }
            SessionQuery::Unsupported(problem) => {
                add_sentence(message, &problem);
                Ok(hits)
            }
        }
    }
}

/// Starts a query of the facts of the team.
pub(super) fn ask_facts(
    daemon: &DaemonState,
    projects: Option<&[Namespace]>,
    query: &Query,
) -> TeamQuery<TeamFact> {
    let sharing = Arc::clone(&daemon.sharing);
    let (groups, text) = (sharing.team_groups(projects), query.text_for_embedding().to_owned());
    tokio::spawn(sharing.team_facts(groups, text))
}

/// Waits for the answer. The query has its own time limit. If the answer has a problem, adds the
/// problem to `message`.
pub(super) async fn answered<T>(asked: TeamQuery<T>, message: &mut String) -> Vec<T> {
    let (rows, problem) = match asked.await {
        Ok(TeamAnswer { rows, problem }) => (rows, problem),
        Err(error) => (Vec::new(), Some(format!("The team's memory could not be read: {error}."))),
    };
    if let Some(problem) = problem {
        add_sentence(message, &problem);
    }
    rows
}

fn add_sentence(message: &mut String, sentence: &str) {
    let space = if message.is_empty() { "" } else { " " };
    message.push_str(&format!("{space}{sentence}"));
}

/// Merges the sessions of the team into the hits, by one common ranking.
fn merge_sessions(
    daemon: &DaemonState,
    query: &Query,
    hits: Vec<Hit>,
    mut episodes: Vec<TeamEpisode>,
    snippet: &dyn Fn(&str) -> Snippet,
) -> Result<Vec<Hit>, Error> {
    episodes.retain(|one| query.admits_session(&one.agent, &one.project.name, one.at));
    let store = daemon.engine.store().as_ref();
    let texts: Result<Vec<String>, StoreError> =
        blocking::read(|| hits.iter().map(|hit| text_of_hit(store, hit)).collect());
    let own = texts.map_err(store_error)?;
    let other: Vec<String> =
        episodes.iter().map(|one| format!("{}\n{}", one.name, one.content)).collect();
    let mut hits: Vec<Option<Hit>> = hits.into_iter().map(Some).collect();
    let merged = merge(query, &own, &other).into_iter().filter_map(|place| match place {
        MergedPlace::Own(at) => hits[at].take(),
        MergedPlace::Other(at) => Some(hit(&episodes[at], snippet)),
    });
    Ok(merged.collect())
}

/// Merges the facts of the team into the rows, by one common ranking.
pub(super) fn merge_facts(query: &Query, rows: Vec<FactRow>, facts: &[TeamFact]) -> Vec<FactRow> {
    let text = |row: &FactRow| format!("{} {} {}", row.fact, row.source_name, row.target_name);
    let others: Vec<FactRow> = facts.iter().map(fact_row).collect();
    let own: Vec<String> = rows.iter().map(text).collect();
    let other: Vec<String> = others.iter().map(text).collect();
    let mut rows: Vec<Option<FactRow>> = rows.into_iter().map(Some).collect();
    let mut others: Vec<Option<FactRow>> = others.into_iter().map(Some).collect();
    let merged = merge(query, &own, &other).into_iter().filter_map(|place| match place {
        MergedPlace::Own(at) => rows[at].take(),
        MergedPlace::Other(at) => others[at].take(),
    });
    merged.collect()
}

/// Returns the title, the passages and the summary of a session of this machine.
fn text_of_hit(store: &dyn Store, hit: &Hit) -> Result<String, StoreError> {
    let mut text = hit.session.title.clone();
    let mut add = |more: &str| {
        text.push('\n');
        text.push_str(more);
    };
    hit.passages.iter().for_each(|passage| add(&passage.text));
    let id = hit.session.episode.as_ref().map(|episode| &episode.uuid);
    let id = id.and_then(|id| crate::model::EpisodeId::parse(id));
    if let Some(episode) = id.map(|id| store.episode(id)).transpose()?.flatten() {
        EpisodeField::all_of(&episode).iter().for_each(|field| add(&field.text));
    }
    Ok(text)
}

fn hit(episode: &TeamEpisode, snippet: &dyn Fn(&str) -> Snippet) -> Hit {
    let Snippet { text, marks } = snippet(&episode.content);
    let passage = MatchedPassage {
        role: "body".to_owned(),
        at: episode.at.to_string(),
        text,
        marks: marks.into_iter().map(|mark| (mark.start, mark.end)).collect(),
        ..MatchedPassage::default()
    };
    let row = EpisodeRow {
        uuid: episode.id.clone(),
        name: episode.name.clone(),
        created_at: episode.at.to_string(),
        ..EpisodeRow::default()
    };
    let session = SessionRow {
        session_id: episode.session_id.clone(),
        short_id: episode.session_id.chars().take(SHORT_ID).collect(),
        agent: episode.agent.clone(),
        project: episode.project.name.clone(),
        title: episode.name.clone(),
        state: "indexed".to_owned(),
        last_activity: episode.at.to_string(),
        episode: Some(row),
        ..SessionRow::default()
    };
    let team = Some(origin(&episode.author, &episode.project));
    Hit { session, passages: vec![passage], team, ..Hit::default() }
}

fn fact_row(of: &TeamFact) -> FactRow {
    let fact = &of.fact;
    FactRow {
        uuid: fact.id.clone(),
        group_id: of.project.group.clone(),
        source_node_uuid: fact.source.id.clone(),
        target_node_uuid: fact.target.id.clone(),
        source_name: fact.source.name.clone(),
        target_name: fact.target.name.clone(),
        name: fact.relation.clone(),
        fact: fact.sentence.clone(),
        episodes: fact.episodes.clone(),
        created_at: fact.created_at.to_string(),
        valid_at: fact.valid_at.to_string(),
        invalid_at: fact.invalid_at.map(|at| at.to_string()),
        expired_at: fact.expired_at.map(|at| at.to_string()),
        team: Some(origin(&of.author, &of.project)),
        ..FactRow::default()
    }
}

fn origin(author: &TeamAuthor, project: &TeamGroup) -> TeamOrigin {
    TeamOrigin {
        name: author.name.clone(),
        machine: author.machine.clone(),
        group: project.group.clone(),
    }
}

/// Returns a sentence for the answer if a filter cannot be applied to the summaries of the team.
fn unsupported_filter(arguments: &SearchSessionsArguments) -> Option<String> {
    let filters = [
        ("branch", &arguments.branch),
        ("file", &arguments.file),
        ("tool", &arguments.tool),
        ("role", &arguments.role),
    ];
    let given = filters
        .iter()
        .find(|(_, value)| value.as_deref().is_some_and(|value| !value.trim().is_empty()));
    given.map(|(name, _)| {
        format!(
            "The team's sessions are not included, because the filter `{name}` cannot be applied to them."
        )
    })
}
