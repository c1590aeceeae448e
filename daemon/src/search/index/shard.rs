//! A part of the index, on disk or in memory, as the ranking sees it.

use std::collections::HashSet;

use tantivy::schema::IndexRecordOption;

use crate::search::{
    index::{
        cursor::Cursor,
        disk::DiskShard,
        memory::{Attribute, MemoryShard},
        passages::EPISODE_SOURCE,
        schema::LAYOUT,
    },
    passage::PassageKind,
};

/// What is known of a document without its words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Facts {
    pub(crate) session: u64,
    pub(crate) source: u32,
    pub(crate) seq: u32,
    pub(crate) part: u32,
    /// `None` for a card.
    pub(crate) kind: Option<PassageKind>,
    /// Seconds since the epoch.
    pub(crate) at: i64,
    pub(crate) length: u32,
}

/// What is known of a session without its words.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CardFacts {
    pub(crate) namespace: u32,
    pub(crate) project: Option<String>,
    pub(crate) agent: String,
    /// Seconds since the epoch, as is `ended`.
    pub(crate) started: i64,
    pub(crate) ended: i64,
}

/// What a later layer says is void in the earlier ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Graves {
    pub(crate) sessions: HashSet<u64>,
    pub(crate) sources: HashSet<(u64, u32)>,
}

impl Graves {
    pub(crate) fn is_empty(&self) -> bool {
        self.sessions.is_empty() && self.sources.is_empty()
    }

    /// Whether a passage there is void.
    pub(crate) fn hold(&self, session: u64, source: u32) -> bool {
        self.sessions.contains(&session) || self.sources.contains(&(session, source))
    }
}

/// A part of the index together with what later parts say is void in it.
pub(crate) struct Shard<'s> {
    pub(crate) store: Store<'s>,
    /// Of later layers, none of them empty.
    pub(crate) graves: Vec<&'s Graves>,
}

/// Where a [`Shard`] lies.
#[derive(Clone, Copy)]
pub(crate) enum Store<'s> {
    Disk(&'s DiskShard),
    Memory(&'s MemoryShard),
}

impl<'s> Shard<'s> {
    /// One more than the highest document number.
    pub(crate) fn end(&self) -> u32 {
        match self.store {
            Store::Disk(disk) => disk.end(),
            Store::Memory(memory) => memory.end(),
        }
    }

    /// Documents alive, cards left out.
    pub(crate) fn passages(&self) -> u32 {
        match self.store {
            Store::Disk(disk) => disk.documents() - disk.cards(),
            Store::Memory(memory) => memory.documents(),
        }
    }

    /// Terms in it, counted with their repetitions.
    pub(crate) fn length(&self) -> u64 {
        match self.store {
            Store::Disk(disk) => disk.words(),
            Store::Memory(memory) => memory.length(),
        }
    }

    /// Whether a document may be found.
    #[inline]
    pub(crate) fn is_alive(&self, document: u32) -> bool {
        let is_alive = match self.store {
            Store::Disk(disk) => disk.is_alive(document),
            Store::Memory(memory) => memory.is_alive(document),
        };
        is_alive && (self.graves.is_empty() || !self.is_void(document))
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

    /// Documents that hold a word, void ones counted.
    pub(crate) fn frequency(&self, word: &str) -> tantivy::Result<u32> {
        match self.store {
            Store::Disk(disk) => disk.frequency(word),
            Store::Memory(memory) => {
                Ok(memory.postings(word).map_or(0, super::memory::PostingList::frequency))
            }
        }
    }

    /// A walk through the documents that hold a word, with its positions when `positions`.
    pub(crate) fn walk(&self, word: &str, depth: Depth) -> tantivy::Result<Option<Cursor<'s>>> {
        match self.store {
            Store::Disk(disk) => {
                let option = match depth {
                    Depth::Counts => IndexRecordOption::WithFreqs,
                    Depth::Positions => IndexRecordOption::WithFreqsAndPositions,
                };
                Ok(disk.postings(word, option)?.map(Cursor::disk))
            }
            Store::Memory(memory) => Ok(memory.postings(word).map(Cursor::memory)),
        }
    }

    /// Words that begin with `prefix`, the most frequent first, at most `limit`.
    pub(crate) fn words_with_prefix(
        &self,
        prefix: &str,
        limit: usize,
    ) -> tantivy::Result<Vec<String>> {
        let words = match self.store {
            Store::Disk(disk) => disk.words_with_prefix(prefix, limit)?,
            Store::Memory(memory) => memory.words_with_prefix(prefix, limit),
        };
        Ok(words.into_iter().map(|(word, _)| word).collect())
    }

    /// Documents with an attribute, void ones left out.
    pub(crate) fn documents_with(
        &self,
        attribute: Attribute,
        term: &str,
    ) -> tantivy::Result<Vec<u32>> {
        let field = match attribute {
            Attribute::File => LAYOUT.file,
            Attribute::Tool => LAYOUT.tool,
            Attribute::Branch => LAYOUT.branch,
        };
        let documents = match self.store {
            Store::Disk(disk) => disk.documents_with(field, term)?,
            Store::Memory(memory) => memory.documents_with(attribute, term).to_vec(),
        };
        Ok(self.alive(documents))
    }

    /// A session's passages, void ones left out.
    pub(crate) fn passages_of(&self, session: u64) -> tantivy::Result<Vec<u32>> {
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

    fn is_void(&self, document: u32) -> bool {
        let (session, source) = match self.store {
            Store::Disk(disk) => (disk.session(document), (disk.place(document) >> 32) as u32),
            Store::Memory(memory) => {
                let facts = memory.facts(document);
                (facts.session, facts.source)
            }
        };
        self.graves.iter().any(|graves| graves.hold(session, source))
    }
}

/// How much of a word's list is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    Counts,
    Positions,
}

/// Whether a source number is an episode's.
pub(crate) fn is_episode(source: u32) -> bool {
    source == EPISODE_SOURCE
}
