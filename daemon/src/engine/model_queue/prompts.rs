//! The templates, for showing.

use std::path::Path;

use crate::{
    engine::model_queue::Summarizer,
    model::Role,
    prompt::{
        kind::PromptKind,
        library::{self, Listed},
    },
};

/// A template as it holds in a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownTemplate {
    /// What it asks: its file's name without `.md`.
    pub kind: &'static str,
    /// Where it comes from.
    pub origin: String,
    /// Its text.
    pub text: String,
    /// What is wrong or odd about the configured one.
    pub problems: Vec<String>,
}

impl Summarizer {
    /// The templates that hold in `project`: those that the filter names, where it names some.
    pub fn prompts(&self, project: Option<&Path>) -> Vec<ShownTemplate> {
        let show = |kind: PromptKind| match speaker(kind).and_then(|role| self.template_of(role)) {
            Some(source) => self.templates.show_source(kind, &source, project),
            None => self.templates.show(kind, project),
        };
        PromptKind::ALL.into_iter().map(|kind| shown(&show(kind))).collect()
    }
}

/// Whose messages are summarised by a kind; `None` for no messages.
fn speaker(kind: PromptKind) -> Option<Role> {
    match kind {
        PromptKind::ToolResults => Some(Role::Tool),
        PromptKind::UserMessages => Some(Role::User),
        PromptKind::AgentMessages => Some(Role::Agent),
        PromptKind::SessionSummary | PromptKind::ToolClassification => None,
    }
}

/// What is wrong or odd about `text` as a template of the kind of this name; `None` when there is
/// no such kind.
pub fn check(kind: &str, text: &str) -> Option<Vec<String>> {
    let kind = PromptKind::parse(kind)?;
    Some(library::check(kind, text).iter().map(ToString::to_string).collect())
}

/// The name by which a kind is shown, for any of its names; `None` when there is no such kind.
pub fn kind(name: &str) -> Option<&'static str> {
    PromptKind::parse(name).map(PromptKind::as_str)
}

fn shown(listed: &Listed) -> ShownTemplate {
    ShownTemplate {
        kind: listed.kind.as_str(),
        origin: listed.origin.to_string(),
        text: listed.template.text().to_owned(),
        problems: listed.problems.iter().map(ToString::to_string).collect(),
    }
}
