//! Corrections of facts by the user or an agent. They stay when a session is read again.

use crate::model::{graph::FactKey, time::Timestamp};

/// The content of a correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The fact was never true.
    Wrong,
    /// The fact is no longer true.
    Done,
    /// The fact is still true, even if a session seemed to end it.
    Keep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CorrectionAuthor {
    User,
    Agent,
}

/// The correction of a fact. It applies to statements of sessions up to its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Correction {
    pub verdict: Verdict,
    pub author: CorrectionAuthor,
    pub at: Timestamp,
}

/// A correction with its fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorrectedFact {
    pub fact: FactKey,
    pub correction: Correction,
}

impl Verdict {
    const ALL: [Verdict; 3] = [Verdict::Wrong, Verdict::Done, Verdict::Keep];

    /// Returns the name on disk and in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Wrong => "wrong",
            Verdict::Done => "done",
            Verdict::Keep => "keep",
        }
    }

    pub fn parse(text: &str) -> Option<Verdict> {
        Verdict::ALL.into_iter().find(|verdict| verdict.as_str() == text)
    }
}

impl CorrectionAuthor {
    /// Returns the name on disk and in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            CorrectionAuthor::User => "user",
            CorrectionAuthor::Agent => "agent",
        }
    }

    pub fn parse(text: &str) -> Option<CorrectionAuthor> {
        let all = [CorrectionAuthor::User, CorrectionAuthor::Agent];
        all.into_iter().find(|author| author.as_str() == text)
    }
}

impl Correction {
    /// Whether this correction replaces `known`. A correction does not replace a later one, and an
    /// agent's correction does not replace a correction of the user.
    pub fn replaces(&self, known: &Correction) -> bool {
        let is_users = |one: &Correction| one.author == CorrectionAuthor::User;
        (is_users(self) || !is_users(known)) && self.at >= known.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_does_not_overrule_the_user() {
        let correction = |author, seconds| Correction {
            verdict: Verdict::Done,
            author,
            at: Timestamp::from_seconds(seconds),
        };
        use CorrectionAuthor::{Agent, User};
        for (new, known, wanted) in [
            (correction(User, 2), correction(User, 1), true),
            (correction(User, 1), correction(User, 2), false),
            (correction(Agent, 2), correction(User, 1), false),
            (correction(User, 2), correction(Agent, 1), true),
            (correction(Agent, 2), correction(Agent, 1), true),
        ] {
            assert_eq!(new.replaces(&known), wanted, "{new:?} {known:?}");
        }
    }
}
