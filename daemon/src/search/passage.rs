//! What one indexed piece of text is: who said it, or which field of an episode it stands in.

use crate::model::Role;

/// What a passage is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum PassageKind {
    /// The person's own words.
    User,
    Agent,
    /// A tool's call or answer.
    Tool,
    /// The agent's own summary of the session.
    Recap,
    Title,
    Objective,
    /// A decision with its reason.
    Decision,
    /// An error with its cause and fix.
    Error,
    /// What the user asked for, as the episode tells it.
    Prompt,
    /// Files that were changed.
    File,
    /// Whatever else an episode tells.
    Body,
}

impl PassageKind {
    /// Every kind, in the order of their numbers.
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

    /// The kind of a message's text.
    pub fn of(role: Role) -> PassageKind {
        match role {
            Role::User => PassageKind::User,
            Role::Agent => PassageKind::Agent,
            Role::Tool => PassageKind::Tool,
            Role::Recap => PassageKind::Recap,
        }
    }

    /// Whether it belongs to an episode, as opposed to a message.
    pub fn is_of_episode(self) -> bool {
        self >= PassageKind::Title
    }

    /// The word for it in filters and on screen.
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

    /// The kind of that number; `None` for what is no passage.
    pub(crate) fn from_number(number: u64) -> Option<PassageKind> {
        PassageKind::ALL.get(usize::try_from(number).ok()?).copied()
    }
}

/// A set of [`PassageKind`]s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kinds(u16);

impl Kinds {
    pub const ALL: Kinds = Kinds((1 << PassageKind::ALL.len()) - 1);

    pub fn of(kinds: &[PassageKind]) -> Kinds {
        Kinds(kinds.iter().fold(0, |set, kind| set | 1 << *kind as u8))
    }

    /// Whether `kind` is in it.
    pub fn contains(self, kind: PassageKind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }

    /// What is in either.
    pub fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    /// What is in both.
    pub fn and(self, other: Kinds) -> Kinds {
        Kinds(self.0 & other.0)
    }

    /// What is not in it.
    pub fn inverse(self) -> Kinds {
        Kinds(!self.0 & Kinds::ALL.0)
    }
}
