//! Notes: small named values that the store does not interpret, such as the counters of model
//! requests and the state of queued requests.
//!
//! Each kind of note has a [`NoteNamespace`]. Most notes contain the version of their content. A
//! read does not see a note that is still queued. Modules therefore read their notes at the start,
//! or long after writing them.

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::{StoreError, Write, model::SessionId};

/// The kind of a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoteNamespace {
    /// Sessions whose summary a model still has to write, by session key. Deleted with the session.
    Awaiting,
    /// The classifications of tools by a model, and the user's corrections of them; one note.
    Learned,
    /// Counters of model requests, by day.
    Usage,
    /// Sessions that the user deleted and that stay deleted.
    Forgotten,
    /// Records by which deleted sessions are recognised when they reappear under another id.
    ForgottenRecords,
    /// For each fork, the session from which it was forked, by the fork's session key. Deleted
    /// with the fork.
    Forks,
    /// A cache of the summaries of messages that a model wrote, by prompt.
    Summaries,
    /// Statistics of evictions; one note.
    Evictions,
    /// Completed searches of the database for data of older versions: files that were registered
    /// twice, and files and summaries that older rules produced.
    Checked,
    /// The version of the rules by which the stored text was redacted; one note.
    Redaction,
    /// The directories of sessions with their repositories, by namespace.
    Projects,
    /// Numbers of offered and of used lines of handoffs and search results, and the lines that
    /// sessions have not used yet; one note.
    MemoryUse,
    /// Corrections of facts, by the facts' keys.
    Corrections,
    /// The ids of the data that this machine has written to the shared graph, by session key. Kept
    /// when the session is deleted, until its data are deleted in the graph.
    Shared,
    /// Sessions that have to be compared with the shared graph, by session key.
    SharePending,
    /// The identity of the shared graph, the outbox position up to which changed sessions have a
    /// note in `SharePending`, and the progress of the comparison of all sessions.
    ShareState,
    /// Figures for statistics (times, files, tests, tokens), by session key. Deleted with the
    /// session.
    Figures,
    /// Hashes of the secrets that were recognised in a session, by session key. Deleted with the
    /// session.
    KnownSecrets,
    /// Sessions whose files have to be read again from their start, by session key. Deleted with
    /// the session.
    Rereads,
}

/// One change of the notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub namespace: NoteNamespace,
    /// The name of the note; the maximum length is 255 bytes.
    pub name: Vec<u8>,
    /// The content; `None` deletes the note.
    pub content: Option<Vec<u8>>,
}

impl Write {
    /// Returns the write of a note with `record` as JSON. The keys of all maps in `record` must be
    /// strings.
    pub fn note(namespace: NoteNamespace, name: &[u8], record: &impl Serialize) -> Write {
        let content = serde_json::to_vec(record).expect("all keys are texts");
        Write::Note(Note { namespace, name: name.to_vec(), content: Some(content) })
    }
}

/// Returns the name of a session's note in [`NoteNamespace::Forgotten`].
pub fn name_of(session: &SessionId) -> Vec<u8> {
    let mut digest = Sha256::new();
    digest.update(session.agent.as_bytes());
    digest.update([0]);
    digest.update(session.id.as_bytes());
    digest.finalize()[..16].to_vec()
}

/// The name and the content of a note.
pub type NamedNote = (Vec<u8>, Vec<u8>);

/// The notes that survive a restart.
pub trait NoteStore {
    /// Returns the content of a note.
    fn note(&self, namespace: NoteNamespace, name: &[u8]) -> Result<Option<Vec<u8>>, StoreError>;

    /// Returns all notes of a namespace with their names, sorted by the length of the name and then
    /// by the name.
    ///
    /// # Errors
    ///
    /// When one of the notes cannot be read.
    fn notes(&self, namespace: NoteNamespace) -> Result<Vec<NamedNote>, StoreError> {
        let (notes, errors) = self.readable_notes(namespace);
        errors.into_iter().next().map_or(Ok(notes), Err)
    }

    /// Returns the notes of a namespace that can be read, in the order of
    /// [`notes`](NoteStore::notes), and the errors of the other notes.
    fn readable_notes(&self, namespace: NoteNamespace) -> (Vec<NamedNote>, Vec<StoreError>);

    /// Same as [`notes`](NoteStore::notes), but skips damaged notes, and logs a warning about each
    /// of them.
    ///
    /// # Errors
    ///
    /// When a note cannot be read for another reason.
    fn undamaged_notes(&self, namespace: NoteNamespace) -> Result<Vec<NamedNote>, StoreError> {
        let (notes, errors) = self.readable_notes(namespace);
        for error in errors {
            if !matches!(error, StoreError::Damaged { .. }) {
                return Err(error);
            }
            tracing::warn!(%error, ?namespace, "a damaged note is skipped");
        }
        Ok(notes)
    }
}

impl NoteNamespace {
    const ALL: [NoteNamespace; 19] = [
        NoteNamespace::Awaiting,
        NoteNamespace::Learned,
        NoteNamespace::Usage,
        NoteNamespace::Forgotten,
        NoteNamespace::ForgottenRecords,
        NoteNamespace::Forks,
        NoteNamespace::Summaries,
        NoteNamespace::Evictions,
        NoteNamespace::Checked,
        NoteNamespace::Redaction,
        NoteNamespace::Projects,
        NoteNamespace::MemoryUse,
        NoteNamespace::Corrections,
        NoteNamespace::Shared,
        NoteNamespace::SharePending,
        NoteNamespace::ShareState,
        NoteNamespace::Figures,
        NoteNamespace::KnownSecrets,
        NoteNamespace::Rereads,
    ];

    /// Returns the namespace with this number on disk.
    pub(crate) fn from_number(number: u8) -> Option<NoteNamespace> {
        NoteNamespace::ALL.into_iter().find(|namespace| namespace.number() == number)
    }

    /// Returns the number on disk.
    pub(crate) fn number(self) -> u8 {
        match self {
            NoteNamespace::Awaiting => 1,
            NoteNamespace::Learned => 2,
            NoteNamespace::Usage => 3,
            NoteNamespace::Forgotten => 4,
            NoteNamespace::ForgottenRecords => 5,
            NoteNamespace::Forks => 6,
            NoteNamespace::Summaries => 7,
            NoteNamespace::Evictions => 8,
            NoteNamespace::Checked => 10,
            NoteNamespace::Redaction => 9,
            NoteNamespace::Projects => 20,
            NoteNamespace::MemoryUse => 21,
            NoteNamespace::Corrections => 11,
            NoteNamespace::Shared => 30,
            NoteNamespace::SharePending => 31,
            NoteNamespace::ShareState => 32,
            NoteNamespace::Figures => 33,
            NoteNamespace::KnownSecrets => 12,
            NoteNamespace::Rereads => 13,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_are_read_back_from_their_numbers() {
        for number in 0..=u8::MAX {
            if let Some(namespace) = NoteNamespace::from_number(number) {
                assert_eq!(namespace.number(), number);
            }
        }
        // `graphiti redact --again` cannot read the notes of a namespace that is missing in `ALL`.
        for namespace in [
            NoteNamespace::Awaiting,
            NoteNamespace::Checked,
            NoteNamespace::Corrections,
            NoteNamespace::Figures,
            NoteNamespace::KnownSecrets,
            NoteNamespace::Rereads,
        ] {
            assert_eq!(NoteNamespace::from_number(namespace.number()), Some(namespace));
        }
    }
}
