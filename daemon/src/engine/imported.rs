//! Stores imported episodes, which come from another machine or are added as memories. They have
//! no transcript on this machine.

use std::collections::BTreeMap;

use crate::{
    clock,
    engine::{
        Engine, EngineError, defect, document, episode, new_episode, portable_statements,
        projects::Identity, redaction::StoredRedactor,
    },
    graph,
    model::{
        CloseReason, ContentHash, EnhancedSessionSummary, Episode, EpisodeId, Evidence, Project,
        SessionId, SessionKey, Timestamp,
        episode::{Author, ExternalContent, MEMORY},
        graph::Statements,
    },
    redact::Redactor,
    store::{Cleaner as _, Store, StoreError, Write},
    summarize,
};

/// Maximum length, in characters, of the name of a memory; the rest is cut off.
const MAX_NAME_CHARS: usize = 200;

/// A memory to be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    pub name: String,
    pub body: String,
    /// `text`, `json` or `message`.
    pub source: String,
    pub description: String,
    pub project: Project,
    /// The episode of the earlier memory that this memory replaces.
    pub replaces: Option<EpisodeId>,
    pub kind: MemoryKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    Note,
    /// A permanent request of the user for the memory's project.
    Preference,
    /// A permanent request of the user for all projects.
    PreferenceEverywhere,
}

impl MemoryKind {
    /// Determines whether a text is a note or a preference, by its wording.
    pub fn of(text: &str) -> MemoryKind {
        if summarize::states_wish(text) { MemoryKind::Preference } else { MemoryKind::Note }
    }
}

/// An episode from another machine.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedEpisode {
    pub episode: Episode,
    /// The key of the session, if it is known.
    pub session: Option<SessionKey>,
    /// The repository of the episode's directory on the other machine.
    pub repository: Identity,
    /// The exported statements; `None` if they have to be derived from the summary.
    pub statements: Option<Statements>,
}

/// Whether an episode from another machine is imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportDecision {
    /// The episode is imported, and replaces an older episode of the same session, if any.
    New {
        /// The key of the session, if it is known.
        session: Option<SessionKey>,
    },
    /// The same or a later episode of the session is stored, or the session is from this machine (a
    /// memory that was added here, or a session whose transcript is here).
    Known,
    /// The session was forgotten.
    Forgotten,
}

impl Engine {
    /// Adds a memory, and returns its episode and whether the episode was known before. With
    /// `finds_known`, a wish for the same project that still holds is not stored a second time.
    pub async fn add_memory(
        &self,
        memory: Memory,
        finds_known: bool,
    ) -> Result<(Episode, bool), EngineError> {
        let redactor = self.summarizer().await?.parse_context.redactor.clone();
        let failed = |error: StoreError| EngineError::Failed(error.to_string());
        // Otherwise, two equal wishes that arrive at the same time would both be stored.
        let adding = self.adding_memory.lock().await;
        let now = clock::now();
        let known = if finds_known { self.known_wish(&memory, &redactor, now) } else { Ok(None) };
        if let Some(known) = known.map_err(failed)? {
            return Ok((known, true));
        }
        self.check_writable()?;
        let replaced = match memory.replaces {
            Some(id) => self.store.episode(id).map_err(failed)?,
            None => None,
        };
        let id = memory.replaces.unwrap_or_else(|| new_episode::new_episode_id(now));
        let key = match &replaced {
            Some(replaced) => replaced.session,
            None => self.store.next_session_key().map_err(failed)?,
        };
        let episode = memory_episode(memory, id, key, &redactor, now);
        let position = self.store.write(writes_of(&episode, None)).done().await.map_err(failed)?;
        drop(adding);
        let directory = BTreeMap::from([(episode.project.clone(), Identity::default())]);
        self.note_directories(directory).await;
        // The episode is stored even if the search index cannot follow.
        let _ = self.wait_until_searchable(position).await;
        Ok((episode, false))
    }

    /// Returns the episode of the same wish for the same project, if the wish still holds. A second
    /// copy would keep the wish when the user forgets one of them.
    fn known_wish(
        &self,
        memory: &Memory,
        redactor: &Redactor,
        now: Timestamp,
    ) -> Result<Option<Episode>, StoreError> {
        if memory.kind == MemoryKind::Note || memory.replaces.is_some() {
            return Ok(None);
        }
        let projects = self.projects.of_namespace(memory.project.namespace());
        let wishes = graph::Graph::of(self.store.as_ref()).preferences(&projects, now)?;
        let id = EpisodeId(uuid::Uuid::nil());
        // The stored text is redacted.
        let memory = memory_episode(memory.clone(), id, SessionKey(0), redactor, Timestamp::MIN);
        for id in wishes.into_iter().flat_map(|wish| wish.fact.episodes) {
            let stored = self.store.episode(id)?;
            let stored = stored.filter(|stored| is_same_wish(stored, &memory));
            if stored.is_some() {
                return Ok(stored);
            }
        }
        Ok(None)
    }

    /// Records the directories of episodes without transcripts, so that the projects are found by
    /// their names and remotes.
    pub async fn note_directories(&self, directories: BTreeMap<Project, Identity>) {
        let projects = self.projects.clone();
        let noting = tokio::task::spawn_blocking(move || {
            for (directory, repository) in directories {
                projects.note_imported(&directory, repository);
            }
        });
        // If this task fails, the directories are recorded at the next start.
        if let Err(error) = noting.await {
            tracing::warn!(error = defect::describe(&error), "cannot note imported projects");
        }
    }

    /// Decides whether an episode from another machine is imported.
    pub fn import_decision(&self, episode: &Episode) -> Result<ImportDecision, StoreError> {
        if self.is_forgotten(&episode.session_id) {
            return Ok(ImportDecision::Forgotten);
        }
        if let Some(stored) = self.store.episode(episode.id)? {
            let is_here = stored.from().is_none() || self.has_transcript(stored.session)?;
            return Ok(if !is_here && is_later_version(&stored, episode) {
                ImportDecision::New { session: Some(stored.session) }
            } else {
                ImportDecision::Known
            });
        }
        let Some(key) = self.store.find_session(&episode.session_id)? else {
            return Ok(ImportDecision::New { session: None });
        };
        let is_here = self.has_transcript(key)?;
        Ok(match self.store.stored_episode_of(key)? {
            _ if is_here => ImportDecision::Known,
            Some(before) if before.created_at >= episode.created_at => ImportDecision::Known,
            _ => ImportDecision::New { session: Some(key) },
        })
    }

    fn has_transcript(&self, session: SessionKey) -> Result<bool, StoreError> {
        Ok(!self.store.sources_of(session)?.is_empty())
    }

    /// Imports episodes from another machine, in one list of writes: all or none are stored.
    pub async fn import_episodes(&self, episodes: Vec<ImportedEpisode>) -> Result<(), EngineError> {
        self.check_writable()?;
        let failed = |error: StoreError| EngineError::Failed(error.to_string());
        let redactor = self.summarizer().await?.parse_context.redactor.clone();
        let mut writes = Vec::new();
        let mut directories = BTreeMap::new();
        for ImportedEpisode { mut episode, session, repository, statements } in episodes {
            episode.session = match session {
                Some(session) => session,
                None => self.store.next_session_key().map_err(failed)?,
            };
            redact(&mut episode, &redactor);
            let statements = statements.map(|mut statements| {
                redact_statements(&mut statements);
                statements
            });
            writes.extend(writes_of(&episode, statements));
            directories.insert(episode.project, repository);
        }
        let position = self.store.write(writes).done().await.map_err(failed)?;
        self.note_directories(directories).await;
        // The episodes are stored even if the search index cannot follow.
        let _ = self.wait_until_searchable(position).await;
        Ok(())
    }
}

/// Whether `episode` is a later version of the stored episode with the same id: a memory was
/// replaced, or a model or newer rules have written the summary.
fn is_later_version(stored: &Episode, episode: &Episode) -> bool {
    let version = |episode: &Episode| {
        let is_of_model = episode.author != Author::Evidence;
        (episode.created_at, is_of_model, episode.rules)
    };
    version(episode) > version(stored)
}

/// Returns the statements of an episode for an export; `None` if the episode has no statements.
/// Positions in the transcript are left out, because the other machine does not have the
/// transcript.
pub fn statements_of(
    store: &dyn Store,
    episode: &Episode,
) -> Result<Option<serde_json::Value>, StoreError> {
    let statements = store.statements_of(episode.id)?;
    let is_empty = statements.claims.is_empty() && statements.mentions.is_empty();
    Ok((!is_empty).then(|| portable_statements::to_json(&statements)))
}

fn memory_episode(
    memory: Memory,
    id: EpisodeId,
    session: SessionKey,
    redactor: &Redactor,
    now: Timestamp,
) -> Episode {
    let wish = match memory.kind {
        MemoryKind::Note => None,
        kind => {
            let is_for_all = kind == MemoryKind::PreferenceEverywhere;
            Some(vec![summarize::remembered_wish(&memory.body, is_for_all)])
        }
    };
    let mut episode = Episode {
        id,
        session,
        session_id: SessionId { agent: MEMORY.to_owned(), id: id.to_string() },
        project: memory.project,
        name: memory.name,
        summary: EnhancedSessionSummary { preferences: wish, ..document::empty_summary() },
        author: Author::Evidence,
        file: String::new(),
        content_hash: ContentHash([0; 32]),
        reason: CloseReason::Explicit(None),
        branches: Vec::new(),
        started_at: now,
        ended_at: now,
        created_at: now,
        rules: 0,
        external: Some(ExternalContent {
            text: memory.body,
            source: memory.source,
            description: memory.description,
            from: None,
        }),
    };
    redact(&mut episode, redactor);
    // Cut only now, because a part of a secret would not be recognised.
    episode.name = episode.name.chars().take(MAX_NAME_CHARS).collect();
    episode
}

/// Whether two memories are the same wish. Compares their texts and not only the wishes, which are
/// shown without the targets of links and without tags.
fn is_same_wish(one: &Episode, other: &Episode) -> bool {
    one.is_memory()
        && one.project == other.project
        && one.text() == other.text()
        && one.summary.preferences.is_some()
        && one.summary.preferences == other.summary.preferences
}

/// Returns the writes that store an imported episode, with a session for it.
fn writes_of(episode: &Episode, statements: Option<Statements>) -> Vec<Write> {
    let session = episode.to_session(episode.session);
    let mut writes = vec![Write::Episode(Box::new(episode.clone()))];
    // If no statements were exported, statements are derived from the fields of the summary. An
    // episode that is only a text has no such fields, unless it is a preference.
    let has_fields = episode.text().is_none() || episode.summary.preferences.is_some();
    let derived = || has_fields.then(|| graph::extract(episode, &Evidence::default()));
    if let Some(statements) = statements.or_else(derived) {
        let statements = Box::new(statements);
        writes.push(Write::Statements { episode: episode.id, statements });
    }
    writes.push(Write::Session(Box::new(session)));
    writes
}

fn redact_statements(statements: &mut Statements) {
    let mut redactor = StoredRedactor::default();
    for mention in &mut statements.mentions {
        redactor.mention(mention);
    }
    for claim in &mut statements.claims {
        redactor.claim(claim);
    }
}

/// Redacts an episode: another machine may have redacted it by older rules, and a memory may
/// contain any text.
fn redact(episode: &mut Episode, redactor: &Redactor) {
    StoredRedactor::default().episode(episode);
    // The name of a JSON member may show that its value is a secret, for example the name of a
    // setting.
    if let Ok(mut summary) = serde_json::to_value(&episode.summary) {
        redactor.redact_value(&mut summary);
        if let Ok(summary) = serde_json::from_value(summary) {
            episode.summary = summary;
        }
    }
}

/// Returns the summary of an episode for an export to another machine; null if the episode is only
/// a text and has no preferences.
pub fn summary_of(episode: &Episode) -> serde_json::Value {
    match episode.text() {
        Some(_) if episode.summary.preferences.is_none() => serde_json::Value::Null,
        _ => serde_json::to_value(&episode.summary).unwrap_or_default(),
    }
}

/// Returns the episode as a document with the name of its machine. The machine of an episode that
/// was not imported is `host`.
///
/// If `repository` (the repository of the episode's directory) is given, the document contains
/// paths.
pub fn document_of(episode: &Episode, host: &str, repository: Option<&Identity>) -> String {
    let mut episode = episode.clone();
    let content = episode.external.get_or_insert_with(|| ExternalContent {
        text: String::new(),
        source: "text".to_owned(),
        description: String::new(),
        from: None,
    });
    content.from.get_or_insert_with(|| host.to_owned());
    let known = repository.into_iter().flat_map(|Identity { repository, remote }| {
        [(document::REPOSITORY, repository), (document::REMOTE, remote)]
    });
    let known = known.filter_map(|(name, value)| Some((name, value.as_deref()?)));
    episode::document_with(&episode, repository.is_some(), &known.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::contract;

    #[test]
    fn a_wish_is_the_same_if_its_redacted_text_and_its_projects_are_the_same() {
        let wish = |body: &str, project: &str, kind| {
            let memory = Memory {
                name: "style".to_owned(),
                body: body.to_owned(),
                source: "text".to_owned(),
                description: String::new(),
                project: Project::new(project),
                replaces: None,
                kind,
            };
            let id = EpisodeId(uuid::Uuid::nil());
            memory_episode(memory, id, SessionKey(1), &Redactor::default(), Timestamp::MIN)
        };
        let (app, here) = ("/home/ada/app", MemoryKind::Preference);
        let link = wish("Follow [the style guide](https://wiki/v1)", app, here);
        assert!(is_same_wish(&link, &link));
        let password = || wish("always deploy with password=hunter2hunter2", app, here);
        assert!(is_same_wish(&password(), &password()));
        assert!(!password().text().unwrap().contains("hunter2"), "the text is redacted");
        for other in [
            wish("Follow [the style guide](https://wiki/v2)", app, here),
            wish("Follow <b>the style guide</b>", app, here),
            wish("Follow [the style guide](https://wiki/v1)", "/home/ada/api", here),
            wish("Follow [the style guide](https://wiki/v1)", app, MemoryKind::Note),
            wish(
                "Follow [the style guide](https://wiki/v1)",
                app,
                MemoryKind::PreferenceEverywhere,
            ),
        ] {
            assert!(!is_same_wish(&link, &other), "{other:?}");
            assert!(!is_same_wish(&other, &link), "{other:?}");
        }
    }

    #[test]
    fn a_name_is_redacted_before_it_is_cut() {
        let secret = ["gh", "p_kJ8s2Lq0Zx9Vb4NmkJ8s2Lq0Zx9Vb4NmQw1x"].concat();
        let memory = Memory {
            name: format!("{} {secret}", "a".repeat(MAX_NAME_CHARS - 12)),
            body: "a note".to_owned(),
            source: "text".to_owned(),
            description: String::new(),
            project: Project::new("/home/ada/app"),
            replaces: None,
            kind: MemoryKind::Note,
        };
        let id = EpisodeId(uuid::Uuid::nil());
        let episode =
            memory_episode(memory, id, SessionKey(1), &Redactor::default(), Timestamp::MIN);
        assert!(episode.name.ends_with("a [REDACTED:g"), "{}", episode.name);
        assert_eq!(episode.name.chars().count(), MAX_NAME_CHARS);
    }

    #[test]
    fn an_episode_by_a_model_or_by_newer_rules_is_a_later_version() {
        let session = contract::session(SessionKey(1), "aaaa-1");
        let first = contract::episode(&session, 5_000);
        let by_rules = Episode { rules: first.rules + 1, ..first.clone() };
        let by_model = Episode { author: Author::Model("m".to_owned()), ..first.clone() };
        let versions = [first, by_rules, by_model, contract::episode(&session, 5_001)];
        for (at, stored) in versions.iter().enumerate() {
            for (other, episode) in versions.iter().enumerate() {
                assert_eq!(is_later_version(stored, episode), other > at, "{at} {other}");
            }
        }
    }
}
