//! Reads the episodes and facts that other machines (of colleagues or of the user) have written to
//! the shared graph. In this file, "others" are these machines.
//!
//! Each query has a time limit. Episodes in this machine's database, and facts that these episodes
//! stated first, are left out, because the caller merges the answers with its own results.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    task::JoinSet,
    time::{Instant, timeout_at},
};

pub use super::team_answer::{TeamAnswer, TeamAuthor, TeamEpisode, TeamFact, TeamGroup};
use super::{
    ProjectIdentity, Sharing,
    map::group_of,
    origin::{EpisodeOrigin, without_front_matter},
};
use crate::{
    clock,
    engine::defect,
    model::{EpisodeId, Namespace, Timestamp},
    share::{
        EngineError, GraphEngine, Row, Statement,
        read::{self, FoundEpisode, FoundFact},
    },
};

pub use crate::share::read::FoundFact as SharedFact;

/// Maximum number of candidates from a group, including candidates of this machine.
const MAX_CANDIDATES: usize = 400;
/// Minimum number of facts of others in a full list of candidates. If there are fewer, a second
/// query returns the facts of others first.
const MIN_FACTS_OF_OTHERS: usize = 20;
/// Maximum number of groups that are queried.
const MAX_GROUPS: usize = 32;
/// Age of the cached latest episodes of a group after which they are requested again.
const CACHE_MAX_AGE: Duration = Duration::from_secs(60);
/// Age of the cached latest episodes of a group after which they are not returned any more: the
/// graph may have been unreachable, and a colleague may have removed an episode meanwhile. After a
/// night, the first session still gets them.
const CACHE_EXPIRY: Duration = Duration::from_secs(24 * 3600);
/// Maximum age of an episode that counts as one of the latest.
const LATEST_MAX_AGE: Duration = Duration::from_secs(14 * 24 * 3600);
/// Maximum length, in bytes, of the content of an episode.
const MAX_CONTENT_BYTES: usize = 200_000;
/// Maximum length, in bytes, of every other text.
const MAX_TEXT_BYTES: usize = 2_000;

/// The latest episodes of each group, by the group's id.
pub(super) type LatestEpisodes = HashMap<String, CachedEpisodes>;

/// The latest episodes of a group, with the time of the answer.
pub(super) struct CachedEpisodes {
    at: Timestamp,
    episodes: Vec<TeamEpisode>,
}

impl CachedEpisodes {
    /// Whether the episodes are to be requested again.
    fn is_old(&self, now: Timestamp) -> bool {
        now.since(self.at) > CACHE_MAX_AGE
    }

    /// Returns the episodes, or nothing if they are too old to be shown.
    fn current(&self, now: Timestamp) -> &[TeamEpisode] {
        if now.since(self.at) > CACHE_EXPIRY { &[] } else { &self.episodes }
    }
}

impl Sharing {
    /// Returns the shared projects of `namespaces`, or all shared projects if no namespaces are
    /// given.
    pub fn team_groups(&self, namespaces: Option<&[Namespace]>) -> Vec<TeamGroup> {
        let target = self.target();
        let entries = &target.config.projects;
        let identities: Vec<ProjectIdentity> = match namespaces {
            Some(namespaces) => {
                let known = namespaces.iter().filter_map(|one| self.projects.identity_of(*one));
                known.filter(|identity| target.is_shared(identity)).collect()
            }
            None => {
                // A machine without a session of a project may read the project's group, too.
                let named = |entry: &String| {
                    let known = self.projects.identity_named(entry);
                    known.or_else(|| self.projects.identity_of_remote(entry))
                };
                entries.iter().filter_map(named).collect()
            }
        };
        let mut known = BTreeSet::new();
        let groups = identities
            .into_iter()
            .map(|identity| TeamGroup { group: group_of(&identity), name: identity.name });
        groups.filter(|group| known.insert(group.group.clone())).take(MAX_GROUPS).collect()
    }

    /// Searches the episodes of others by words. Returns at most `limit` per group, best first.
    pub async fn team_episodes(
        self: Arc<Self>,
        groups: Vec<TeamGroup>,
        query: String,
        limit: usize,
    ) -> TeamAnswer<TeamEpisode> {
        let words = read::words(&query);
        if words.is_empty() {
            return TeamAnswer::nothing(NO_WORDS);
        }
        let queries = self.query_groups(groups, |reader| reader.episodes(words.clone(), limit));
        self.collect(queries).await
    }

    /// Searches the facts of others by words. Returns the best facts first.
    pub async fn team_facts(
        self: Arc<Self>,
        groups: Vec<TeamGroup>,
        query: String,
    ) -> TeamAnswer<TeamFact> {
        let words = read::words(&query);
        if words.is_empty() {
            return TeamAnswer::nothing(NO_WORDS);
        }
        let queries = self.query_groups(groups, |reader| reader.facts(words.clone()));
        self.collect(queries).await
    }

    /// Returns the latest episodes of others, at most `limit` per group, the newest first. Caches
    /// the episodes for [`Sharing::team_latest_known`].
    pub async fn team_latest(
        self: Arc<Self>,
        groups: Vec<TeamGroup>,
        limit: usize,
    ) -> TeamAnswer<TeamEpisode> {
        let since = clock::now().minus(LATEST_MAX_AGE);
        let queries = self.query_groups(groups.clone(), |reader| reader.latest(since, limit));
        let mut answer = self.collect(queries).await;
        answer.rows.sort_by_key(|episode: &TeamEpisode| std::cmp::Reverse(episode.at));
        if answer.problem.is_none() {
            let at = clock::now();
            let mut latest = self.latest_episodes();
            for group in groups {
                let of_group = answer.rows.iter().filter(|episode| episode.project == group);
                let episodes = of_group.cloned().collect();
                latest.insert(group.group.clone(), CachedEpisodes { at, episodes });
            }
        }
        answer
    }

    /// Returns the cached latest episodes of others without waiting, at most `limit` per group, the
    /// newest first. If the cached episodes of a group are missing or old, requests them in the
    /// background. Old cached episodes are returned, too, until [`CACHE_EXPIRY`].
    pub fn team_latest_known(
        self: &Arc<Self>,
        groups: &[TeamGroup],
        limit: usize,
    ) -> Vec<TeamEpisode> {
        let now = clock::now();
        let (mut known, mut old) = (Vec::new(), Vec::new());
        {
            let latest = self.latest_episodes();
            for group in groups {
                let cached = latest.get(&group.group);
                let of_group = cached.iter().flat_map(|cached| cached.current(now));
                known.extend(of_group.take(limit).cloned());
                if cached.is_none_or(|cached| cached.is_old(now)) {
                    old.push(group.clone());
                }
            }
        }
        if !old.is_empty() {
            // The task ends within its time limit, and caches its answer for the next request.
            tokio::spawn(self.clone().team_latest(old, limit));
        }
        known.sort_by_key(|episode| std::cmp::Reverse(episode.at));
        known
    }

    /// Queries all groups at the same time.
    fn query_groups<T, F>(
        self: &Arc<Self>,
        groups: Vec<TeamGroup>,
        ask: impl Fn(TeamReader) -> F,
    ) -> Result<GroupQueries<T>, &'static str>
    where
        T: Send + 'static,
        F: Future<Output = Result<Vec<T>, EngineError>> + Send + 'static,
    {
        let engine = self.target().reader.clone();
        let engine = engine.ok_or("Nothing is shared with a team: see `graphiti share`.")?;
        if groups.is_empty() {
            return Err("The project is not shared with a team: see `graphiti share`.");
        }
        let mut queries = JoinSet::new();
        for (at, group) in groups.into_iter().enumerate() {
            let reader = TeamReader { sharing: self.clone(), engine: engine.clone(), group };
            let answer = ask(reader);
            queries.spawn(async move { (at, answer.await) });
        }
        Ok(queries)
    }

    /// Waits for the answers, with one time limit for all of them.
    pub(super) async fn collect<T: 'static>(
        &self,
        queries: Result<GroupQueries<T>, &'static str>,
    ) -> TeamAnswer<T> {
        let mut queries = match queries {
            Ok(queries) => queries,
            Err(problem) => return TeamAnswer::nothing(problem),
        };
        let limit = self.pauses.answer;
        let end = Instant::now() + limit;
        let (mut found, mut problem) = (Vec::new(), None);
        loop {
            match timeout_at(end, queries.join_next()).await {
                Ok(Some(Ok((at, Ok(rows))))) => found.push((at, rows)),
                Ok(Some(Ok((_, Err(error))))) => problem = Some(error.to_string()),
                Ok(Some(Err(error))) => problem = Some(defect::describe(&error).to_owned()),
                Ok(None) => break,
                Err(_) => {
                    problem = Some(EngineError::TimedOut(limit).to_string());
                    break;
                }
            }
        }
        found.sort_by_key(|(at, _)| *at);
        let groups = found.into_iter().map(|(_, rows)| rows).collect();
        let problem =
            problem.map(|why| format!("The team's memory is missing, in whole or in part: {why}."));
        TeamAnswer { rows: interleaved(groups), problem }
    }

    fn latest_episodes(&self) -> MutexGuard<'_, LatestEpisodes> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const NO_WORDS: &str = "The team's memory was not searched: the query has no words.";

/// The running queries of groups. Their results contain the positions of the groups in the request.
type GroupQueries<T> = JoinSet<(usize, Result<Vec<T>, EngineError>)>;

/// A reader of one group.
struct TeamReader {
    sharing: Arc<Sharing>,
    engine: Arc<dyn GraphEngine>,
    group: TeamGroup,
}

impl TeamReader {
    async fn episodes(
        self,
        words: Vec<String>,
        limit: usize,
    ) -> Result<Vec<TeamEpisode>, EngineError> {
        let (dialect, group) = (self.engine.dialect(), &self.group.group);
        let own = self.own_description();
        let found =
            self.rows(&read::episodes(dialect, group, &words, &own, MAX_CANDIDATES)).await?;
        self.with_contents(found, limit).await
    }

    async fn latest(self, since: Timestamp, limit: usize) -> Result<Vec<TeamEpisode>, EngineError> {
        let (dialect, group) = (self.engine.dialect(), &self.group.group);
        let own = self.own_description();
        let found = self.rows(&read::latest(dialect, group, since, &own, MAX_CANDIDATES)).await?;
        self.with_contents(found, limit).await
    }

    async fn facts(self, words: Vec<String>) -> Result<Vec<TeamFact>, EngineError> {
        let (dialect, group) = (self.engine.dialect(), &self.group.group);
        let rows = self.rows(&read::facts(dialect, group, &words, MAX_CANDIDATES)).await?;
        let mut found = self.of_others(&rows);
        if rows.len() == MAX_CANDIDATES && found.len() < MIN_FACTS_OF_OTHERS {
            let own = self.own_description();
            let statement =
                read::facts_of_others_first(dialect, group, &words, &own, MAX_CANDIDATES);
            found = self.of_others(&self.rows(&statement).await?);
        }
        let ids: BTreeSet<&String> =
            found.iter().filter_map(|fact| fact.episodes.first()).collect();
        let ids: Vec<String> = ids.into_iter().cloned().collect();
        let rows = self.rows(&read::episodes_without_contents(&ids)).await?;
        let origins: HashMap<String, FoundEpisode> = rows
            .iter()
            .filter_map(FoundEpisode::of)
            .map(|episode| (episode.id.clone(), episode))
            .collect();
        let facts = found.into_iter().map(|mut fact| {
            let origin = fact.episodes.first().and_then(|first| origins.get(first));
            let origin = EpisodeOrigin::of(origin.map_or("", |origin| &origin.description));
            self.clean_fact(&mut fact);
            let author = self.author(&origin);
            let session_id = self.clean(origin.session_id, MAX_TEXT_BYTES);
            TeamFact { project: self.group.clone(), author, session_id, fact }
        });
        Ok(facts.collect())
    }

    /// Reads the contents of the first `limit` episodes of others, in the given order.
    async fn with_contents(
        &self,
        found: Vec<Row>,
        limit: usize,
    ) -> Result<Vec<TeamEpisode>, EngineError> {
        let found = found.iter().filter_map(FoundEpisode::of);
        let ids: Vec<String> =
            found.map(|episode| episode.id).filter(|id| !self.is_own(id)).take(limit).collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let rows = self.rows(&read::contents(&ids)).await?;
        let mut episodes: Vec<FoundEpisode> = rows.iter().filter_map(FoundEpisode::of).collect();
        episodes.sort_by_key(|episode| ids.iter().position(|id| *id == episode.id));
        Ok(episodes.into_iter().map(|episode| self.episode(&episode)).collect())
    }

    /// Returns the facts in `rows` that others stated first.
    fn of_others(&self, rows: &[Row]) -> Vec<FoundFact> {
        let found = rows.iter().filter_map(FoundFact::of);
        let is_own =
            |fact: &FoundFact| fact.episodes.first().is_some_and(|first| self.is_own(first));
        found.filter(|fact| !is_own(fact)).collect()
    }

    /// Returns the suffix of the descriptions of this machine's episodes. Another machine may use
    /// the same suffix. So a query may order results by it, but must not exclude results.
    fn own_description(&self) -> String {
        let target = self.sharing.target();
        self.sharing.author(&target.config).description_end()
    }

    async fn rows(&self, statement: &Statement) -> Result<Vec<Row>, EngineError> {
        let limit = self.sharing.pauses.answer;
        self.engine.read(&self.group.group, statement, limit).await
    }

    fn episode(&self, found: &FoundEpisode) -> TeamEpisode {
        let origin = EpisodeOrigin::of(&found.description);
        TeamEpisode {
            id: self.clean(&found.id, MAX_TEXT_BYTES),
            project: self.group.clone(),
            author: self.author(&origin),
            agent: self.clean(origin.agent, MAX_TEXT_BYTES),
            session_id: self.clean(origin.session_id, MAX_TEXT_BYTES),
            name: self.clean(&found.name, MAX_TEXT_BYTES),
            content: self.clean(without_front_matter(&found.content), MAX_CONTENT_BYTES),
            at: found.at,
        }
    }

    fn author(&self, origin: &EpisodeOrigin<'_>) -> TeamAuthor {
        let clean = |text| self.clean(text, MAX_TEXT_BYTES);
        TeamAuthor { name: clean(origin.name), machine: clean(origin.machine) }
    }

    /// Whether this machine's store has the episode.
    fn is_own(&self, id: &str) -> bool {
        let id = EpisodeId::parse(id);
        // An episode that was evicted or cannot be read counts as an episode of others.
        id.is_some_and(|id| self.sharing.store.episode(id).is_ok_and(|known| known.is_some()))
    }

    fn clean_fact(&self, fact: &mut FoundFact) {
        let FoundFact { id, relation, sentence, source, target, episodes, .. } = fact;
        let entities = [source, target].into_iter().flat_map(|one| [&mut one.id, &mut one.name]);
        for text in [id, relation, sentence].into_iter().chain(entities).chain(episodes) {
            *text = self.clean(text, MAX_TEXT_BYTES);
        }
    }

    /// Redacts a text, because the redactor of another machine may be older, and cuts it to
    /// `longest` bytes. A cut before the redaction could leave a part of a secret that no rule
    /// recognises.
    fn clean(&self, text: &str, longest: usize) -> String {
        let mut text = self.sharing.redactor.redact(text).text.into_owned();
        text.truncate(text.floor_char_boundary(longest));
        text
    }
}

/// Returns the first rows of all lists, then the second rows, and so on.
fn interleaved<T>(lists: Vec<Vec<T>>) -> Vec<T> {
    let mut all: Vec<(usize, T)> =
        lists.into_iter().flat_map(|list| list.into_iter().enumerate()).collect();
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, row)| row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_episodes_are_shown_for_a_day() {
        let at = |second: i64| Timestamp::from_seconds(second);
        let episode = TeamEpisode {
            id: "e".to_owned(),
            project: TeamGroup { group: "app_1".to_owned(), name: "app".to_owned() },
            author: TeamAuthor::default(),
            agent: "claude".to_owned(),
            session_id: "s".to_owned(),
            name: "Fix the pool".to_owned(),
            content: String::new(),
            at: at(0),
        };
        let cached = CachedEpisodes { at: at(100), episodes: vec![episode] };
        let day = 24 * 3600;
        assert_eq!(cached.current(at(100 + day)), cached.episodes);
        assert_eq!(cached.current(at(101 + day)), []);
        assert!(!cached.is_old(at(160)) && cached.is_old(at(161)));
    }

    #[test]
    fn the_rows_of_groups_are_interleaved() {
        assert_eq!(interleaved(vec![vec![1, 2, 3], vec![], vec![4, 5]]), [1, 4, 2, 5, 3]);
    }
}
