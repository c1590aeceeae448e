//! What one indexed piece of text is: who said it, or which field of an episode it stands in.

use crate::model::Role;

/// What a passage is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// The person's own words.
    User,
    /// The agent's words.
    Agent,
    /// A tool's call or answer.
    Tool,
    /// The agent's own summary of the session.
    Recap,
    /// An episode's title.
    Title,
    /// An episode's objective.
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

impl Kind {
    /// Every kind, in the order of their numbers.
    pub const ALL: [Kind; 11] = [
        Kind::User,
        Kind::Agent,
        Kind::Tool,
        Kind::Recap,
        Kind::Title,
        Kind::Objective,
        Kind::Decision,
        Kind::Error,
        Kind::Prompt,
        Kind::File,
        Kind::Body,
    ];

    /// The kind of a message's text.
    pub fn of(role: Role) -> Kind {
        match role {
            Role::User => Kind::User,
            Role::Agent => Kind::Agent,
            Role::Tool => Kind::Tool,
            Role::Recap => Kind::Recap,
        }
    }

    /// Whether it belongs to an episode, as opposed to a message.
    pub fn is_of_episode(self) -> bool {
        self >= Kind::Title
    }

    /// The word for it in filters and on screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::User => Role::User.as_str(),
            Kind::Agent => Role::Agent.as_str(),
            Kind::Tool => Role::Tool.as_str(),
            Kind::Recap => Role::Recap.as_str(),
            Kind::Title => "title",
            Kind::Objective => "objective",
            Kind::Decision => "decisions",
            Kind::Error => "errors",
            Kind::Prompt => "prompts",
            Kind::File => "files",
            Kind::Body => "body",
        }
    }

    /// The kind of that number; `None` for what is no passage.
    pub(crate) fn from_number(number: u64) -> Option<Kind> {
        Kind::ALL.get(usize::try_from(number).ok()?).copied()
    }
}

/// A set of [`Kind`]s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kinds(u16);

impl Kinds {
    /// Every kind.
    pub const ALL: Kinds = Kinds((1 << Kind::ALL.len()) - 1);

    /// These kinds.
    pub fn of(kinds: &[Kind]) -> Kinds {
        Kinds(kinds.iter().fold(0, |set, kind| set | 1 << *kind as u8))
    }

    /// Whether `kind` is in it.
    pub fn contains(self, kind: Kind) -> bool {
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
