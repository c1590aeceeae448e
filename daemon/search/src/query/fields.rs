//! The filters by name. A new name for a known property needs one entry in [`FIELDS`]. A new
//! property also needs a variant of [`Filter`], code that applies this variant in
//! `rank/filter_set.rs` and `rank/admission.rs`, and a field of the index (`index/schema.rs`).

use jiff::Zoned;

use crate::{
    model::{Role, Timestamp},
    passage::{Kinds, PassageKind},
    query::{
        Filter,
        dates::{self, TimeRange},
    },
};

/// Parses `name:value`; `None` when the name or the value is unknown.
pub(super) fn filter(name: &str, value: &str, now: &Zoned) -> Option<Filter> {
    let field = field(name)?;
    if value.trim().is_empty() {
        return None;
    }
    (field.read)(value.trim(), now)
}

/// Returns the values that the filter `name` accepts, as the end of a sentence; `None` when the
/// name is unknown.
pub fn filter_form(name: &str) -> Option<&'static str> {
    field(name).map(|field| field.form)
}

fn field(name: &str) -> Option<&'static QueryField> {
    FIELDS.iter().find(|field| field.name.eq_ignore_ascii_case(name))
}

/// A filter with an invalid value, which is searched as words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidFilter {
    /// The filter as it is written in the query.
    pub text: String,
    /// The values that the filter accepts, as the end of a sentence.
    pub form: &'static str,
}

struct QueryField {
    name: &'static str,
    form: &'static str,
    read: FilterParser,
}

type FilterParser = fn(&str, &Zoned) -> Option<Filter>;

const DAY: &str = "a day from 1990 to next year, such as 2026-03-01 or \"last week\"";

const FIELDS: &[QueryField] = &[
    QueryField {
        name: "project",
        form: "the name of a project",
        read: |value, _| Some(Filter::Project(value.to_owned())),
    },
    QueryField {
        name: "agent",
        form: "the name of an agent",
        read: |value, _| Some(Filter::Agent(value.to_lowercase())),
    },
    QueryField {
        name: "branch",
        form: "the name of a branch",
        read: |value, _| Some(Filter::Branch(value.to_owned())),
    },
    QueryField {
        name: "file",
        form: "the end of a path",
        read: |value, _| Some(Filter::File(value.to_owned())),
    },
    QueryField {
        name: "tool",
        form: "the name of a tool",
        read: |value, _| Some(Filter::Tool(value.to_owned())),
    },
    QueryField {
        name: "role",
        form: "`user`, `assistant`, `tool` or `recap`",
        read: |value, _| {
            let role = Role::parse(&value.to_lowercase())?;
            Some(Filter::Kinds(Kinds::of(&[PassageKind::of(role)])))
        },
    },
    QueryField {
        name: "in",
        form: "a part such as `decisions`, `errors`, `files`, `titles`, `summary` or `messages`",
        read: |value, _| kinds(&value.to_lowercase()).map(Filter::Kinds),
    },
    QueryField {
        name: "date",
        form: DAY,
        read: |value, now| dates::value(value, now).map(Filter::During),
    },
    QueryField { name: "after", form: DAY, read: since },
    QueryField {
        name: "before",
        form: DAY,
        read: |value, now| {
            let to = dates::value(value, now)?.start()?;
            Some(Filter::During(TimeRange { from: Timestamp::MIN, to }))
        },
    },
];

fn since(value: &str, now: &Zoned) -> Option<Filter> {
    let from = dates::value(value, now)?.start()?;
    Some(Filter::During(TimeRange { from, to: Timestamp::MAX }))
}

fn kinds(value: &str) -> Option<Kinds> {
    let messages = [PassageKind::User, PassageKind::Agent, PassageKind::Tool, PassageKind::Recap];
    Some(match value {
        "messages" | "transcript" => Kinds::of(&messages),
        "episode" | "episodes" => Kinds::of(&messages).inverse(),
        "title" | "titles" | "name" => Kinds::of(&[PassageKind::Title]),
        "objective" | "goal" => Kinds::of(&[PassageKind::Objective]),
        "decision" | "decisions" => Kinds::of(&[PassageKind::Decision]),
        "error" | "errors" => Kinds::of(&[PassageKind::Error]),
        "prompt" | "prompts" => Kinds::of(&[PassageKind::User, PassageKind::Prompt]),
        "file" | "files" => Kinds::of(&[PassageKind::File]),
        "body" | "summary" => Kinds::of(&[PassageKind::Body, PassageKind::Objective]),
        "recap" | "recaps" => Kinds::of(&[PassageKind::Recap]),
        _ => return None,
    })
}
