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
    let (_, read) = FIELDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
    if value.trim().is_empty() {
        return None;
    }
    read(value.trim(), now)
}

type Read = fn(&str, &Zoned) -> Option<Filter>;

const FIELDS: &[(&str, Read)] = &[
    ("project", |value, _| Some(Filter::Project(value.to_owned()))),
    ("agent", |value, _| Some(Filter::Agent(value.to_lowercase()))),
    ("branch", |value, _| Some(Filter::Branch(value.to_owned()))),
    ("file", |value, _| Some(Filter::File(value.to_owned()))),
    ("tool", |value, _| Some(Filter::Tool(value.to_owned()))),
    ("role", |value, _| {
        let role = Role::parse(&value.to_lowercase())?;
        Some(Filter::Kinds(Kinds::of(&[PassageKind::of(role)])))
    }),
    ("in", |value, _| kinds(&value.to_lowercase()).map(Filter::Kinds)),
    ("date", |value, now| dates::value(value, now).map(Filter::During)),
    ("after", since),
    ("before", |value, now| {
        let to = dates::value(value, now)?.from;
        Some(Filter::During(TimeRange { from: Timestamp::MIN, to }))
    }),
];

fn since(value: &str, now: &Zoned) -> Option<Filter> {
    let from = dates::value(value, now)?.from;
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
