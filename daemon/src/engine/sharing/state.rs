//! Stores the state of sharing in two notes. One note identifies the graph that was written last.
//! The other note is the outbox position up to which changed sessions are in the queue. The
//! progress of a fill is in a third note ([`pending`](super::pending)).

use serde::{Deserialize, Serialize};

use crate::store::{Note, NoteNamespace, Store, Write};

/// The version of the form on disk.
const VERSION: u32 = 1;
const STATE: &[u8] = b"state";
const POSITION: &[u8] = b"position";

/// Identifies the graph that the ledger (the record of what was written) describes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ShareState {
    pub(super) version: u32,
    /// The engine's address.
    pub(super) address: String,
    /// The entries of the shared projects in the settings.
    pub(super) projects: Vec<String>,
    pub(super) name: Option<String>,
    /// The id of the engine's run at the last check. A different id means that the engine was
    /// restarted and may have lost data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) run: Option<String>,
}

impl ShareState {
    pub(super) fn load(store: &dyn Store) -> Option<ShareState> {
        let note = read(store, STATE)?;
        serde_json::from_slice(&note)
            .inspect_err(|error| tracing::warn!(%error, "the state of sharing is damaged"))
            .ok()
    }

    pub(super) fn save(&self) -> Write {
        let state = ShareState { version: VERSION, ..self.clone() };
        let content = serde_json::to_vec(&state).expect("texts can be serialized as JSON");
        note(STATE, Some(content))
    }
}

/// Returns the outbox position up to which changed sessions are in the saved queue; `None` when
/// sharing was off before, or the position cannot be read.
pub(super) fn position(store: &dyn Store) -> Option<u64> {
    let note = read(store, POSITION)?;
    note.first_chunk().map(|bytes| u64::from_be_bytes(*bytes))
}

pub(super) fn save_position(position: Option<u64>) -> Write {
    note(POSITION, position.map(|position| position.to_be_bytes().to_vec()))
}

/// Reads a note; `None` when it is missing or cannot be read.
pub(super) fn read(store: &dyn Store, name: &[u8]) -> Option<Vec<u8>> {
    store.note(NoteNamespace::ShareState, name).unwrap_or_else(|error| {
        tracing::warn!(%error, "the state of sharing cannot be read; all sessions are compared");
        None
    })
}

fn note(name: &[u8], content: Option<Vec<u8>>) -> Write {
    Write::Note(Note { namespace: NoteNamespace::ShareState, name: name.to_vec(), content })
}
