//! The types of the result of a search.

use std::fmt;

use crate::{
    model::{SessionKey, Timestamp},
    passage::PassageKind,
};

#[derive(Clone, Debug, PartialEq, Default)]
pub struct Results {
    /// Best first.
    pub sessions: Vec<SessionHit>,
    /// Number of sessions that contain a word of the query or worked on its identifier. In a large
    /// index, the query's most frequent words do not count. For a query without words, the number
    /// of sessions that match the query's filters; the filter of the request is not applied to this
    /// number.
    pub total: usize,
    /// Words of the query that the index does not contain, and their replacements.
    pub spelled: Vec<Spelling>,
    /// The ticket that the query consists of, if no session contains it or worked on it.
    pub unknown_ticket: Option<String>,
}

/// The replacement of a word of the query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spelling {
    pub searched: String,
    /// Words of the index.
    pub replacements: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SessionHit {
    pub session: SessionKey,
    /// The score, comparable only within one result.
    pub score: f32,
    /// At most 16 passages, those that most likely answer the query first. Empty for a query
    /// without words, and for a session that was not found by the words of the query.
    pub passages: Vec<PassageHit>,
    pub explanation: Explanation,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PassageHit {
    pub place: HitLocation,
    pub kind: PassageKind,
    pub at: Timestamp,
    /// The score, comparable only within one result.
    pub score: f32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HitLocation {
    Message {
        /// The file, as in [`crate::model::transcript::Origin::source`].
        source: u32,
        /// The message, as in [`crate::model::Message::seq`].
        seq: u32,
    },
    /// A field of the session's episode, by its number in the change that added it.
    Episode { field: u32 },
}

/// Why a session has its rank.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Explanation {
    /// The relevance signals; the score is the sum of their shares.
    pub signals: Vec<Signal>,
    /// The query's words, with their rarity and their counts in the session.
    pub words: Vec<WordFound>,
}

impl fmt::Display for Explanation {
    /// Formats `best passages 1.00, recency 0.02; parser 1 (2 in any form), comments 3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signals: Vec<String> = self
            .signals
            .iter()
            .map(|signal| format!("{} {:.2}", signal.name, signal.share))
            .collect();
        let words: Vec<String> = self.words.iter().map(WordFound::to_string).collect();
        write!(f, "{}", signals.join(", "))?;
        if !words.is_empty() {
            write!(f, "; {}", words.join(", "))?;
        }
        Ok(())
    }
}

impl fmt::Display for WordFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.word, self.exact)?;
        if self.any_form > self.exact {
            write!(f, " ({} in any form)", self.any_form)?;
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Signal {
    pub name: &'static str,
    /// For most signals, 1 is the maximum in this result.
    pub strength: f32,
    /// The addition of the signal to the score.
    pub share: f32,
}

/// A word, prefix or phrase of the query in a session.
#[derive(Clone, Debug, PartialEq)]
pub struct WordFound {
    /// The folded word, the prefix with a star, or the phrase in quotes.
    pub word: String,
    /// Inverse frequency among all passages; rare words count more.
    pub rarity: f32,
    /// Number of exact occurrences.
    pub exact: u32,
    /// Number of occurrences in any form.
    pub any_form: u32,
}
