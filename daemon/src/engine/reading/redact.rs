//! Redacts the saved states of files again.

use super::checkpoint::{CheckpointRecord, STATE_VERSION};
use crate::{
    engine::{pipeline::SourceState, redaction::StoredRedactor},
    model::Message,
    store::{Cleaner as _, StoreError},
};

/// Redacts a saved state again. A state that is damaged or has another version is emptied, because
/// its transcript is read from the start anyway. `before` returns the last messages before the
/// message with the given number. Returns whether the state changed.
pub(in crate::engine) fn redact_again(
    checkpoint: &mut Vec<u8>,
    again: &mut StoredRedactor,
    before: &dyn Fn(u32) -> Result<Vec<Message>, StoreError>,
) -> Result<bool, StoreError> {
    let saved = serde_json::from_slice::<CheckpointRecord<SourceState>>(checkpoint).ok();
    let Some(mut saved) = saved.filter(|saved| saved.version == STATE_VERSION) else {
        let is_changed = !checkpoint.is_empty();
        checkpoint.clear();
        return Ok(is_changed);
    };
    let mut is_changed = saved.state.redact_again(again);
    // The state of the hash contains the last hashed bytes as they were before this redaction, and
    // `condense` removes these bytes.
    let mut last = before(saved.state.next_seq)?;
    let mut uncounted = StoredRedactor::default();
    if is_changed || last.iter_mut().any(|message| uncounted.message(message)) {
        saved.state.hasher.condense();
        is_changed = true;
    }
    if is_changed {
        *checkpoint = serde_json::to_vec(&saved).expect("the state has only string keys");
    }
    Ok(is_changed)
}
