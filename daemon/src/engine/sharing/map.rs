//! Maps a session of this machine to the nodes and edges that are written to the shared graph.

use std::collections::{BTreeMap, HashMap};

use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::{
    engine::{
        entities::Graph,
        episode,
        projects::{ProjectIdentity, Projects},
    },
    graph::config::GroupId,
    model::{
        Entity, EntityId, Episode, EpisodeId, Fact, Namespace, SessionKey, graph::EntityKind, hex,
    },
    redact::Redactor,
    share::{
        id::{self, FactIdentity},
        node::{EntityNode, EpisodicNode, FactEdge, SharedSession},
        privacy::TextCleaner,
    },
    store::{Store, StoreError},
};

/// Maximum number of episodes per fact.
const MAX_EPISODES_PER_FACT: usize = 100;
/// Maximum length, in characters, of an episode's content.
const MAX_CONTENT_CHARS: usize = 100_000;
/// A task's name with at least this number of words identifies the task in its group. A shorter
/// name, such as `Continue`, is combined with the id of the entity.
const MIN_WORDS_OF_NAME: usize = 3;

/// The user who shares sessions, and the user's machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Author {
    pub name: String,
    pub machine: String,
    /// The path of the user's home folder, which must not leave the machine.
    pub home: Option<String>,
}

impl Author {
    /// Returns the suffix of the descriptions of the author's episodes.
    pub(super) fn description_end(&self) -> String {
        format!(", by {} on {}", self.name, self.machine)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedProject {
    pub group: String,
    pub name: String,
    /// The folders of the project on this machine, the longest path first.
    folders: Vec<String>,
}

/// The data of a session that the graph should contain.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum DesiredState {
    Session {
        session: Box<SharedSession>,
        /// Entities of the session. Facts about these entities may have changed in other sessions.
        subjects: Vec<EntityId>,
    },
    /// No data: the session was deleted, its project is not shared, or its episode was imported.
    Nothing,
    /// The data that the graph already has. This machine cannot change them, because it has no
    /// episode of the session, for example after an eviction.
    Unchanged,
}

/// Maps sessions. It caches projects and episodes, so it is used for one batch only.
pub(super) struct SessionMapper<'m> {
    pub(super) store: &'m dyn Store,
    pub(super) projects: &'m Projects,
    pub(super) redactor: Redactor,
    pub(super) author: &'m Author,
    pub(super) is_shared: &'m dyn Fn(&ProjectIdentity) -> bool,
    pub(super) groups: HashMap<Namespace, Option<SharedProject>>,
    pub(super) episodes: HashMap<EpisodeId, Option<EpisodeOwner>>,
}

/// The group and the session of an episode.
#[derive(Clone, Debug)]
pub(super) struct EpisodeOwner {
    group: String,
    session: String,
}

/// Returns the group of a project. The group is the same on all machines with the same remote.
pub fn group_of(identity: &ProjectIdentity) -> String {
    let key = identity.remote.as_ref().unwrap_or(&identity.folder);
    let hash = hex::encode(&Sha256::digest(key)[..4]);
    // The hash distinguishes projects of the same name.
    GroupId::sanitised(&format!("{}_{hash}", identity.name.to_lowercase())).as_str().to_owned()
}

impl SessionMapper<'_> {
    /// Returns the project of a directory; `None` if the project is not shared.
    pub(super) fn project(&mut self, namespace: Namespace) -> Option<SharedProject> {
        if let Some(known) = self.groups.get(&namespace) {
            return known.clone();
        }
        let identity = self.projects.identity_of(namespace);
        let project = identity.filter(|identity| (self.is_shared)(identity)).map(|identity| {
            let mut folders = identity.folders.clone();
            folders.sort_by_key(|folder| std::cmp::Reverse(folder.len()));
            SharedProject { group: group_of(&identity), name: identity.name, folders }
        });
        self.groups.insert(namespace, project.clone());
        project
    }

    pub(super) fn session(&mut self, key: SessionKey) -> Result<DesiredState, StoreError> {
        let Some(session) = self.store.session(key)? else { return Ok(DesiredState::Nothing) };
        let Some(episode) = self.store.episode_of(&session)? else {
            let project = session.project.as_ref();
            let is_shared =
                project.is_some_and(|project| self.project(project.namespace()).is_some());
            return Ok(if is_shared { DesiredState::Unchanged } else { DesiredState::Nothing });
        };
        self.episode(&episode)
    }

    fn episode(&mut self, episode: &Episode) -> Result<DesiredState, StoreError> {
        // An imported episode is shared by the machine that it came from.
        let project =
            self.project(episode.project.namespace()).filter(|_| episode.from().is_none());
        let Some(project) = project else { return Ok(DesiredState::Nothing) };
        let (redactor, author) = (self.redactor.clone(), self.author);
        let cleaner = TextCleaner::new(&redactor, &project.folders, author.home.as_deref());
        let things = Graph::of(self.store).of_episode(episode.id)?;
        let mut entities = BTreeMap::new();
        for entity in &things.entities {
            self.add_entity(&mut entities, entity, &project, &cleaner)?;
        }
        let mut facts = Vec::new();
        for fact in &things.facts {
            facts.extend(self.fact(fact, &project, &cleaner, &mut entities)?);
        }
        let mut nodes: Vec<EntityNode> = entities.into_values().collect();
        nodes.sort_by_key(|entity| entity.uuid);
        nodes.dedup_by_key(|entity| entity.uuid);
        facts.sort_by_key(|fact| fact.uuid);
        facts.dedup_by_key(|fact| fact.uuid);
        let episode = episodic(episode, &project, author, &cleaner);
        let subjects = things.entities.iter().filter(|entity| is_subject(entity.kind));
        let subjects = subjects.map(|entity| entity.id).collect();
        let group = project.group;
        let session = Box::new(SharedSession { group, episode, entities: nodes, facts });
        Ok(DesiredState::Session { session, subjects })
    }

    fn add_entity(
        &self,
        entities: &mut BTreeMap<EntityId, EntityNode>,
        entity: &Entity,
        project: &SharedProject,
        cleaner: &TextCleaner<'_>,
    ) -> Result<Uuid, StoreError> {
        let label = entity.kind.as_str();
        let name = match entity.kind {
            // The folders of a repository's clones may have different names.
            EntityKind::Project => project.name.clone(),
            _ => cleaner.line(&entity.name),
        };
        let is_name =
            entity.kind != EntityKind::Task || name.split_whitespace().count() >= MIN_WORDS_OF_NAME;
        let key = if is_name { name.clone() } else { format!("{name} {}", entity.id) };
        let uuid = id::entity(&project.group, label, &key);
        let summary = cleaner.text(&Graph::of(self.store).description(entity.id)?);
        let created_at = entity.created_at;
        entities.insert(entity.id, EntityNode { uuid, label, name, summary, created_at });
        Ok(uuid)
    }

    /// Maps a fact; `None` when one of its entities does not exist any more, or none of its
    /// episodes is shared by this machine.
    fn fact(
        &mut self,
        fact: &Fact,
        project: &SharedProject,
        cleaner: &TextCleaner<'_>,
        entities: &mut BTreeMap<EntityId, EntityNode>,
    ) -> Result<Option<FactEdge>, StoreError> {
        let mut ends = Vec::with_capacity(2);
        for end in [fact.source, fact.target] {
            let known = entities.get(&end).map(|entity| entity.uuid);
            let uuid = match (known, known.is_none().then(|| Graph::of(self.store).entity(end))) {
                (Some(uuid), _) => Some(uuid),
                (None, Some(entity)) => match entity? {
                    Some(entity) => Some(self.add_entity(entities, &entity, project, cleaner)?),
                    None => None,
                },
                (None, None) => None,
            };
            ends.extend(uuid);
        }
        let &[source, target] = ends.as_slice() else { return Ok(None) };
        let mut episodes = Vec::new();
        let mut first = None;
        for id in &fact.episodes {
            let owner = self.owner(*id)?.filter(|owner| owner.group == project.group);
            if let Some(owner) = owner {
                first.get_or_insert(owner.session);
                episodes.push(id.0);
            }
        }
        let Some(session) = first else { return Ok(None) };
        // The first episode, which stated the fact first, and the latest episodes are kept.
        if episodes.len() > MAX_EPISODES_PER_FACT {
            episodes.drain(1..=episodes.len() - MAX_EPISODES_PER_FACT);
        }
        let sentence = cleaner.line(&fact.sentence);
        let relation = fact.relation.as_str();
        let uuid = id::fact(&FactIdentity {
            group: &project.group,
            session: &session,
            relation,
            source,
            target,
            detail: &format!("{} {sentence}", fact.valid_at),
        });
        Ok(Some(FactEdge {
            uuid,
            source,
            target,
            name: relation.to_owned(),
            fact: sentence,
            episodes,
            created_at: fact.created_at,
            valid_at: fact.valid_at,
            invalid_at: fact.invalid_at,
            expired_at: fact.expired_at,
        }))
    }

    /// Returns the group and the session of an episode; `None` if this machine does not share the
    /// episode.
    fn owner(&mut self, id: EpisodeId) -> Result<Option<EpisodeOwner>, StoreError> {
        if let Some(known) = self.episodes.get(&id) {
            return Ok(known.clone());
        }
        let episode = self.store.episode(id)?.filter(|episode| episode.from().is_none());
        let owner = episode.and_then(|episode| {
            let project = self.project(episode.project.namespace())?;
            let session = format!("{} {}", episode.session_id.agent, episode.session_id.id);
            Some(EpisodeOwner { group: project.group, session })
        });
        self.episodes.insert(id, owner.clone());
        Ok(owner)
    }
}

/// Whether entities of this kind have few facts, so that all facts about such an entity can be
/// compared.
fn is_subject(kind: EntityKind) -> bool {
    match kind {
        EntityKind::Setting
        | EntityKind::Error
        | EntityKind::Test
        | EntityKind::Decision
        | EntityKind::Task
        | EntityKind::Preference => true,
        EntityKind::Project
        | EntityKind::File
        | EntityKind::Symbol
        | EntityKind::Tool
        | EntityKind::Topic
        | EntityKind::Person
        | EntityKind::Ticket
        | EntityKind::PullRequest => false,
    }
}

fn episodic(
    episode: &Episode,
    project: &SharedProject,
    author: &Author,
    cleaner: &TextCleaner<'_>,
) -> EpisodicNode {
    let origin = match &episode.external {
        Some(content) => content.description.clone(),
        None => format!("{} session {}", episode.session_id.agent, episode.session_id.id),
    };
    let source = episode.external.as_ref().map_or("text", |content| content.source.as_str());
    let content = cleaner.text(&document(episode, project, author));
    let content = match content.char_indices().nth(MAX_CONTENT_CHARS) {
        Some((end, _)) => format!("{}…", &content[..end]),
        None => content,
    };
    EpisodicNode {
        uuid: episode.id.0,
        name: cleaner.line(&episode.name),
        source: match source {
            known @ ("text" | "json" | "message") => known.to_owned(),
            _ => "text".to_owned(),
        },
        source_description: cleaner.line(&format!("{origin}{}", author.description_end())),
        content,
        created_at: episode.created_at,
        valid_at: episode.ended_at,
    }
}

/// Returns the content of an episode: front matter with its origin, in the format of the original
/// Graphiti, and the summary.
fn document(episode: &Episode, project: &SharedProject, author: &Author) -> String {
    let mut shown = episode.clone();
    shown.summary.session_file = None;
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let mut members = vec![
        ("version", text("1")),
        ("project_namespace", text(&project.group)),
        ("author", text(&author.name)),
        ("hostname", text(&author.machine)),
        ("agent", text(&episode.session_id.agent)),
        ("session_id", text(&episode.session_id.id)),
        ("started_at", text(&episode.started_at.to_string())),
        ("ended_at", text(&episode.ended_at.to_string())),
        ("indexed_at", text(&episode.created_at.to_string())),
        ("message_count", episode.summary.message_count.unwrap_or(0).to_string()),
    ];
    if !episode.branches.is_empty() {
        members.push(("branches", serde_json::json!(episode.branches).to_string()));
    }
    let members: String =
        members.iter().map(|(key, value)| format!("  {key}: {value}\n")).collect();
    let body = episode::markdown(&shown);
    format!("---\ngraphiti_session_metadata:\n{members}---\n\n{body}")
}
