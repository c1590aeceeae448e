//! Episodes that come from elsewhere: from another machine, or from someone who wants something
//! remembered. They have no transcript here.

use crate::{
    engine::{Engine, EngineError, document, episode, job, redaction::StoredRedactor},
    graph,
    model::{
        CloseReason, ContentHash, Episode, EpisodeId, Evidence, Project, SessionId, SessionKey,
        Timestamp,
        episode::{Author, ExternalContent, MEMORY},
        session::{Content, Indexed, Session, State},
    },
    redact::Redactor,
    store::{Cleaner as _, StoreError, Write},
};

/// Something to be remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// A short title.
    pub name: String,
    /// What it says.
    pub body: String,
    /// `text`, `json` or `message`.
    pub source: String,
    /// Where it comes from, in words.
    pub description: String,
    /// Where it belongs.
    pub project: Project,
    /// The earlier one that it replaces.
    pub replaces: Option<EpisodeId>,
}

/// What becomes of an episode that comes from another machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportDecision {
    /// It is taken in, in the place of an older one of its session, if there is one.
    New {
        /// The session's key, where it is known.
        session: Option<SessionKey>,
    },
    /// It is here already, or the transcript is that it was made from.
    Known,
    /// Its session was forgotten here.
    Forgotten,
}

impl Engine {
    /// Remembers something; returns its episode and the outbox position behind it.
    pub async fn add_memory(
        &self,
        memory: Memory,
        now: Timestamp,
    ) -> Result<(Episode, u64), EngineError> {
        self.has_room()?;
        let redactor = self.summarizer().await?.parse_context.redactor.clone();
        let failed = |error: StoreError| EngineError::Failed(error.to_string());
        let replaced = match memory.replaces {
            Some(id) => self.store.episode(id).map_err(failed)?,
            None => None,
        };
        let id = memory.replaces.unwrap_or_else(|| job::new_episode_id(now));
        let key = match &replaced {
            Some(replaced) => replaced.session,
            None => self.store.next_session_key().map_err(failed)?,
        };
        let episode = of_memory((id, key), memory, &redactor, now);
        let position = self.store.write(taken_in(&episode)).done().await.map_err(failed)?;
        // It is stored, whether that is found or not.
        let _ = self.until_followed(position).await;
        Ok((episode, position))
    }

    /// What is to become of an episode from another machine.
    pub fn import_decision(&self, episode: &Episode) -> Result<ImportDecision, StoreError> {
        if self.is_forgotten(&episode.session_id) {
            return Ok(ImportDecision::Forgotten);
        }
        if self.store.episode(episode.id)?.is_some() {
            return Ok(ImportDecision::Known);
        }
        let Some(key) = self.store.find_session(&episode.session_id)? else {
            return Ok(ImportDecision::New { session: None });
        };
        let indexed = self.store.session(key)?.and_then(|session| session.indexed);
        let is_here = !self.store.sources_of(key)?.is_empty();
        let before = match indexed {
            Some(indexed) => self.store.episode(indexed.episode)?,
            None => None,
        };
        Ok(match before {
            _ if is_here => ImportDecision::Known,
            Some(before) if before.created_at >= episode.created_at => ImportDecision::Known,
            _ => ImportDecision::New { session: Some(key) },
        })
    }

    /// Takes in episodes that come from another machine, all in one step.
    pub async fn import_episodes(
        &self,
        episodes: Vec<(Episode, Option<SessionKey>)>,
    ) -> Result<(), EngineError> {
        self.has_room()?;
        let failed = |error: StoreError| EngineError::Failed(error.to_string());
        let redactor = self.summarizer().await?.parse_context.redactor.clone();
        let mut writes = Vec::new();
        for (mut episode, session) in episodes {
            episode.session = match session {
                Some(session) => session,
                None => self.store.next_session_key().map_err(failed)?,
            };
            redact(&mut episode, &redactor);
            writes.extend(taken_in(&episode));
        }
        let position = self.store.write(writes).done().await.map_err(failed)?;
        // It is stored, whether that is found or not.
        let _ = self.until_followed(position).await;
        Ok(())
    }
}

fn of_memory(
    (id, session): (EpisodeId, SessionKey),
    memory: Memory,
    redactor: &Redactor,
    now: Timestamp,
) -> Episode {
    let mut episode = Episode {
        id,
        session,
        session_id: SessionId { agent: MEMORY.to_owned(), id: id.to_string() },
        project: memory.project,
        name: memory.name,
        summary: document::nothing(),
        author: Author::Evidence,
        file: String::new(),
        content_hash: ContentHash([0; 32]),
        reason: CloseReason::Explicit(None),
        branches: Vec::new(),
        started_at: now,
        ended_at: now,
        created_at: now,
        external: Some(ExternalContent {
            text: memory.body,
            source: memory.source,
            description: memory.description,
            from: None,
        }),
    };
    redact(&mut episode, redactor);
    episode
}

/// What puts an episode in the store that has no transcript here, with a session for it.
fn taken_in(episode: &Episode) -> Vec<Write> {
    let session = Session {
        key: episode.session,
        id: episode.session_id.clone(),
        project: Some(episode.project.clone()),
        file: episode.file.clone(),
        state: State::Indexed,
        content: Some(Content {
            hash: episode.content_hash,
            messages: episode.summary.message_count.unwrap_or(0),
        }),
        indexed: Some(Indexed {
            episode: episode.id,
            hash: episode.content_hash,
            at: episode.created_at,
            reason: episode.reason.clone(),
        }),
        started_at: Some(episode.started_at),
        last_activity: episode.ended_at,
    };
    let mut writes = vec![Write::Episode(Box::new(episode.clone()))];
    // A text says nothing by field.
    if episode.text().is_none() {
        let statements = Box::new(graph::read(episode, &Evidence::default()));
        writes.push(Write::Statements { episode: episode.id, statements });
    }
    writes.push(Write::Session(Box::new(session)));
    writes
}

/// Another machine may know fewer kinds of secrets, and people add what they like.
fn redact(episode: &mut Episode, redactor: &Redactor) {
    StoredRedactor::default().episode(episode);
    // What a model said of a setting, say, may stand under a name that tells.
    if let Ok(mut summary) = serde_json::to_value(&episode.summary) {
        redactor.redact_value(&mut summary);
        if let Ok(summary) = serde_json::from_value(summary) {
            episode.summary = summary;
        }
    }
}

/// An episode as a line of an export, with all that is needed to take it in elsewhere.
pub fn summary_of(episode: &Episode) -> serde_json::Value {
    match episode.text() {
        Some(_) => serde_json::Value::Null,
        None => serde_json::to_value(&episode.summary).unwrap_or_default(),
    }
}

/// The same as a document that tells this machine's name.
pub fn document_of(episode: &Episode, host: &str) -> String {
    let mut episode = episode.clone();
    let content = episode.external.get_or_insert_with(|| ExternalContent {
        text: String::new(),
        source: "text".to_owned(),
        description: String::new(),
        from: None,
    });
    content.from.get_or_insert_with(|| host.to_owned());
    episode::document(&episode)
}
