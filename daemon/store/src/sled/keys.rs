//! The keys of all records. The first byte of a key identifies its table.
//!
//! All tables are in one sled tree, because a `Batch` is atomic only within one tree. Numbers are
//! big-endian, so that keys sort in the order of their numbers.
//!
//! | Table | Key after the first byte | Value |
//! | --- | --- | --- |
//! | `m` | name | a counter or version |
//! | `m` | `agent`, space, agent, 0, piece | totals of the agent |
//! | `s` | session | session |
//! | `i` | agent, 0, id | session key |
//! | `l` | session | empty: the session is live |
//! | `f` | session, file number | source |
//! | `p` | half of the SHA-256 of the path | session, file number |
//! | `c` | session, file number, piece | checkpoint |
//! | `t` | session, file number, first message, piece | block of messages |
//! | `e` | episode id, piece | episode |
//! | `n` | namespace, episode id | empty: the project's episodes |
//! | `o` | position | outbox entry |
//! | `a` | record, session | empty: the record is a fork key of the session |
//! | `A` | session, record | empty: the record is a fork key of the session |
//! | `w` | namespace, length of the name, name, piece | note |
//! | `G` | episode, piece | the ids by which the episode's rows in `M` to `B` are found |
//! | `M` | entity, episode | mention |
//! | `K` | namespace, kind, time, entity, episode | empty: the project's entities by kind |
//! | `F` | fact, episode, piece | claims |
//! | `N` | entity, time, fact, episode | relation: the claims about an entity |
//! | `T` | namespace, time, fact, episode | relation: the project's claims |
//! | `S` | subject, episode, piece | marks |
//! | `R` | entity before, entity after, episode | time of the renaming |
//! | `B` | entity after, entity before, episode | time of the renaming |
//! | `V` | kind of owner, owner, piece | vectors |

use sha2::{Digest, Sha256};

use crate::{
    NoteNamespace, SourceKey,
    model::{
        EpisodeId, Namespace, SessionId, SessionKey, Timestamp,
        graph::{Claim, EntityId, EntityKind, EntityOrFact, FactKey, Mention, Rename, Subject},
        transcript::RecordUuid,
        vector::Owner,
    },
};

/// A key, or the common prefix of a range of keys.
pub(crate) type Key = Vec<u8>;

/// The first byte of each table.
pub(crate) mod table {
    pub(crate) const META: u8 = b'm';
    pub(crate) const SESSIONS: u8 = b's';
    pub(crate) const IDS: u8 = b'i';
    pub(crate) const LIVE: u8 = b'l';
    pub(crate) const SOURCES: u8 = b'f';
    pub(crate) const PATHS: u8 = b'p';
    pub(crate) const CHECKPOINTS: u8 = b'c';
    pub(crate) const MESSAGES: u8 = b't';
    pub(crate) const EPISODES: u8 = b'e';
    pub(crate) const BY_PROJECT: u8 = b'n';
    pub(crate) const OUTBOX: u8 = b'o';
    pub(crate) const NOTES: u8 = b'w';
    pub(crate) const FORK_KEYS: u8 = b'a';
    pub(crate) const FORK_KEYS_OF: u8 = b'A';
    pub(crate) const EPISODE_INDEX: u8 = b'G';
    pub(crate) const MENTIONS: u8 = b'M';
    pub(crate) const MENTIONS_BY_KIND: u8 = b'K';
    pub(crate) const CLAIMS: u8 = b'F';
    pub(crate) const CLAIMS_BY_ENTITY: u8 = b'N';
    pub(crate) const CLAIMS_BY_PROJECT: u8 = b'T';
    pub(crate) const MARKS: u8 = b'S';
    pub(crate) const RENAMES_FROM: u8 = b'R';
    pub(crate) const RENAMES_TO: u8 = b'B';
    pub(crate) const VECTORS: u8 = b'V';
}

/// The layout of a table's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// The value is not in an envelope, or can be computed again if it is damaged.
    Plain,
    /// The value is in an envelope.
    Sealed,
    /// The value is in an envelope, which is divided into pieces.
    Pieces,
}

/// Returns the layout of the values of `table`. Vectors and the totals of agents are sealed pieces,
/// but are returned as `Plain`, because they can be computed again.
pub(crate) fn layout(table: u8) -> Layout {
    match table {
        table::SESSIONS
        | table::SOURCES
        | table::OUTBOX
        | table::MENTIONS
        | table::RENAMES_FROM
        | table::RENAMES_TO => Layout::Sealed,
        table::CHECKPOINTS
        | table::MESSAGES
        | table::EPISODES
        | table::NOTES
        | table::EPISODE_INDEX
        | table::CLAIMS
        | table::MARKS => Layout::Pieces,
        _ => Layout::Plain,
    }
}

pub(crate) fn meta(name: &str) -> Key {
    key(table::META, &[name.as_bytes()])
}

pub(crate) fn session(session: SessionKey) -> Key {
    key(table::SESSIONS, &[&session.0.to_be_bytes()])
}

pub(crate) fn id(id: &SessionId) -> Key {
    key(table::IDS, &[id.agent.as_bytes(), &[0], id.id.as_bytes()])
}

/// Returns the id in a key of table `i`.
pub(crate) fn id_in(key: &[u8]) -> Option<SessionId> {
    let end = key.iter().position(|byte| *byte == 0)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some(SessionId { agent: text(key.get(1..end)?), id: text(&key[end + 1..]) })
}

pub(crate) fn live(session: SessionKey) -> Key {
    key(table::LIVE, &[&session.0.to_be_bytes()])
}

pub(crate) fn source(source: SourceKey) -> Key {
    of_source(table::SOURCES, source)
}

pub(crate) fn sources_of(session: SessionKey) -> Key {
    key(table::SOURCES, &[&session.0.to_be_bytes()])
}

pub(crate) fn path(path: &str) -> Key {
    key(table::PATHS, &[&Sha256::digest(path.as_bytes())[..16]])
}

pub(crate) fn checkpoint(source: SourceKey) -> Key {
    of_source(table::CHECKPOINTS, source)
}

pub(crate) fn checkpoints_of_session(session: SessionKey) -> Key {
    key(table::CHECKPOINTS, &[&session.0.to_be_bytes()])
}

pub(crate) fn messages_of_session(session: SessionKey) -> Key {
    key(table::MESSAGES, &[&session.0.to_be_bytes()])
}

pub(crate) fn messages_of(source: SourceKey) -> Key {
    of_source(table::MESSAGES, source)
}

pub(crate) fn messages(source: SourceKey, first: u32) -> Key {
    let mut key = messages_of(source);
    key.extend_from_slice(&first.to_be_bytes());
    key
}

pub(crate) fn episode(id: EpisodeId) -> Key {
    key(table::EPISODES, &[id.0.as_bytes()])
}

pub(crate) fn episodes_of(project: Namespace) -> Key {
    key(table::BY_PROJECT, &[&project.number().to_be_bytes()])
}

pub(crate) fn episode_of(project: Namespace, id: EpisodeId) -> Key {
    let mut key = episodes_of(project);
    key.extend_from_slice(id.0.as_bytes());
    key
}

pub(crate) fn outbox(position: u64) -> Key {
    key(table::OUTBOX, &[&position.to_be_bytes()])
}

pub(crate) fn notes(namespace: NoteNamespace) -> Key {
    key(table::NOTES, &[&[namespace.number()]])
}

/// Returns the key of a note. The length precedes the name, so that no key is a prefix of another.
pub(crate) fn note(namespace: NoteNamespace, name: &[u8]) -> Key {
    let name = &name[..name.len().min(usize::from(u8::MAX))];
    key(table::NOTES, &[&[namespace.number()], &[name.len() as u8], name])
}

/// Returns the name in a key of the table `w`.
pub(crate) fn note_in(key: &[u8]) -> Option<&[u8]> {
    let length = usize::from(*key.get(2)?);
    key.get(3..3 + length)
}

pub(crate) fn fork_keys(record: RecordUuid) -> Key {
    key(table::FORK_KEYS, &[&record])
}

pub(crate) fn fork_keys_of(session: SessionKey) -> Key {
    key(table::FORK_KEYS_OF, &[&session.0.to_be_bytes()])
}

/// Returns the keys of the two rows of a fork key: by its record, and by its session.
pub(crate) fn fork_key(session: SessionKey, record: RecordUuid) -> [Key; 2] {
    let number = session.0.to_be_bytes();
    [key(table::FORK_KEYS, &[&record, &number]), key(table::FORK_KEYS_OF, &[&number, &record])]
}

/// Returns the session in a key of the table `a`.
pub(crate) fn session_of_fork_key(key: &[u8]) -> Option<SessionKey> {
    Some(SessionKey(u64::from_be_bytes(key.get(17..25)?.try_into().ok()?)))
}

/// Returns the record in a key of the table `A`.
pub(crate) fn fork_key_in(key: &[u8]) -> Option<RecordUuid> {
    key.get(9..25)?.try_into().ok()
}

pub(crate) fn episode_index(episode: EpisodeId) -> Key {
    key(table::EPISODE_INDEX, &[episode.0.as_bytes()])
}

pub(crate) fn mentions_of(entity: EntityId) -> Key {
    key(table::MENTIONS, &[entity.0.as_bytes()])
}

pub(crate) fn mention(entity: EntityId, episode: EpisodeId) -> Key {
    key(table::MENTIONS, &[entity.0.as_bytes(), episode.0.as_bytes()])
}

pub(crate) fn mentions_by_kind(namespace: Namespace, kind: EntityKind) -> Key {
    key(table::MENTIONS_BY_KIND, &[&namespace.number().to_be_bytes(), &[kind.number()]])
}

pub(crate) fn mention_by_kind(mention: &Mention, episode: EpisodeId) -> Key {
    let mut key = mentions_by_kind(mention.namespace, mention.kind);
    key.extend_from_slice(&time(mention.at));
    key.extend_from_slice(mention.entity.0.as_bytes());
    key.extend_from_slice(episode.0.as_bytes());
    key
}

pub(crate) fn claims_of(fact: FactKey) -> Key {
    key(table::CLAIMS, &[fact.0.as_bytes()])
}

pub(crate) fn claims(fact: FactKey, episode: EpisodeId) -> Key {
    key(table::CLAIMS, &[fact.0.as_bytes(), episode.0.as_bytes()])
}

pub(crate) fn claims_by_entity(entity: EntityId) -> Key {
    key(table::CLAIMS_BY_ENTITY, &[entity.0.as_bytes()])
}

pub(crate) fn claim_by_entity(entity: EntityId, claim: &Claim, episode: EpisodeId) -> Key {
    of_claim(claims_by_entity(entity), claim, episode)
}

pub(crate) fn claims_by_project(namespace: Namespace) -> Key {
    key(table::CLAIMS_BY_PROJECT, &[&namespace.number().to_be_bytes()])
}

pub(crate) fn claim_by_project(claim: &Claim, episode: EpisodeId) -> Key {
    of_claim(claims_by_project(claim.namespace), claim, episode)
}

pub(crate) fn marks_of(subject: Subject) -> Key {
    key(table::MARKS, &[&subject.0])
}

pub(crate) fn marks(subject: Subject, episode: EpisodeId) -> Key {
    key(table::MARKS, &[&subject.0, episode.0.as_bytes()])
}

pub(crate) fn renames_from(entity: EntityId) -> Key {
    key(table::RENAMES_FROM, &[entity.0.as_bytes()])
}

pub(crate) fn renames_to(entity: EntityId) -> Key {
    key(table::RENAMES_TO, &[entity.0.as_bytes()])
}

/// Returns the keys of the two rows of a renaming: by the old name, and by the new name.
pub(crate) fn rename(rename: &Rename, episode: EpisodeId) -> [Key; 2] {
    let ends = [
        (table::RENAMES_FROM, rename.from, rename.to),
        (table::RENAMES_TO, rename.to, rename.from),
    ];
    ends.map(|(table, one, other)| {
        key(table, &[one.0.as_bytes(), other.0.as_bytes(), episode.0.as_bytes()])
    })
}

/// Returns the key of vectors. The kind precedes the owner, so that no key is a prefix of another.
pub(crate) fn vectors(owner: Owner) -> Key {
    match owner {
        Owner::Session(session) => key(table::VECTORS, &[&[0], &session.0.to_be_bytes()]),
        Owner::EntityOrFact(EntityOrFact::Entity(id)) => {
            key(table::VECTORS, &[&[1], id.0.as_bytes()])
        }
        Owner::EntityOrFact(EntityOrFact::Fact(fact)) => {
            key(table::VECTORS, &[&[2], fact.0.as_bytes()])
        }
    }
}

/// Returns the owner in a key of the table `V`.
pub(crate) fn owner_in(key: &[u8]) -> Option<Owner> {
    match key.get(1)? {
        0 => {
            let number = key.get(2..10)?.try_into().ok()?;
            Some(Owner::Session(SessionKey(u64::from_be_bytes(number))))
        }
        1 => Some(Owner::EntityOrFact(EntityOrFact::Entity(EntityId(uuid_in(key, 2)?)))),
        2 => Some(Owner::EntityOrFact(EntityOrFact::Fact(FactKey(uuid_in(key, 2)?)))),
        _ => None,
    }
}

/// Encodes a time for a key, with its sign bit flipped, so that keys sort by time.
pub(crate) fn time(at: Timestamp) -> [u8; 8] {
    (at.micros().cast_unsigned() ^ (1 << 63)).to_be_bytes()
}

/// Encodes a file's key as a value of the table `p`.
pub(crate) fn of_path(source: SourceKey) -> Vec<u8> {
    let mut bytes = source.session.0.to_be_bytes().to_vec();
    bytes.extend_from_slice(&source.number.to_be_bytes());
    bytes
}

/// Returns the file in a value of the table `p`.
pub(crate) fn source_of_path(value: &[u8]) -> Option<SourceKey> {
    let session = SessionKey(u64::from_be_bytes(*value.first_chunk()?));
    Some(SourceKey { session, number: u32::from_be_bytes(*value.last_chunk()?) })
}

/// Returns the session in a key whose first byte is followed by a session.
pub(crate) fn session_in(key: &[u8]) -> Option<SessionKey> {
    Some(SessionKey(u64::from_be_bytes(key.get(1..9)?.try_into().ok()?)))
}

/// Returns the number of the first message in a key of the table `t`.
pub(crate) fn first_message_in(key: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(key.get(13..17)?.try_into().ok()?))
}

/// Returns the position in a key of the table `o`.
pub(crate) fn position_in(key: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(key.get(1..9)?.try_into().ok()?))
}

/// Returns the episode at byte `at` of a key.
pub(crate) fn episode_in(key: &[u8], at: usize) -> Option<EpisodeId> {
    uuid::Uuid::from_slice(key.get(at..at + 16)?).ok().map(EpisodeId)
}

/// Returns the UUID of an entity or a fact at byte `at` of a key.
pub(crate) fn uuid_in(key: &[u8], at: usize) -> Option<uuid::Uuid> {
    uuid::Uuid::from_slice(key.get(at..at + 16)?).ok()
}

/// Returns the time at byte `at` of a key.
pub(crate) fn time_in(key: &[u8], at: usize) -> Option<Timestamp> {
    let bits = u64::from_be_bytes(key.get(at..at + 8)?.try_into().ok()?);
    Some(Timestamp::from_micros((bits ^ (1 << 63)).cast_signed()))
}

fn of_claim(mut key: Key, claim: &Claim, episode: EpisodeId) -> Key {
    key.extend_from_slice(&time(claim.at));
    key.extend_from_slice(claim.key.0.as_bytes());
    key.extend_from_slice(episode.0.as_bytes());
    key
}

fn of_source(table: u8, source: SourceKey) -> Key {
    key(table, &[&source.session.0.to_be_bytes(), &source.number.to_be_bytes()])
}

fn key(table: u8, parts: &[&[u8]]) -> Key {
    let mut key = vec![table];
    for part in parts {
        key.extend_from_slice(part);
    }
    key
}
