//! The texts that vectors are made of.
//!
//! Of a session: what its episode tells, and what was said in it piece by piece, for a vector of
//! much is one of nothing. The user's words come first, then the agent's, as long as there is
//! room.

use sha2::{Digest, Sha256};

use crate::{
    engine::things::Graph,
    model::{EpisodeId, Message, Role, SessionKey, graph::Thing, vector::Owner},
    search::{index::EpisodeField, passage::Kind},
    store::{SourceKey, Store, StoreError},
};

/// What vectors are to be made of.
pub(super) struct Texts {
    pub(super) owner: Owner,
    /// The episode, for a session's.
    pub(super) episode: Option<EpisodeId>,
    /// At least one.
    pub(super) texts: Vec<String>,
}

/// Bytes of a text: small models look at little more.
const TEXT: usize = 900;
/// Short messages are put together up to so many bytes.
const PIECE: usize = 400;
/// Bytes of one message that are looked at.
const MESSAGE: usize = 2 * TEXT;
/// Pieces of what each side says.
const PIECES: usize = 8;
/// Messages read at a time.
const MESSAGES: usize = 512;

impl Texts {
    /// The texts of `owner`; `None` when there is nothing of it, or nothing of it any more.
    pub(super) fn of(owner: Owner, store: &dyn Store) -> Result<Option<Texts>, StoreError> {
        match owner {
            Owner::Session(key) => of_session(key, store),
            Owner::Thing(thing) => Ok(of_thing(thing, store)?.map(|text| Texts {
                owner,
                episode: None,
                texts: vec![start(&text).to_owned()],
            })),
        }
    }

    /// A number that other texts do not have.
    pub(super) fn fingerprint(&self) -> u64 {
        let mut hash = Sha256::new();
        for text in &self.texts {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        }
        u64::from_be_bytes(*hash.finalize().first_chunk().expect("a hash has 32 bytes"))
    }
}

fn of_session(key: SessionKey, store: &dyn Store) -> Result<Option<Texts>, StoreError> {
    let indexed = store.session(key)?.and_then(|session| session.indexed);
    let Some(indexed) = indexed else { return Ok(None) };
    let Some(episode) = store.episode(indexed.episode)? else { return Ok(None) };
    let fields = EpisodeField::all_of(&episode);
    let head = |field: &&EpisodeField| matches!(field.kind, Kind::Title | Kind::Objective);
    let told = |fields: &mut dyn Iterator<Item = &EpisodeField>| {
        let texts: Vec<&str> = fields.map(|field| field.text.as_str()).collect();
        start(&texts.join("\n")).to_owned()
    };
    let mut texts = vec![
        told(&mut fields.iter().filter(head)),
        told(&mut fields.iter().filter(|field| !head(field) && field.kind != Kind::File)),
    ];
    let (user, agent) = said(SourceKey { session: key, number: 0 }, store)?;
    texts.extend(user.into_iter().chain(agent));
    texts.retain(|text| !text.trim().is_empty());
    let owner = Owner::Session(key);
    Ok((!texts.is_empty()).then_some(Texts { owner, episode: Some(episode.id), texts }))
}

fn of_thing(thing: Thing, store: &dyn Store) -> Result<Option<String>, StoreError> {
    let graph = Graph::of(store);
    match thing {
        Thing::Entity(id) => {
            // Under its latest name alone.
            let Some(entity) = graph.entity(id)?.filter(|entity| entity.id == id) else {
                return Ok(None);
            };
            let told = graph.said_of(id)?;
            Ok(Some(format!("{} {}\n{told}", entity.kind.as_str(), entity.name)))
        }
        Thing::Fact(key) => Ok(graph.last_claim(key)?.map(|claim| claim.sentence)),
    }
}

/// What the user said and what the agent said, each in a few pieces.
fn said(source: SourceKey, store: &dyn Store) -> Result<(Vec<String>, Vec<String>), StoreError> {
    let (mut user, mut agent) = (Pieces::default(), Pieces::default());
    let mut next = 0;
    loop {
        let messages: Vec<Message> = store.messages(source, next, MESSAGES)?;
        let Some(last) = messages.last() else { break };
        next = last.seq + 1;
        for message in &messages {
            match message.role {
                Role::User | Role::Recap => user.add(&message.text),
                Role::Agent => agent.add(&message.text),
                Role::Tool => {}
            }
        }
    }
    Ok((user.few(), agent.few()))
}

#[derive(Default)]
struct Pieces(Vec<String>);

impl Pieces {
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

/// The beginning of a text, cut behind a word.
fn start(text: &str) -> &str {
    if text.len() <= TEXT {
        return text;
    }
    let most = &text[..text.floor_char_boundary(TEXT)];
    let cut = most.rfind(char::is_whitespace).filter(|cut| *cut > TEXT / 2);
    &most[..cut.unwrap_or(most.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_messages_are_put_together_and_long_ones_cut() {
        let mut pieces = Pieces::default();
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
        let pieces = Pieces((0..100).map(|number| number.to_string()).collect());
        let few = pieces.few();
        assert_eq!(few.len(), PIECES);
        assert_eq!((few[0].as_str(), few[PIECES - 1].as_str()), ("0", "99"));
    }
}
