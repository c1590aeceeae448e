//! Saves and loads the states of files.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{SavePolicy, SourceReader};
use crate::{
    engine::pipeline::SourceState,
    model::Evidence,
    store::{Source, SourceKey, Store, StoreError, Write, damaged::skip_damaged},
};

/// The version of the saved state.
pub(super) const STATE_VERSION: u32 = 1;

/// The form of a state on disk.
#[derive(Serialize, Deserialize)]
pub(super) struct CheckpointRecord<S> {
    pub(super) version: u32,
    pub(super) state: S,
}

/// Returns the version of the agent that wrote a file, from the saved state.
pub fn agent_version(store: &dyn Store, source: SourceKey) -> Result<Option<String>, StoreError> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct KnownContext {
        version: String,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct KnownState {
        memory: KnownContext,
    }
    let version = saved_part::<KnownState>(store, source)?.map(|state| state.memory.version);
    Ok(version.filter(|version| !version.is_empty()))
}

/// Returns the evidence in a file, from the saved state.
pub(in crate::engine) fn saved_evidence(
    store: &dyn Store,
    source: SourceKey,
) -> Result<Option<Evidence>, StoreError> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct KnownCollector {
        evidence: Evidence,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct KnownState {
        collector: KnownCollector,
    }
    Ok(saved_part::<KnownState>(store, source)?.map(|state| state.collector.evidence))
}

/// Returns the number of messages in a file, from the saved state.
pub(in crate::engine) fn saved_messages(
    store: &dyn Store,
    source: SourceKey,
) -> Result<Option<u32>, StoreError> {
    #[derive(Deserialize)]
    struct CountedMessages {
        messages: u32,
    }
    #[derive(Deserialize)]
    struct CountedEvidence {
        counts: CountedMessages,
    }
    #[derive(Deserialize)]
    struct CountedCollector {
        evidence: CountedEvidence,
    }
    #[derive(Deserialize)]
    struct CountedState {
        collector: CountedCollector,
    }
    let state = saved_part::<CountedState>(store, source)?;
    Ok(state.map(|state| state.collector.evidence.counts.messages))
}

/// Returns a part of the saved state; `None` if the part is not saved, or cannot be parsed.
fn saved_part<S: DeserializeOwned>(
    store: &dyn Store,
    source: SourceKey,
) -> Result<Option<S>, StoreError> {
    let Some(bytes) = store.checkpoint(source)? else { return Ok(None) };
    let saved = serde_json::from_slice::<CheckpointRecord<S>>(&bytes).ok();
    Ok(saved.filter(|saved| saved.version == STATE_VERSION).map(|saved| saved.state))
}

impl SourceReader {
    /// Loads the saved state of a file, or creates a new state.
    pub fn load(&self, source: &Source) -> Result<SourceState, StoreError> {
        let saved = self.store.checkpoint(source.key);
        let Some(bytes) = skip_damaged(saved, "its file is read from the start")? else {
            return Ok(SourceState::new(source.key.number));
        };
        match serde_json::from_slice::<CheckpointRecord<SourceState>>(&bytes) {
            Ok(saved) if saved.version == STATE_VERSION => Ok(saved.state),
            // A damaged state, or a state of another version, is replaced: the transcript is read
            // again.
            _ => Ok(SourceState::new(source.key.number)),
        }
    }

    /// Saves a state if the policy requires it. Returns whether the current state is on disk.
    pub(super) fn save(
        &self,
        source: &mut Source,
        state: &SourceState,
        save: SavePolicy,
    ) -> Result<bool, StoreError> {
        let is_saved = source.offset == state.cursor.offset;
        if save == SavePolicy::WhenDue || is_saved {
            return Ok(is_saved);
        }
        let write = checkpoint(source, state);
        self.store.write(vec![write]).wait()?;
        Ok(true)
    }
}

/// Returns the write that saves a state.
pub(super) fn checkpoint(source: &mut Source, state: &SourceState) -> Write {
    source.offset = state.cursor.offset;
    let saved = CheckpointRecord { version: STATE_VERSION, state };
    let checkpoint = if state.known_secrets.is_empty() {
        serde_json::to_vec(&saved)
    } else {
        // The format's memory contains texts that were not redacted with the known secrets yet,
        // such as prompts that wait for the agent.
        serde_json::to_value(&saved).and_then(|mut saved| {
            state.known_secrets.replace_in(&mut saved["state"]["memory"]);
            serde_json::to_vec(&saved)
        })
    };
    let checkpoint = checkpoint.expect("the state has only string keys");
    Write::Source { source: source.clone(), checkpoint: Some(checkpoint) }
}
