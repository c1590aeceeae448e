//! The kind of an indexed text: the speaker of a message, or the field of an episode.

use crate::model::Role;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum PassageKind {
    /// The user's own words.
    User,
    Agent,
    /// A tool call or its output.
    Tool,
    /// The agent's own summary of the session.
    Recap,
    Title,
    Objective,
    /// A decision with its reason.
    Decision,
    /// An error with its cause and fix.
    Error,
    /// A prompt that an episode repeats. At present, no field of an episode has this kind.
    Prompt,
    /// Files that were changed.
    File,
    /// Any other field of an episode.
    Body,
}

impl PassageKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [PassageKind; 11] = [
        PassageKind::User,
        PassageKind::Agent,
        PassageKind::Tool,
        PassageKind::Recap,
        PassageKind::Title,
        PassageKind::Objective,
        PassageKind::Decision,
        PassageKind::Error,
        PassageKind::Prompt,
        PassageKind::File,
        PassageKind::Body,
    ];

    /// Returns the kind of a message's text.
    pub fn of(role: Role) -> PassageKind {
        match role {
            Role::User => PassageKind::User,
            Role::Agent => PassageKind::Agent,
            Role::Tool => PassageKind::Tool,
            Role::Recap => PassageKind::Recap,
        }
    }

    /// Whether the passage is part of an episode rather than a message.
    pub fn is_of_episode(self) -> bool {
        self >= PassageKind::Title
    }

    /// Returns the name in filters and on screen.
    pub fn as_str(self) -> &'static str {
        match self {
            PassageKind::User => Role::User.as_str(),
            PassageKind::Agent => Role::Agent.as_str(),
            PassageKind::Tool => Role::Tool.as_str(),
            PassageKind::Recap => Role::Recap.as_str(),
            PassageKind::Title => "title",
            PassageKind::Objective => "objective",
            PassageKind::Decision => "decisions",
            PassageKind::Error => "errors",
            PassageKind::Prompt => "prompts",
            PassageKind::File => "files",
            PassageKind::Body => "body",
        }
    }

    /// Returns the kind with this number; `None` for the number of cards.
    pub(crate) fn from_number(number: u64) -> Option<PassageKind> {
        PassageKind::ALL.get(usize::try_from(number).ok()?).copied()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kinds(u16);

impl Kinds {
    pub const ALL: Kinds = Kinds((1 << PassageKind::ALL.len()) - 1);

    pub fn of(kinds: &[PassageKind]) -> Kinds {
        Kinds(kinds.iter().fold(0, |set, kind| set | 1 << *kind as u8))
    }

    pub fn contains(self, kind: PassageKind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }

    pub fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    pub fn and(self, other: Kinds) -> Kinds {
        Kinds(self.0 & other.0)
    }

    pub fn inverse(self) -> Kinds {
        Kinds(!self.0 & Kinds::ALL.0)
    }
}
