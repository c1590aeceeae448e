//! Finding the template that holds, and saying where it comes from.

use std::{
    collections::HashSet,
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use crate::prompt::{
    config::{Config, TemplateSource},
    files::{Parsed, TemplateCache},
    kind::PromptKind,
    problem::TemplateError,
    resolve::candidates,
    template::Template,
};

/// All templates, as configured. To be kept and shared: it remembers what it read.
pub struct Templates {
    folders: Folders,
    sources: Sources,
    files: TemplateCache,
    /// Problems that were logged.
    told: Mutex<HashSet<String>>,
}

/// Where files are looked for, besides in a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folders {
    /// Graphiti's folder, `~/.graphiti`; templates lie in `prompts` in it.
    pub home: PathBuf,
    /// What `~` stands for; `None` when that is not known.
    pub user: Option<PathBuf>,
}

/// What is configured for each kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sources {
    /// For what tools returned.
    pub tool_results: TemplateSource,
    /// For what the user wrote.
    pub user_messages: TemplateSource,
    /// For what the agent wrote.
    pub agent_messages: TemplateSource,
    pub session_summary: TemplateSource,
}

/// The template that holds for a kind, and what there is to say of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    pub kind: PromptKind,
    /// Where it comes from: the built-in one also when another could not be used.
    pub origin: TemplateOrigin,
    pub template: Arc<Template>,
    /// Why the configured one is not used, or what is odd about it. Empty when all is well.
    pub problems: Vec<TemplateError>,
}

/// Where a template comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateOrigin {
    /// It is compiled in.
    BuiltIn,
    /// From the project's `.graphiti` folder.
    Project(PathBuf),
    /// From the user's `~/.graphiti` folder.
    User(PathBuf),
    /// From a file that is configured by its path.
    File(PathBuf),
    /// From the configuration itself.
    Inline,
}

/// So many problems are remembered as logged.
const TOLD: usize = 256;

impl Templates {
    /// Templates by what is configured. Nothing is read yet.
    pub fn new(folders: Folders, sources: Sources) -> Templates {
        Templates { folders, sources, files: TemplateCache::default(), told: Mutex::default() }
    }

    /// The template that holds for `kind` in `project`, a directory. Looks whether files changed,
    /// which takes a few system calls. One that cannot be used is logged once, and the built-in
    /// one stands in for it.
    pub fn template(&self, kind: PromptKind, project: Option<&Path>) -> Arc<Template> {
        self.from_source(kind, self.sources.of(kind), project)
    }

    /// The same where another setting says which, such as a filter's. `default` and the name of
    /// the kind's own template mean what is configured for the kind.
    pub fn from_source(
        &self,
        kind: PromptKind,
        source: &TemplateSource,
        project: Option<&Path>,
    ) -> Arc<Template> {
        let listed = self.show_source(kind, source, project);
        listed.problems.iter().filter(|problem| problem.is_fatal()).for_each(|problem| {
            self.tell(kind, problem);
        });
        listed.template
    }

    /// The templates of all kinds that hold in `project`.
    pub fn list(&self, project: Option<&Path>) -> Vec<Listed> {
        PromptKind::ALL.into_iter().map(|kind| self.show(kind, project)).collect()
    }

    /// The same as [`Templates::from_source`], with where it comes from and what is wrong.
    pub fn show_source(
        &self,
        kind: PromptKind,
        source: &TemplateSource,
        project: Option<&Path>,
    ) -> Listed {
        let source = match source {
            TemplateSource::Default => self.sources.of(kind),
            TemplateSource::File(name) if PromptKind::parse(name) == Some(kind) => {
                self.sources.of(kind)
            }
            TemplateSource::File(_) | TemplateSource::Inline(_) => source,
        };
        self.resolve(kind, source, project)
    }

    /// The template of one kind that holds in `project`.
    pub fn show(&self, kind: PromptKind, project: Option<&Path>) -> Listed {
        self.resolve(kind, self.sources.of(kind), project)
    }

    fn resolve(&self, kind: PromptKind, source: &TemplateSource, project: Option<&Path>) -> Listed {
        let found = candidates(kind, source, &self.folders, project)
            .into_iter()
            .find_map(|origin| Some((self.parsed(kind, source, &origin)?, origin)));
        match (found, source) {
            (Some((Ok(template), origin)), _) => {
                let problems = template.oddities();
                Listed { kind, origin, template, problems }
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

    fn tell(&self, kind: PromptKind, problem: &TemplateError) {
        let text = format!("{} {problem}", kind.as_str());
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() >= TOLD {
            told.clear();
        }
        if told.insert(text) {
            let template = kind.as_str();
            tracing::warn!(template, %problem, "template cannot be used, using the built-in one");
        }
    }
}

/// What is wrong with `text` as a template for `kind`.
pub fn check(kind: PromptKind, text: &str) -> Vec<TemplateError> {
    match Template::parse(kind, text) {
        Ok(template) => template.oddities(),
        Err(problem) => vec![problem],
    }
}

impl Sources {
    /// What is configured for messages, and the template for sessions, if one is configured.
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
    /// The file, if it is one.
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

fn built_in(kind: PromptKind, problems: Vec<TemplateError>) -> Listed {
    let template = Arc::new(Template::built_in(kind));
    Listed { kind, origin: TemplateOrigin::BuiltIn, template, problems }
}

#[cfg(test)]
mod tests;
