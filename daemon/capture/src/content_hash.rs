//! Hashes the messages of a session, so that new content is detected.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use sha2::{
    Digest, Sha256,
    digest::common::hazmat::{SerializableState, SerializedState},
};

use crate::model::{ContentHash, Role, hex};

/// An incremental SHA-256 over the filtered messages of one file. Its state can be saved.
///
/// Each message is hashed as `[role]: content`, with a newline between two messages.
#[derive(Clone, Default)]
pub struct Hasher {
    state: Sha256,
    progress: HashProgress,
}

/// The input so far.
#[derive(Clone, Copy, Default, PartialEq)]
enum HashProgress {
    #[default]
    Empty,
    /// At least one message.
    Begun,
    /// Messages of which only this hash is kept.
    Condensed(ContentHash),
}

impl Hasher {
    pub fn add(&mut self, role: Role, text: &str) {
        match self.progress {
            HashProgress::Empty => {}
            HashProgress::Begun => self.state.update(b"\n"),
            HashProgress::Condensed(hash) => {
                self.state.update(hash.0);
                self.state.update(b"\n");
            }
        }
        self.progress = HashProgress::Begun;
        self.state.update(b"[");
        self.state.update(role.as_str());
        self.state.update(b"]: ");
        self.state.update(text);
    }

    /// Returns the hash of the messages so far; `None` without messages.
    pub fn hash(&self) -> Option<ContentHash> {
        match self.progress {
            HashProgress::Empty => None,
            HashProgress::Begun => Some(ContentHash(self.state.clone().finalize().into())),
            HashProgress::Condensed(hash) => Some(hash),
        }
    }

    /// Discards everything but the hash, because the state of SHA-256 contains up to 63 bytes of
    /// the last messages in plain text. Later messages are hashed after this hash, so the final
    /// hash differs from the hash without this step.
    pub fn condense(&mut self) {
        if let Some(hash) = self.hash() {
            *self = Hasher { state: Sha256::default(), progress: HashProgress::Condensed(hash) };
        }
    }
}

/// Returns the hash of a session. If only one file has messages, this is the hash of that file. A
/// session with sub-agents has several files; its hash is then computed from the hashes of the
/// files and does not depend on their order. Returns `None` if no file has messages.
pub fn of_session(files: impl IntoIterator<Item = Option<ContentHash>>) -> Option<ContentHash> {
    let mut hashes: Vec<ContentHash> = files.into_iter().flatten().collect();
    hashes.sort_unstable_by_key(|hash| hash.0);
    match hashes.as_slice() {
        [] => None,
        [one] => Some(*one),
        several => {
            let mut over = Sha256::new();
            several.iter().for_each(|hash| over.update(hash.0));
            Some(ContentHash(over.finalize().into()))
        }
    }
}

impl fmt::Debug for Hasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hasher({:?})", self.hash())
    }
}

impl Serialize for Hasher {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let bytes = match self.progress {
            HashProgress::Empty => Vec::new(),
            HashProgress::Begun => self.state.serialize().to_vec(),
            HashProgress::Condensed(hash) => hash.0.to_vec(),
        };
        out.serialize_str(&hex::encode(&bytes))
    }
}

impl<'de> Deserialize<'de> for Hasher {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Hasher, D::Error> {
        let text = String::deserialize(from)?;
        if text.is_empty() {
            return Ok(Hasher::default());
        }
        let bytes =
            hex::decode(&text).ok_or_else(|| D::Error::custom("hash state is not hexadecimal"))?;
        if let Ok(hash) = <[u8; 32]>::try_from(bytes.as_slice()) {
            let progress = HashProgress::Condensed(ContentHash(hash));
            return Ok(Hasher { state: Sha256::default(), progress });
        }
        let saved = SerializedState::<Sha256>::try_from(bytes.as_slice())
            .map_err(|_| D::Error::custom("hash state has an unexpected length"))?;
        let state = Sha256::deserialize(&saved)
            .map_err(|_| D::Error::custom("hash state is not a state of SHA-256"))?;
        Ok(Hasher { state, progress: HashProgress::Begun })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: [(Role, &str); 3] =
        [(Role::User, "fix it"), (Role::Agent, "done"), (Role::Tool, "Bash `make` → ok")];

    #[test]
    fn the_hash_is_sha_256_over_roles_and_contents() {
        let mut hasher = Hasher::default();
        SESSION.iter().for_each(|(role, text)| hasher.add(*role, text));
        let text = "[user]: fix it\n[assistant]: done\n[tool]: Bash `make` → ok";
        assert_eq!(hasher.hash(), Some(ContentHash(Sha256::digest(text).into())));
    }

    #[test]
    fn saving_the_state_does_not_change_the_hash() {
        let mut whole = Hasher::default();
        SESSION.iter().for_each(|(role, text)| whole.add(*role, text));
        for cut in 0..=SESSION.len() {
            let mut hasher = Hasher::default();
            SESSION[..cut].iter().for_each(|(role, text)| hasher.add(*role, text));
            let saved = serde_json::to_string(&hasher).unwrap();
            let mut hasher: Hasher = serde_json::from_str(&saved).unwrap();
            SESSION[cut..].iter().for_each(|(role, text)| hasher.add(*role, text));
            assert_eq!(hasher.hash(), whole.hash(), "{cut}");
        }
    }

    #[test]
    fn a_condensed_hash_can_be_continued_and_contains_no_text() {
        let mut hasher = Hasher::default();
        hasher.add(Role::User, "open sesame");
        let hash = hasher.hash();
        hasher.condense();
        let saved = serde_json::to_string(&hasher).unwrap();
        let hex = hex::encode(b"sesame");
        assert!(!saved.contains(&hex), "{saved}");
        let mut again: Hasher = serde_json::from_str(&saved).unwrap();
        assert_eq!((hasher.hash(), again.hash()), (hash, hash));
        hasher.add(Role::Agent, "done");
        again.add(Role::Agent, "done");
        assert_ne!(again.hash(), hash);
        assert_eq!(again.hash(), hasher.hash());
        let mut empty = Hasher::default();
        empty.condense();
        assert_eq!(empty.hash(), None);
    }

    #[test]
    fn without_messages_there_is_no_hash() {
        assert_eq!(Hasher::default().hash(), None);
        assert_eq!(of_session([None, None]), None);
    }

    #[test]
    fn a_session_without_sub_agents_has_the_hash_of_its_file() {
        let a = ContentHash([1; 32]);
        assert_eq!(of_session([Some(a), None]), Some(a));
    }

    #[test]
    fn the_hash_of_a_session_does_not_depend_on_the_order_of_its_files() {
        let [a, b, c] = [1, 2, 3].map(|byte| ContentHash([byte; 32]));
        let hash = of_session([Some(a), Some(b)]);
        assert_eq!(hash, of_session([Some(b), None, Some(a)]));
        assert!(![Some(a), Some(b), of_session([Some(a), Some(c)])].contains(&hash));
    }

    #[test]
    fn an_invalid_state_is_refused() {
        for text in ["\"zz\"", "\"00\"", "7"] {
            assert!(serde_json::from_str::<Hasher>(text).is_err(), "{text}");
        }
    }
}
