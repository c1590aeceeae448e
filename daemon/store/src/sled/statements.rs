//! Converts the statements of one episode to rows, and reads them.
//!
//! Every row belongs to one episode, whose id is the last part of the row's key. If the value is
//! stored in pieces, the number of the piece follows the id. The index of the episode (table `G`)
//! has the ids by which its rows are found, so that all of them are deleted with the episode.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use sled::Tree;

use super::{
    envelope,
    keys::{self, Key},
    pieces,
    reading::damaged,
    records::{ClaimRecord, EpisodeIndexRecord, MarkRecord, MentionRecord, RenameRecord},
};
use crate::{
    StoreError,
    model::{
        EpisodeId, Timestamp,
        graph::{Attributed, Claim, EntityOrFact, Mark, Mention, Statements, Subject},
    },
};

pub(super) fn rows(episode: EpisodeId, statements: &Statements) -> Vec<(Key, Vec<u8>)> {
    let created_at = statements.created_at.micros();
    let mut rows = Rows { episode, rows: Vec::new() };
    for mention in &statements.mentions {
        let key = keys::mention(mention.entity, episode);
        rows.rows.push((key, envelope::seal(&MentionRecord::new(mention, created_at))));
        rows.push_empty(keys::mention_by_kind(mention, episode));
    }
    let mut claims: BTreeMap<_, Vec<ClaimRecord>> = BTreeMap::new();
    for claim in &statements.claims {
        claims.entry(claim.key).or_default().push(ClaimRecord::new(claim, created_at));
        rows.push_claim_index(claim);
    }
    for (fact, records) in &claims {
        rows.push_pieces(&keys::claims(*fact, episode), records);
    }
    let mut marks: BTreeMap<Subject, Vec<MarkRecord>> = BTreeMap::new();
    for mark in &statements.marks {
        marks.entry(mark.subject).or_default().push(MarkRecord::new(mark, created_at));
    }
    for (subject, records) in &marks {
        rows.push_pieces(&keys::marks(*subject, episode), records);
    }
    for rename in &statements.renames {
        for key in keys::rename(rename, episode) {
            rows.rows.push((key, envelope::seal(&RenameRecord(rename.at.micros()))));
        }
    }
    rows.push_pieces(&keys::episode_index(episode), &episode_index(statements));
    rows.rows
}

/// Reads the statements of an episode from its rows. Returns empty statements if there are no rows.
pub(super) fn read(tree: &Tree, episode: EpisodeId) -> Result<Statements, StoreError> {
    let index = read_episode_index(tree, episode)?;
    let mut statements = Statements {
        created_at: Timestamp::from_micros(index.created_at),
        renames: index.renames().collect(),
        ..Statements::default()
    };
    for entity_or_fact in index.entities_and_facts() {
        match entity_or_fact {
            EntityOrFact::Entity(entity) => {
                let key = keys::mention(entity, episode);
                if let Some(sealed) = tree.get(&key)? {
                    statements.mentions.push(mention(&key, &sealed)?.what);
                }
            }
            EntityOrFact::Fact(fact) => {
                let key = keys::claims(fact, episode);
                if let Some(sealed) = pieces::get(tree, &key)? {
                    statements
                        .claims
                        .extend(claims(&key, &sealed)?.map(|attributed| attributed.what));
                }
            }
        }
    }
    for subject in index.subjects() {
        let key = keys::marks(subject, episode);
        if let Some(sealed) = pieces::get(tree, &key)? {
            statements.marks.extend(marks(&key, &sealed)?.map(|attributed| attributed.what));
        }
    }
    Ok(statements)
}

/// Reads the index of an episode's rows. Returns an empty index if the episode has no statements.
pub(super) fn read_episode_index(
    tree: &Tree,
    episode: EpisodeId,
) -> Result<EpisodeIndexRecord, StoreError> {
    let key = keys::episode_index(episode);
    let Some(sealed) = pieces::get(tree, &key)? else { return Ok(EpisodeIndexRecord::default()) };
    envelope::open(&sealed).map_err(|what| damaged(&key, what))
}

/// Decodes the mention in a row. The key ends with the id of the episode.
pub(super) fn mention(key: &[u8], sealed: &[u8]) -> Result<Attributed<Mention>, StoreError> {
    let read = || {
        let record: MentionRecord = envelope::open(sealed)?;
        let created_at = Timestamp::from_micros(record.created_at);
        Ok(Attributed { episode: episode_in(key)?, created_at, what: Mention::try_from(record)? })
    };
    read().map_err(|what| damaged(key, what))
}

/// Decodes the claims in a row. The key ends with the id of the episode, not with the number of a
/// piece.
pub(super) fn claims(
    key: &[u8],
    sealed: &[u8],
) -> Result<impl Iterator<Item = Attributed<Claim>>, StoreError> {
    let read = || {
        let episode = episode_in(key)?;
        let records: Vec<ClaimRecord> = envelope::open(sealed)?;
        let attribute = |record: ClaimRecord| {
            let created_at = Timestamp::from_micros(record.created_at);
            Ok(Attributed { episode, created_at, what: Claim::try_from(record)? })
        };
        records.into_iter().map(attribute).collect::<Result<Vec<_>, String>>()
    };
    Ok(read().map_err(|what| damaged(key, what))?.into_iter())
}

/// Decodes the marks in a row. The key ends with the id of the episode, not with the number of a
/// piece.
pub(super) fn marks(
    key: &[u8],
    sealed: &[u8],
) -> Result<impl Iterator<Item = Attributed<Mark>>, StoreError> {
    let read = || Ok((episode_in(key)?, envelope::open(sealed)?));
    let (episode, records): (EpisodeId, Vec<MarkRecord>) =
        read().map_err(|what| damaged(key, what))?;
    Ok(records.into_iter().map(move |record| {
        let created_at = Timestamp::from_micros(record.created_at);
        Attributed { episode, created_at, what: Mark::from(record) }
    }))
}

pub(super) fn entities_and_facts(statements: &Statements) -> impl Iterator<Item = EntityOrFact> {
    let entities = statements.mentions.iter().map(|mention| EntityOrFact::Entity(mention.entity));
    entities.chain(statements.claims.iter().map(|claim| EntityOrFact::Fact(claim.key)))
}

struct Rows {
    episode: EpisodeId,
    rows: Vec<(Key, Vec<u8>)>,
}

impl Rows {
    fn push_pieces<T: Serialize>(&mut self, key: &Key, record: &T) {
        self.rows.extend(pieces::split(key, &envelope::seal(record)));
    }

    fn push_empty(&mut self, key: Key) {
        self.rows.push((key, Vec::new()));
    }

    fn push_claim_index(&mut self, claim: &Claim) {
        let relation = vec![claim.relation.number()];
        for entity in claim.entities() {
            let key = keys::claim_by_entity(entity, claim, self.episode);
            self.rows.push((key, relation.clone()));
        }
        self.rows.push((keys::claim_by_project(claim, self.episode), relation));
    }
}

fn episode_index(statements: &Statements) -> EpisodeIndexRecord {
    let facts: BTreeSet<[u8; 16]> =
        statements.claims.iter().map(|claim| claim.key.0.into_bytes()).collect();
    let subjects: BTreeSet<[u8; 16]> = statements.marks.iter().map(|mark| mark.subject.0).collect();
    let entities = statements.mentions.iter().map(|mention| mention.entity.0.into_bytes());
    let renames = statements.renames.iter();
    EpisodeIndexRecord {
        created_at: statements.created_at.micros(),
        entities: entities.collect(),
        facts: facts.into_iter().collect(),
        subjects: subjects.into_iter().collect(),
        renames: renames
            .map(|one| (one.from.0.into_bytes(), one.to.0.into_bytes(), one.at.micros()))
            .collect(),
    }
}

fn episode_in(key: &[u8]) -> Result<EpisodeId, String> {
    let at = key.len().checked_sub(16).ok_or("a key without an episode")?;
    keys::episode_in(key, at).ok_or_else(|| "a key without an episode".to_owned())
}
