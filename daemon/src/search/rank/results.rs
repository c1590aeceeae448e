//! What a search answers.

use std::fmt;

use crate::{
    model::{SessionKey, Timestamp},
    search::passage::PassageKind,
};

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Results {
    /// The sessions found, best first.
    pub sessions: Vec<SessionHit>,
    /// How many sessions hold something of the question.
    pub total: usize,
}

/// A session that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionHit {
    pub session: SessionKey,
    /// Its worth, for comparing within one answer.
    pub score: f32,
    /// Its best passages, best first, at most three. None in a list and for a session that only the
    /// second ranker found.
    pub passages: Vec<PassageHit>,
    /// Why it stands where it does.
    pub explanation: Explanation,
}

/// A passage that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct PassageHit {
    /// Where its text is.
    pub place: HitLocation,
    pub kind: PassageKind,
    /// When it was said.
    pub at: Timestamp,
    /// Its worth, for comparing within one answer.
    pub score: f32,
}

/// Where a passage's text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HitLocation {
    Message {
        /// The file, as in [`crate::model::transcript::Origin::source`].
        source: u32,
        /// The message, as in [`crate::model::Message::seq`].
        seq: u32,
    },
    /// A field of the session's episode, by its number in the change that told it.
    Episode { field: u32 },
}

/// Why a session stands where it does.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Explanation {
    /// Its signs; the score is the sum of their shares.
    pub signs: Vec<Sign>,
    /// The question's words, with how rare each is and how often it stands in the session.
    pub words: Vec<WordFound>,
}

impl fmt::Display for Explanation {
    /// `best passages 1.00, recency 0.02; parser 1 (2 in any form), comments 3`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signs: Vec<String> =
            self.signs.iter().map(|sign| format!("{} {:.2}", sign.name, sign.share)).collect();
        let words: Vec<String> = self.words.iter().map(WordFound::to_string).collect();
        write!(f, "{}", signs.join(", "))?;
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

/// One sign of relevance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sign {
    pub name: &'static str,
    /// How strong it is, 1 for the strongest in this answer.
    pub strength: f32,
    /// What it adds to the score.
    pub share: f32,
}

/// A word of the question in a session.
#[derive(Clone, Debug, PartialEq)]
pub struct WordFound {
    /// The word as asked.
    pub word: String,
    /// How rare it is among all passages; what is rare counts more.
    pub rarity: f32,
    /// How often it stands there as asked.
    pub exact: u32,
    /// How often it stands there in any form.
    pub any_form: u32,
}
