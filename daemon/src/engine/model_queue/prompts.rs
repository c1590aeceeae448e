//! Shows and checks prompt templates.

use std::path::Path;

use crate::{
    engine::model_queue::Summarizer,
    model::Role,
    prompt::{
        kind::PromptKind,
        library::{self, ListedTemplate},
    },
};

/// The current template for a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownTemplate {
    /// The kind of the template: its file name without `.md`.
    pub kind: &'static str,
    /// The source of the template.
    pub origin: String,
    pub text: String,
    /// Problems of the configured template.
    pub problems: Vec<String>,
}

impl Summarizer {
    /// Returns the current template of each kind for `project`. If the settings of the filter
    /// contain a template for a kind of messages, this is the current template.
    pub fn prompts(&self, project: Option<&Path>) -> Vec<ShownTemplate> {
        let show = |kind: PromptKind| match role_of(kind).and_then(|role| self.template_of(role)) {
            Some(source) => self.templates.show_source(kind, &source, project),
            None => self.templates.show(kind, project),
        };
        PromptKind::ALL.into_iter().map(|kind| shown(&show(kind))).collect()
    }
}

/// Returns the role whose messages a template summarizes; `None` for templates of other kinds.
fn role_of(kind: PromptKind) -> Option<Role> {
    match kind {
        PromptKind::ToolResults => Some(Role::Tool),
        PromptKind::UserMessages => Some(Role::User),
        PromptKind::AgentMessages => Some(Role::Agent),
        PromptKind::SessionSummary | PromptKind::ToolClassification => None,
    }
}

/// Checks `text` as a template of a kind. Returns the problems of the text; `None` if there is no
/// such kind.
pub fn check(kind: &str, text: &str) -> Option<Vec<String>> {
    let kind = PromptKind::parse(kind)?;
    Some(library::check(kind, text).iter().map(ToString::to_string).collect())
}

/// Returns the display name of the kind that has `name` as one of its names; `None` if there is no
/// such kind.
pub fn kind(name: &str) -> Option<&'static str> {
    PromptKind::parse(name).map(PromptKind::as_str)
}

fn shown(listed: &ListedTemplate) -> ShownTemplate {
    ShownTemplate {
        kind: listed.kind.as_str(),
        origin: listed.origin.to_string(),
        text: listed.template.text().to_owned(),
        problems: listed.problems.iter().map(ToString::to_string).collect(),
    }
}
