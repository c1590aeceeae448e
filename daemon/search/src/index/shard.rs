//! A segment on disk or a layer in memory, with one interface for the ranking.

use std::collections::{BTreeSet, HashSet};

use tantivy::{postings::TermInfo, schema::IndexRecordOption};

use crate::{
    index::{
        cursor::Cursor,
        disk::DiskShard,
        facts::Facts,
        memory::{Attribute, MemoryShard},
        passages::EPISODE_SOURCE,
        schema::LAYOUT,
        terms,
    },
    passage::PassageKind,
    text::{distance, language::LanguageSet},
};

/// The sessions and sources that a layer deletes from earlier shards.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tombstones {
    pub(crate) sessions: HashSet<u64>,
    pub(crate) sources: HashSet<(u64, u32)>,
}

impl Tombstones {
    pub(crate) fn is_empty(&self) -> bool {
        self.sessions.is_empty() && self.sources.is_empty()
    }

    /// Whether a passage of this session and source is deleted.
    pub(crate) fn contain(&self, session: u64, source: u32) -> bool {
        self.sessions.contains(&session) || self.sources.contains(&(session, source))
    }
}

/// A segment or a layer, together with the deletions of later layers.
pub(crate) struct Shard<'s> {
    /// The index in [`crate::index::view::View::shards`].
    pub(crate) number: usize,
    pub(crate) store: Store<'s>,
    /// The deletions of later layers; none of them is empty.
    pub(crate) tombstones: Vec<&'s Tombstones>,
}

#[derive(Clone, Copy)]
pub(crate) enum Store<'s> {
    Disk(&'s DiskShard),
    Memory(&'s MemoryShard),
}

impl<'s> Shard<'s> {
    /// Returns the highest document number plus one.
    pub(crate) fn end(&self) -> u32 {
        match self.store {
            Store::Disk(disk) => disk.end(),
            Store::Memory(memory) => memory.end(),
        }
    }

    /// Returns the number of documents other than cards, including those that later layers delete.
    pub(crate) fn passages(&self) -> u32 {
        match self.store {
            Store::Disk(disk) => disk.documents() - disk.cards(),
            Store::Memory(memory) => memory.documents(),
        }
    }

    /// Returns the number of term occurrences. On disk, deleted documents are included.
    pub(crate) fn length(&self) -> u64 {
        match self.store {
            Store::Disk(disk) => disk.words(),
            Store::Memory(memory) => memory.length(),
        }
    }

    /// Returns the languages, other than English, of the texts in the shard, even of deleted texts.
    pub(crate) fn languages(&self) -> LanguageSet {
        match self.store {
            Store::Disk(disk) => disk.languages(),
            Store::Memory(memory) => memory.languages(),
        }
    }

    /// Whether a document is not deleted.
    #[inline]
    pub(crate) fn is_alive(&self, document: u32) -> bool {
        let is_alive = match self.store {
            Store::Disk(disk) => disk.is_alive(document),
            Store::Memory(memory) => memory.is_alive(document),
        };
        is_alive && (self.tombstones.is_empty() || !self.is_deleted(document))
    }

    #[inline]
    pub(crate) fn session(&self, document: u32) -> u64 {
        match self.store {
            Store::Disk(disk) => disk.session(document),
            Store::Memory(memory) => memory.facts(document).session,
        }
    }

    #[inline]
    pub(crate) fn kind(&self, document: u32) -> Option<PassageKind> {
        match self.store {
            Store::Disk(disk) => disk.kind(document),
            Store::Memory(memory) => memory.facts(document).kind,
        }
    }

    #[inline]
    pub(crate) fn length_of(&self, document: u32) -> u32 {
        match self.store {
            Store::Disk(disk) => disk.length(document),
            Store::Memory(memory) => memory.facts(document).length,
        }
    }

    pub(crate) fn at(&self, document: u32) -> i64 {
        match self.store {
            Store::Disk(disk) => disk.at(document),
            Store::Memory(memory) => memory.facts(document).at,
        }
    }

    pub(crate) fn facts(&self, document: u32) -> Facts {
        match self.store {
            Store::Disk(disk) => disk.facts(document),
            Store::Memory(memory) => *memory.facts(document),
        }
    }

    pub(crate) fn term(&self, word: &str) -> tantivy::Result<Option<ShardTerm>> {
        Ok(match self.store {
            Store::Disk(disk) => disk.term(word)?.map(ShardTerm::Disk),
            Store::Memory(memory) => {
                memory.postings(word).map(|list| ShardTerm::Memory { frequency: list.frequency() })
            }
        })
    }

    /// Returns a cursor over the documents that contain a word. `detail` decides whether the cursor
    /// has positions.
    pub(crate) fn cursor(
        &self,
        word: &str,
        detail: PostingDetail,
    ) -> tantivy::Result<Option<Cursor<'s>>> {
        match self.term(word)? {
            Some(term) => self.cursor_of_term(word, &term, detail),
            None => Ok(None),
        }
    }

    /// Same as [`Shard::cursor`], for a word that was looked up in this shard.
    pub(crate) fn cursor_of_term(
        &self,
        word: &str,
        term: &ShardTerm,
        detail: PostingDetail,
    ) -> tantivy::Result<Option<Cursor<'s>>> {
        match (self.store, term) {
            (Store::Disk(disk), ShardTerm::Disk(info)) => {
                let option = match detail {
                    PostingDetail::Counts => IndexRecordOption::WithFreqs,
                    PostingDetail::Positions => IndexRecordOption::WithFreqsAndPositions,
                };
                Ok(Some(Cursor::disk(disk.postings(info, option)?)))
            }
            (Store::Memory(memory), _) => Ok(memory.postings(word).map(Cursor::memory)),
            (Store::Disk(_), ShardTerm::Memory { .. }) => Ok(None),
        }
    }

    /// Returns at most `limit` words that begin with `prefix`, with their frequencies, the most
    /// frequent first.
    pub(crate) fn words_with_prefix(
        &self,
        prefix: &str,
        limit: usize,
    ) -> tantivy::Result<Vec<(String, u32)>> {
        match self.store {
            Store::Disk(disk) => disk.words_with_prefix(prefix, limit),
            Store::Memory(memory) => Ok(memory.words_with_prefix(prefix, limit)),
        }
    }

    /// Returns the compound words that end with `last` and have at least `before` letters before
    /// `last`, with their frequencies. Looks for them in the texts of languages that write
    /// compounds as one word. Reads all stems of these languages.
    pub(crate) fn compounds_with(
        &self,
        last: &str,
        before: usize,
    ) -> tantivy::Result<Vec<(String, u32)>> {
        let mut compounds = BTreeSet::new();
        for language in self.languages().iter().filter(|language| language.joins_compounds()) {
            let prefix = terms::prefix_of(language);
            let mut visit = |term: &str| {
                compounds.extend(terms::compounds_of(&term[prefix.len()..], last, before));
            };
            match self.store {
                Store::Disk(disk) => disk.each_term_with_prefix(&prefix, &mut visit)?,
                Store::Memory(memory) => memory.each_term_with_prefix(&prefix, &mut visit),
            }
        }
        let mut found = Vec::new();
        for compound in compounds {
            if let Some(term) = self.term(&compound)? {
                found.push((compound, term.frequency()));
            }
        }
        Ok(found)
    }

    /// Returns the words that at most `edits` edits (1 or 2) turn into `word`, with their
    /// frequencies.
    pub(crate) fn words_near(&self, word: &str, edits: u8) -> tantivy::Result<Vec<(String, u32)>> {
        let mut words = match self.store {
            Store::Disk(disk) => disk.words_near(word, edits)?,
            Store::Memory(memory) => memory.words_where(|near| match edits {
                1 => distance::is_one_edit(near, word),
                _ => distance::is_two_edits(near, word),
            }),
        };
        words.retain(|(near, _)| terms::is_word(near));
        Ok(words)
    }

    /// Returns the documents that have an attribute and are not deleted.
    pub(crate) fn documents_with(
        &self,
        attribute: Attribute,
        term: &str,
    ) -> tantivy::Result<Vec<u32>> {
        let field = match attribute {
            Attribute::File => LAYOUT.file,
            Attribute::Tool => LAYOUT.tool,
            Attribute::Branch => LAYOUT.branch,
            Attribute::Work => LAYOUT.work,
        };
        let documents = match self.store {
            Store::Disk(disk) => disk.documents_with(field, term)?,
            Store::Memory(memory) => memory.documents_with(attribute, term).to_vec(),
        };
        Ok(self.alive(documents))
    }

    /// Returns the documents of a session that are not deleted: its passages and, on disk, its
    /// card.
    pub(crate) fn documents_of(&self, session: u64) -> tantivy::Result<Vec<u32>> {
        let documents = match self.store {
            Store::Disk(disk) => disk.documents_of(session)?,
            Store::Memory(memory) => memory.documents_of(session).to_vec(),
        };
        Ok(self.alive(documents))
    }

    fn alive(&self, mut documents: Vec<u32>) -> Vec<u32> {
        documents.retain(|document| self.is_alive(*document));
        documents
    }

    fn is_deleted(&self, document: u32) -> bool {
        let (session, source) = match self.store {
            Store::Disk(disk) => (disk.session(document), (disk.place(document) >> 32) as u32),
            Store::Memory(memory) => {
                let facts = memory.facts(document);
                (facts.session, facts.source)
            }
        };
        self.tombstones.iter().any(|tombstones| tombstones.contain(session, source))
    }
}

/// A word in one shard, looked up once for all passes over its posting list.
#[derive(Clone)]
pub(crate) enum ShardTerm {
    Disk(TermInfo),
    Memory { frequency: u32 },
}

impl ShardTerm {
    /// Returns the number of documents that contain the word, including deleted ones.
    pub(crate) fn frequency(&self) -> u32 {
        match self {
            ShardTerm::Disk(info) => info.doc_freq,
            ShardTerm::Memory { frequency } => *frequency,
        }
    }
}

/// How much of a posting list is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PostingDetail {
    Counts,
    Positions,
}

pub(crate) fn is_episode(source: u32) -> bool {
    source == EPISODE_SOURCE
}
