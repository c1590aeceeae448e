//! Small things that are kept by name and that only their owner can read: what was learned, what
//! was spent, what is still to be asked.
//!
//! Each owner has a [`NoteNamespace`] of its own and a version in what it writes. A note is read at the
//! start, or long after it was written: one that is queued is not seen yet.

use sha2::{Digest, Sha256};

use crate::{model::SessionId, store::StoreError};

/// Whose notes they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoteNamespace {
    /// Sessions that a model is still to be asked about, by session key. They go with the session.
    Awaiting,
    /// What was learned about tools; one note.
    Learned,
    /// What asking models took, by day.
    Usage,
    /// Sessions that were forgotten and stay so.
    Forgotten,
    /// By which records the forgotten ones are known when they come back under another name.
    ForgottenRecords,
    /// Sessions that begin as other ones do, by session key. They go with the session.
    Forks,
    /// Summaries of messages, by what was asked.
    Summaries,
    /// What was let go to keep within limits; one note.
    Room,
    /// Which defects of older versions the database was searched for.
    Checked,
    /// By which rules the stored text was redacted; one note.
    Redaction,
}

/// One change of the notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub namespace: NoteNamespace,
    /// Its name, at most 255 bytes.
    pub name: Vec<u8>,
    /// What it says; `None` takes it away.
    pub content: Option<Vec<u8>>,
}

/// The name of a session's note on the shelves of what was forgotten.
pub fn name_of(session: &SessionId) -> Vec<u8> {
    let mut digest = Sha256::new();
    digest.update(session.agent.as_bytes());
    digest.update([0]);
    digest.update(session.id.as_bytes());
    digest.finalize()[..16].to_vec()
}

/// A note's name and what it says.
pub type NamedNote = (Vec<u8>, Vec<u8>);

/// The notes that survive a restart.
pub trait NoteStore {
    /// What a note says; `None` when there is none.
    fn note(&self, namespace: NoteNamespace, name: &[u8]) -> Result<Option<Vec<u8>>, StoreError>;

    /// All notes of a shelf with their names: the shorter names first, those of one length in
    /// their order.
    fn notes(&self, namespace: NoteNamespace) -> Result<Vec<NamedNote>, StoreError>;
}

impl NoteNamespace {
    const ALL: [NoteNamespace; 9] = [
        NoteNamespace::Awaiting,
        NoteNamespace::Learned,
        NoteNamespace::Usage,
        NoteNamespace::Forgotten,
        NoteNamespace::ForgottenRecords,
        NoteNamespace::Forks,
        NoteNamespace::Summaries,
        NoteNamespace::Room,
        NoteNamespace::Redaction,
    ];

    /// The one with this number on disk.
    pub(in crate::store) fn from_number(number: u8) -> Option<NoteNamespace> {
        NoteNamespace::ALL.into_iter().find(|namespace| namespace.number() == number)
    }

    /// Its number on disk.
    pub(in crate::store) fn number(self) -> u8 {
        match self {
            NoteNamespace::Awaiting => 1,
            NoteNamespace::Learned => 2,
            NoteNamespace::Usage => 3,
            NoteNamespace::Forgotten => 4,
            NoteNamespace::ForgottenRecords => 5,
            NoteNamespace::Forks => 6,
            NoteNamespace::Summaries => 7,
            NoteNamespace::Room => 8,
            NoteNamespace::Checked => 10,
            NoteNamespace::Redaction => 9,
        }
    }
}
