//! Selects the texts of a session that get a vector each.
//!
//! Each text is short, because one vector for many subjects represents none of them. Each side
//! contributes only a few, because vectors need memory and time; in a long session they are spread
//! over its whole length.

use crate::model::Role;

/// Maximum bytes of a text: small models use little more.
const TEXT: usize = 900;
/// Short messages are joined up to this number of bytes.
const PIECE: usize = 400;
/// Maximum bytes of a message that are used.
const MESSAGE: usize = 2 * TEXT;
/// Maximum number of texts for each side.
const PIECES: usize = 8;

/// The user's and the agent's messages of a session.
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

    /// Returns the texts, the user's first.
    pub fn texts(self) -> Vec<String> {
        self.user.few().into_iter().chain(self.agent.few()).collect()
    }
}

/// Returns the start of a text that a vector covers, cut after a word.
pub fn start(text: &str) -> &str {
    if text.len() <= TEXT {
        return text;
    }
    let most = &text[..text.floor_char_boundary(TEXT)];
    let cut = most.rfind(char::is_whitespace).filter(|cut| *cut > TEXT / 2);
    &most[..cut.unwrap_or(most.len())]
}

#[derive(Debug, Default)]
struct ChunkList(Vec<String>);

impl ChunkList {
    fn add(&mut self, message: &str) {
        let mut rest = &message[..message.floor_char_boundary(MESSAGE)];
        match self.0.last_mut() {
            Some(last) if last.len() + rest.len() < PIECE => {
                last.push('\n');
                last.push_str(rest);
                return;
            }
            _ => {}
        }
        while !rest.trim().is_empty() {
            let piece = start(rest);
            self.0.push(piece.to_owned());
            rest = &rest[piece.len()..];
        }
    }

    /// Returns all texts, or the maximum number of them, spread over the session.
    fn few(self) -> Vec<String> {
        let count = self.0.len();
        if count <= PIECES {
            return self.0;
        }
        let chosen: Vec<usize> =
            (0..PIECES).map(|place| place * (count - 1) / (PIECES - 1)).collect();
        let pieces = self.0.into_iter().enumerate();
        pieces.filter(|(at, _)| chosen.contains(at)).map(|(_, piece)| piece).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_messages_are_put_together_and_long_ones_cut() {
        let mut pieces = ChunkList::default();
        ["a", "b", "c"].iter().for_each(|message| pieces.add(message));
        assert_eq!(pieces.0, ["a\nb\nc"]);
        pieces.add(&"word ".repeat(300));
        assert!(pieces.0.len() == 3 && pieces.0.iter().all(|piece| piece.len() <= TEXT));
        pieces.add(&"語".repeat(5_000));
        assert!(pieces.0.iter().all(|piece| piece.len() <= TEXT));
        pieces.add("  ");
        assert!(pieces.0.len() < 8);
    }

    #[test]
    fn of_many_pieces_some_from_the_whole_length_are_taken() {
        let pieces = ChunkList((0..100).map(|number| number.to_string()).collect());
        let few = pieces.few();
        assert_eq!(few.len(), PIECES);
        assert_eq!((few[0].as_str(), few[PIECES - 1].as_str()), ("0", "99"));
    }
}
