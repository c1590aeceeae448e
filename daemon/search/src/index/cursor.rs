//! An iterator over the documents that contain a word.

use tantivy::{
    DocSet,
    postings::{Postings, SegmentPostings},
};

use crate::index::memory::PostingList;

/// The value of [`Cursor::document`] after the last document.
pub(crate) const END: u32 = tantivy::TERMINATED;

/// An iterator over a posting list that is on disk, in memory or computed. A new cursor is at the
/// first document.
pub(crate) enum Cursor<'s> {
    Disk(Box<SegmentPostings>),
    Memory {
        list: &'s PostingList,
        index: usize,
    },
    /// A list that was computed for one query: documents with their counts.
    Computed {
        documents: &'s [(u32, u32)],
        index: usize,
    },
}

impl<'s> Cursor<'s> {
    pub(crate) fn disk(postings: SegmentPostings) -> Cursor<'s> {
        Cursor::Disk(Box::new(postings))
    }

    pub(crate) fn memory(list: &'s PostingList) -> Cursor<'s> {
        Cursor::Memory { list, index: 0 }
    }

    /// Creates a cursor over a computed list. `documents` must be in ascending order.
    pub(crate) fn computed(documents: &'s [(u32, u32)]) -> Cursor<'s> {
        Cursor::Computed { documents, index: 0 }
    }

    /// Returns the current document, or [`END`].
    #[inline]
    pub(crate) fn document(&self) -> u32 {
        match self {
            Cursor::Disk(postings) => postings.doc(),
            Cursor::Memory { list, index } => list.documents().get(*index).copied().unwrap_or(END),
            Cursor::Computed { documents, index } => {
                documents.get(*index).map_or(END, |found| found.0)
            }
        }
    }

    /// Returns how often the word occurs in the current document.
    #[inline]
    pub(crate) fn count(&self) -> u32 {
        match self {
            Cursor::Disk(postings) => postings.term_freq(),
            Cursor::Memory { list, index } => list.positions(*index).len() as u32,
            Cursor::Computed { documents, index } => documents[*index].1,
        }
    }

    #[inline]
    pub(crate) fn advance(&mut self) {
        match self {
            Cursor::Disk(postings) => {
                postings.advance();
            }
            Cursor::Memory { index, .. } | Cursor::Computed { index, .. } => *index += 1,
        }
    }

    /// Advances to `target` or the first document after it, and returns that document.
    #[inline]
    pub(crate) fn seek(&mut self, target: u32) -> u32 {
        match self {
            Cursor::Disk(postings) => {
                if postings.doc() < target {
                    postings.seek(target);
                }
            }
            Cursor::Memory { list, index } => {
                let rest = &list.documents()[(*index).min(list.documents().len())..];
                *index += rest.partition_point(|document| *document < target);
            }
            Cursor::Computed { documents, index } => {
                let rest = &documents[(*index).min(documents.len())..];
                *index += rest.partition_point(|found| found.0 < target);
            }
        }
        self.document()
    }

    /// Writes the word's positions in the document into `positions`; none for a computed list.
    pub(crate) fn positions(&mut self, positions: &mut Vec<u32>) {
        positions.clear();
        match self {
            Cursor::Disk(postings) => postings.positions(positions),
            Cursor::Memory { list, index } => positions.extend_from_slice(list.positions(*index)),
            Cursor::Computed { .. } => {}
        }
    }
}
