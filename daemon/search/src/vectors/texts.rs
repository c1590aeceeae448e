//! Selects the texts of a session that get vectors. Other modules compute the vectors.
//!
//! A vector is computed for each chunk of messages. A chunk is short, because one vector for many
//! subjects represents none of them. The user and the agent contribute only a few chunks each,
//! because vectors need memory and time; the chunks of a long session are spread over its length.

use crate::model::Role;

/// Maximum length, in bytes, of a chunk. Small models read only a little more.
const CHUNK: usize = 900;
/// Maximum length, in bytes, of a chunk that joins several short messages.
const JOINED: usize = 400;
/// Maximum number of bytes of a message that are used.
const MESSAGE: usize = 2 * CHUNK;
/// Maximum number of chunks of the user, and also of the agent.
const CHUNKS: usize = 8;

/// Splits the messages of a session into chunks, separately for the user and the agent.
#[derive(Debug, Default)]
pub struct TextChunker {
    user: ChunkList,
    agent: ChunkList,
}

impl TextChunker {
    pub fn add(&mut self, role: Role, text: &str) {
        match role {
            Role::User | Role::Recap => self.user.add(text),
            Role::Agent => self.agent.add(text),
            Role::Tool => {}
        }
    }

    /// Returns the selected chunks, the user's first.
    pub fn texts(self) -> Vec<String> {
        self.user.selected().into_iter().chain(self.agent.selected()).collect()
    }
}

/// Returns the start of a text that is short enough for one vector, cut after a word if possible.
pub fn start(text: &str) -> &str {
    if text.len() <= CHUNK {
        return text;
    }
    let most = &text[..text.floor_char_boundary(CHUNK)];
    let cut = most.rfind(char::is_whitespace).filter(|cut| *cut > CHUNK / 2);
    &most[..cut.unwrap_or(most.len())]
}

#[derive(Debug, Default)]
struct ChunkList(Vec<String>);

impl ChunkList {
    fn add(&mut self, message: &str) {
        let mut rest = &message[..message.floor_char_boundary(MESSAGE)];
        match self.0.last_mut() {
            Some(last) if last.len() + rest.len() < JOINED => {
                last.push('\n');
                last.push_str(rest);
                return;
            }
            _ => {}
        }
        while !rest.trim().is_empty() {
            let chunk = start(rest);
            self.0.push(chunk.to_owned());
            rest = &rest[chunk.len()..];
        }
    }

    /// Returns all chunks, or [`CHUNKS`] of them, spread over the session.
    fn selected(self) -> Vec<String> {
        let count = self.0.len();
        if count <= CHUNKS {
            return self.0;
        }
        let chosen: Vec<usize> =
            (0..CHUNKS).map(|place| place * (count - 1) / (CHUNKS - 1)).collect();
        let chunks = self.0.into_iter().enumerate();
        chunks.filter(|(at, _)| chosen.contains(at)).map(|(_, chunk)| chunk).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_messages_are_joined_and_long_messages_are_split() {
        let mut chunks = ChunkList::default();
        ["a", "b", "c"].iter().for_each(|message| chunks.add(message));
        assert_eq!(chunks.0, ["a\nb\nc"]);
        chunks.add(&"word ".repeat(300));
        assert!(chunks.0.len() == 3 && chunks.0.iter().all(|chunk| chunk.len() <= CHUNK));
        chunks.add(&"語".repeat(5_000));
        assert!(chunks.0.iter().all(|chunk| chunk.len() <= CHUNK));
        chunks.add("  ");
        assert!(chunks.0.len() < 8);
    }

    #[test]
    fn many_chunks_are_selected_over_the_whole_length() {
        let chunks = ChunkList((0..100).map(|number| number.to_string()).collect());
        let selected = chunks.selected();
        assert_eq!(selected.len(), CHUNKS);
        assert_eq!((selected[0].as_str(), selected[CHUNKS - 1].as_str()), ("0", "99"));
    }
}
