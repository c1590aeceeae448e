//! Finds the template for a prompt, and reports its source.

mod resolve;

use std::{
    collections::HashSet,
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use self::resolve::candidates;
use crate::prompt::{
    config::{Config, TemplateSource},
    files::{Parsed, TemplateCache},
    kind::PromptKind,
    problem::TemplateError,
    template::Template,
};

/// All templates, as configured. Caches files, so one instance should be shared.
pub struct Templates {
    folders: Folders,
    sources: Sources,
    files: TemplateCache,
    logged: Mutex<HashSet<String>>,
}

/// The folders that are searched, besides the folders of the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folders {
    /// Graphiti's folder, `~/.graphiti`. Templates are in its folder `prompts`; a template with a
    /// configured name may also be in the folder itself.
    pub home: PathBuf,
    /// The expansion of `~`; `None` when it is not known.
    pub user: Option<PathBuf>,
}

/// The configured source for each kind. The classification of tools has no setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sources {
    pub tool_results: TemplateSource,
    pub user_messages: TemplateSource,
    pub agent_messages: TemplateSource,
    pub session_summary: TemplateSource,
}

/// The template for a kind, and its problems.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedTemplate {
    pub kind: PromptKind,
    pub origin: TemplateOrigin,
    pub template: Arc<Template>,
    /// The reason why the configured template is not used, or warnings about it. Empty when there
    /// is no problem.
    pub problems: Vec<TemplateError>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateOrigin {
    BuiltIn,
    /// A file in the project's `.graphiti` folder.
    Project(PathBuf),
    /// A file in the user's `~/.graphiti` folder.
    User(PathBuf),
    /// A file that is configured by its path.
    File(PathBuf),
    /// The configuration itself.
    Inline,
}

/// Maximum number of logged problems that are remembered, so that each problem is logged once.
const MAX_LOGGED: usize = 256;

impl Templates {
    /// Creates the library for the configured templates. Reads no files.
    pub fn new(folders: Folders, sources: Sources) -> Templates {
        Templates { folders, sources, files: TemplateCache::default(), logged: Mutex::default() }
    }

    /// Returns the template for `kind` in `project`, a directory. Checks whether files changed,
    /// which takes a few system calls. If the template cannot be used, logs the problem once and
    /// returns the built-in template.
    pub fn template(&self, kind: PromptKind, project: Option<&Path>) -> Arc<Template> {
        self.from_source(kind, self.sources.of(kind), project)
    }

    /// Same as [`Templates::template`], for a source from another setting, such as the setting of a
    /// filter. `default` and the name of the kind's own template select the template that is
    /// configured for the kind.
    pub fn from_source(
        &self,
        kind: PromptKind,
        source: &TemplateSource,
        project: Option<&Path>,
    ) -> Arc<Template> {
        let listed = self.show_source(kind, source, project);
        listed.problems.iter().filter(|problem| problem.is_fatal()).for_each(|problem| {
            self.log_once(kind, problem);
        });
        listed.template
    }

    /// Returns the templates of all kinds that apply to `project`.
    pub fn list(&self, project: Option<&Path>) -> Vec<ListedTemplate> {
        PromptKind::ALL.into_iter().map(|kind| self.show(kind, project)).collect()
    }

    /// Same as [`Templates::from_source`], with the template's source and its problems.
    pub fn show_source(
        &self,
        kind: PromptKind,
        source: &TemplateSource,
        project: Option<&Path>,
    ) -> ListedTemplate {
        let source = match source {
            TemplateSource::Default => self.sources.of(kind),
            TemplateSource::File(name) if PromptKind::parse(name) == Some(kind) => {
                self.sources.of(kind)
            }
            TemplateSource::File(_) | TemplateSource::Inline(_) => source,
        };
        self.resolve(kind, source, project)
    }

    /// Returns the template of one kind that applies to `project`.
    pub fn show(&self, kind: PromptKind, project: Option<&Path>) -> ListedTemplate {
        self.resolve(kind, self.sources.of(kind), project)
    }

    fn resolve(
        &self,
        kind: PromptKind,
        source: &TemplateSource,
        project: Option<&Path>,
    ) -> ListedTemplate {
        let found = candidates(kind, source, &self.folders, project)
            .into_iter()
            .find_map(|origin| Some((self.parsed(kind, source, &origin)?, origin)));
        match (found, source) {
            (Some((Ok(template), origin)), _) => {
                let problems = template.warnings();
                ListedTemplate { kind, origin, template, problems }
            }
            (Some((Err(problem), _)), _) => built_in(kind, vec![problem]),
            (None, TemplateSource::File(name)) if PromptKind::parse(name) != Some(kind) => {
                built_in(kind, vec![TemplateError::NotFound { name: name.clone() }])
            }
            (None, _) => built_in(kind, Vec::new()),
        }
    }

    fn parsed(
        &self,
        kind: PromptKind,
        source: &TemplateSource,
        origin: &TemplateOrigin,
    ) -> Option<Parsed> {
        match (origin, source) {
            (
                TemplateOrigin::Project(path)
                | TemplateOrigin::User(path)
                | TemplateOrigin::File(path),
                _,
            ) => self.files.template(path, kind),
            (TemplateOrigin::Inline, TemplateSource::Inline(text)) => {
                Some(Template::parse(kind, text).map(Arc::new))
            }
            (TemplateOrigin::Inline | TemplateOrigin::BuiltIn, _) => None,
        }
    }

    fn log_once(&self, kind: PromptKind, problem: &TemplateError) {
        let text = format!("{} {problem}", kind.as_str());
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        if logged.len() >= MAX_LOGGED {
            logged.clear();
        }
        if logged.insert(text) {
            let template = kind.as_str();
            tracing::warn!(template, %problem, "template cannot be used, using the built-in template");
        }
    }
}

/// Returns the problems of `text` as a template for `kind`.
pub fn check(kind: PromptKind, text: &str) -> Vec<TemplateError> {
    match Template::parse(kind, text) {
        Ok(template) => template.warnings(),
        Err(problem) => vec![problem],
    }
}

impl Sources {
    /// Creates the sources from the settings for messages and from the optional setting for
    /// session summaries.
    pub fn new(config: &Config, session_summary: Option<&str>) -> Sources {
        Sources {
            tool_results: config.tool_results.clone(),
            user_messages: config.user_messages.clone(),
            agent_messages: config.agent_messages.clone(),
            session_summary: session_summary.map_or(TemplateSource::Default, TemplateSource::read),
        }
    }

    fn of(&self, kind: PromptKind) -> &TemplateSource {
        match kind {
            PromptKind::ToolResults => &self.tool_results,
            PromptKind::UserMessages => &self.user_messages,
            PromptKind::AgentMessages => &self.agent_messages,
            PromptKind::SessionSummary => &self.session_summary,
            PromptKind::ToolClassification => &TemplateSource::Default,
        }
    }
}

impl TemplateOrigin {
    /// Returns the path, if the source is a file.
    pub fn path(&self) -> Option<&Path> {
        match self {
            TemplateOrigin::Project(path)
            | TemplateOrigin::User(path)
            | TemplateOrigin::File(path) => Some(path),
            TemplateOrigin::BuiltIn | TemplateOrigin::Inline => None,
        }
    }
}

impl fmt::Display for TemplateOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TemplateOrigin::BuiltIn => f.write_str("built-in"),
            TemplateOrigin::Project(path) => write!(f, "project: {}", path.display()),
            TemplateOrigin::User(path) => write!(f, "user: {}", path.display()),
            TemplateOrigin::File(path) => write!(f, "file: {}", path.display()),
            TemplateOrigin::Inline => f.write_str("configuration"),
        }
    }
}

fn built_in(kind: PromptKind, problems: Vec<TemplateError>) -> ListedTemplate {
    let template = Arc::new(Template::built_in(kind));
    ListedTemplate { kind, origin: TemplateOrigin::BuiltIn, template, problems }
}

#[cfg(test)]
mod tests;
