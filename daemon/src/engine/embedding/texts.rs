//! The texts from which vectors are computed.
//!
//! The texts of a session are the fields of its episode, without the files, and chunks
//! ([`TextChunker`]) of the messages of its own file. The text of an entity consists of its kind,
//! its name and the sentences of its facts. The text of a fact is its sentence.

use sha2::{Digest, Sha256};

use crate::{
    engine::entities::Graph,
    model::{EpisodeId, Message, SessionKey, graph::EntityOrFact, vector::Owner},
    search::{
        index::EpisodeField,
        passage::PassageKind,
        vectors::texts::{TextChunker, start},
    },
    store::{SourceKey, Store, StoreError},
};

/// The texts of one owner.
pub(super) struct Texts {
    pub(super) owner: Owner,
    /// The episode, if the owner is a session.
    pub(super) episode: Option<EpisodeId>,
    /// The texts; the list is never empty.
    pub(super) texts: Vec<String>,
}

/// Number of messages that are read at a time.
const MESSAGES: usize = 512;

impl Texts {
    /// Returns the texts of `owner`; `None` if the owner has no texts, or does not exist any more.
    pub(super) fn of(owner: Owner, store: &dyn Store) -> Result<Option<Texts>, StoreError> {
        match owner {
            Owner::Session(key) => of_session(key, store),
            Owner::EntityOrFact(thing) => Ok(text_of_entity_or_fact(thing, store)?
                .map(|text| Texts { owner, episode: None, texts: vec![start(&text).to_owned()] })),
        }
    }

    /// Returns a hash of the texts.
    pub(super) fn fingerprint(&self) -> u64 {
        let mut hash = Sha256::new();
        for text in &self.texts {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        }
        u64::from_be_bytes(*hash.finalize().first_chunk().expect("a hash has 32 bytes"))
    }
}

fn of_session(key: SessionKey, store: &dyn Store) -> Result<Option<Texts>, StoreError> {
    let Some(episode) = store.stored_episode_of(key)? else { return Ok(None) };
    let fields = EpisodeField::all_of(&episode);
    let head =
        |field: &&EpisodeField| matches!(field.kind, PassageKind::Title | PassageKind::Objective);
    let text_of = |fields: &mut dyn Iterator<Item = &EpisodeField>| {
        let texts: Vec<&str> = fields.map(|field| field.text.as_str()).collect();
        start(&texts.join("\n")).to_owned()
    };
    let mut texts = vec![
        text_of(&mut fields.iter().filter(head)),
        text_of(&mut fields.iter().filter(|field| !head(field) && field.kind != PassageKind::File)),
    ];
    texts.extend(message_texts(SourceKey { session: key, number: 0 }, store)?);
    texts.retain(|text| !text.trim().is_empty());
    let owner = Owner::Session(key);
    Ok((!texts.is_empty()).then_some(Texts { owner, episode: Some(episode.id), texts }))
}

fn text_of_entity_or_fact(
    thing: EntityOrFact,
    store: &dyn Store,
) -> Result<Option<String>, StoreError> {
    let graph = Graph::of(store);
    match thing {
        EntityOrFact::Entity(id) => {
            // A renamed entity has a text only under the id of its latest name.
            let Some(entity) = graph.entity(id)?.filter(|entity| entity.id == id) else {
                return Ok(None);
            };
            let statements = graph.statements_about(id)?;
            Ok(Some(format!("{} {}\n{statements}", entity.kind.as_str(), entity.name)))
        }
        EntityOrFact::Fact(key) => Ok(graph.last_claim(key)?.map(|claim| claim.sentence)),
    }
}

fn message_texts(source: SourceKey, store: &dyn Store) -> Result<Vec<String>, StoreError> {
    let mut chunker = TextChunker::default();
    let mut next = 0;
    loop {
        let messages: Vec<Message> = store.messages(source, next, MESSAGES)?;
        let Some(last) = messages.last() else { break };
        next = last.seq + 1;
        messages.iter().for_each(|message| chunker.add(message.role, &message.text));
    }
    Ok(chunker.texts())
}
