//! What was said in a session, cut into the texts that get a vector each.
//!
//! Piece by piece, for a vector of much is one of nothing, and only a few of each side, for vectors
//! take room and time: of a long session they are taken from its whole length.

use crate::model::Role;

/// Bytes of a text: small models look at little more.
const TEXT: usize = 900;
/// Short messages are put together up to so many bytes.
const PIECE: usize = 400;
/// Bytes of one message that are looked at.
const MESSAGE: usize = 2 * TEXT;
/// Pieces of what each side says.
const PIECES: usize = 8;

/// What was said in a session.
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

    /// The texts, the user's first.
    pub fn texts(self) -> Vec<String> {
        self.user.few().into_iter().chain(self.agent.few()).collect()
    }
}

/// The beginning of a text, as much of it as gets a vector, cut behind a word.
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

    /// The pieces, or as many of them from the whole length as there is room for.
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
