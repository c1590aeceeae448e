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
    /// For sessions.
    pub session_summary: TemplateSource,
}

/// The template that holds for a kind, and what there is to say of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// What it asks.
    pub kind: PromptKind,
    /// Where it comes from: the built-in one also when another could not be used.
    pub origin: TemplateOrigin,
    /// It.
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
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;
    use crate::prompt::template::Values;

    const KIND: PromptKind = PromptKind::ToolResults;

    #[test]
    fn the_project_s_template_comes_before_the_user_s_and_that_before_the_built_in_one() {
        let places = TemplateFolders::new();
        let templates = places.templates(TemplateSource::Default);
        let shown = || templates.show(KIND, Some(&places.project()));
        assert_eq!(shown().origin, TemplateOrigin::BuiltIn);
        let user = places.write("home/prompts/tool_results.md", "user {content}");
        assert_eq!(shown().origin, TemplateOrigin::User(user.clone()));
        let project =
            places.write("project/.graphiti/prompts/tool_results.md", "project {content}");
        assert_eq!(shown().origin, TemplateOrigin::Project(project));
        assert_eq!(shown().template.text(), "project {content}");
        assert_eq!(templates.show(KIND, None).origin, TemplateOrigin::User(user));
        assert_eq!(shown().problems, []);
    }

    #[test]
    fn a_name_is_looked_for_in_the_documented_places() {
        for (place, name) in [
            ("project/.graphiti/prompts/mine.md", "mine.md"),
            ("project/.graphiti/mine.md", "mine.md"),
            ("home/prompts/mine.md", "mine.md"),
            ("home/mine.md", "mine.md"),
            ("home/prompts/sub/mine.md", "sub/mine.md"),
            ("home/prompts/default-tool-content.md", "tool_results.md"),
            ("project/.graphiti/prompts/tool_results.md", "default-tool-content.md"),
            ("elsewhere/mine.md", "~/mine.md"),
        ] {
            let places = TemplateFolders::new();
            let path = places.write(place, "found {content}");
            let templates = places.templates(TemplateSource::File(name.to_owned()));
            let listed = templates.show(KIND, Some(&places.project()));
            assert_eq!(listed.origin.path(), Some(path.as_path()), "{name}");
            assert_eq!(listed.template.text(), "found {content}");
        }
        let places = TemplateFolders::new();
        let path = places.write("elsewhere/mine.md", "found {content}");
        let templates = places.templates(TemplateSource::File(path.to_str().unwrap().to_owned()));
        assert_eq!(templates.show(KIND, None).origin, TemplateOrigin::File(path));
    }

    #[test]
    fn what_cannot_be_used_is_told_and_the_built_in_one_stands_in() {
        let places = TemplateFolders::new();
        let empty = places.write("home/prompts/empty.md", "");
        let binary = places.0.path().join("home/prompts/binary.md");
        fs::write(&binary, [0xff, 0xfe, 0x00]).unwrap();
        let folder = places.0.path().join("home/prompts/folder.md");
        fs::create_dir(&folder).unwrap();
        let missing = |name: &str| TemplateError::NotFound { name: name.to_owned() };
        for (name, problem) in [
            ("empty.md", Some(TemplateError::NoContent)),
            ("binary.md", None),
            ("folder.md", None),
            ("missing.md", Some(missing("missing.md"))),
            ("../home/prompts/empty.md", Some(missing("../home/prompts/empty.md"))),
        ] {
            let templates = places.templates(TemplateSource::File(name.to_owned()));
            let listed = templates.show(KIND, Some(&places.project()));
            assert_eq!(listed.origin, TemplateOrigin::BuiltIn, "{name}");
            assert_eq!(listed.template.text(), KIND.built_in());
            let [found] = listed.problems.as_slice() else { panic!("{name}: {listed:?}") };
            assert!(found.is_fatal());
            assert!(problem.is_none_or(|problem| problem == *found), "{name}: {found}");
            assert_eq!(templates.template(KIND, None).text(), KIND.built_in());
        }
        assert!(empty.exists());
    }

    #[test]
    fn an_inline_prompt_is_taken_as_it_is() {
        let places = TemplateFolders::new();
        let templates = places.templates(TemplateSource::Inline("Shorten: {content}".to_owned()));
        let listed = templates.show(KIND, None);
        assert_eq!((listed.origin, listed.problems), (TemplateOrigin::Inline, vec![]));
        let without = places.templates(TemplateSource::Inline("Shorten it".to_owned()));
        let listed = without.show(KIND, None);
        assert_eq!(
            (listed.origin, listed.problems),
            (TemplateOrigin::BuiltIn, vec![TemplateError::NoContent])
        );
    }

    #[test]
    fn a_file_that_changes_is_read_again_and_one_that_goes_is_forgotten() {
        let places = TemplateFolders::new();
        let templates = places.templates(TemplateSource::Default);
        let filled = || {
            let values = Values { content: "x", ..Values::default() };
            templates.template(KIND, None).fill(&values).plain_text()
        };
        let path = places.write("home/prompts/tool_results.md", "one {content}");
        assert_eq!(filled(), "one x");
        places.write("home/prompts/tool_results.md", "three {content}");
        assert_eq!(filled(), "three x");
        places.write("home/prompts/tool_results.md", "seven {content}");
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
        fs::File::options().append(true).open(&path).unwrap().set_modified(later).unwrap();
        assert_eq!(filled(), "seven x");
        fs::remove_file(path).unwrap();
        assert!(filled().starts_with("Summarize this tool result"));
    }

    #[test]
    fn an_unchanged_file_is_not_parsed_again() {
        let places = TemplateFolders::new();
        places.write("home/prompts/tool_results.md", "one {content}");
        let templates = places.templates(TemplateSource::Default);
        let first = templates.template(KIND, None);
        assert!(Arc::ptr_eq(&first, &templates.template(KIND, None)));
    }

    #[test]
    fn all_kinds_are_listed_and_each_can_be_overridden() {
        let places = TemplateFolders::new();
        for kind in PromptKind::ALL {
            places.write(&format!("home/prompts/{}.md", kind.as_str()), "{content} {odd}");
        }
        let templates = places.templates(TemplateSource::Default);
        let listed = templates.list(None);
        assert_eq!(listed.iter().map(|one| one.kind).collect::<Vec<_>>(), PromptKind::ALL);
        for one in listed {
            assert!(matches!(one.origin, TemplateOrigin::User(_)), "{one:?}");
            assert_eq!(one.problems, [TemplateError::UnknownPlace { name: "{odd}".to_owned() }]);
        }
        assert_eq!(check(KIND, "{content}"), []);
        assert_eq!(check(KIND, "none"), [TemplateError::NoContent]);
    }

    #[test]
    fn a_filter_s_own_template_counts_unless_it_is_the_usual_one() {
        let places = TemplateFolders::new();
        places.write("home/prompts/mine.md", "mine {content}");
        let templates = places.templates(TemplateSource::Inline("configured {content}".to_owned()));
        let text = |setting| {
            let template = templates.from_source(KIND, &TemplateSource::read(setting), None);
            template.text().to_owned()
        };
        assert_eq!(text("default-tool-content.md"), "configured {content}");
        assert_eq!(text("default"), "configured {content}");
        assert_eq!(text("mine.md"), "mine {content}");
        assert_eq!(text("inline {content}"), "inline {content}");
    }

    #[test]
    fn a_session_s_template_is_a_file_or_a_prompt() {
        let source = |setting| Sources::new(&Config::default(), setting).session_summary;
        assert_eq!(source(None), TemplateSource::Default);
        assert_eq!(source(Some("default")), TemplateSource::Default);
        assert_eq!(source(Some("mine.md")), TemplateSource::File("mine.md".to_owned()));
        assert_eq!(source(Some("Do {content}")), TemplateSource::Inline("Do {content}".to_owned()));
    }

    struct TemplateFolders(TempDir);

    impl TemplateFolders {
        fn new() -> TemplateFolders {
            let places = TemplateFolders(TempDir::new().unwrap());
            for folder in ["home/prompts", "project/.graphiti/prompts", "elsewhere"] {
                fs::create_dir_all(places.0.path().join(folder)).unwrap();
            }
            places
        }

        fn project(&self) -> PathBuf {
            self.0.path().join("project")
        }

        fn write(&self, place: &str, text: &str) -> PathBuf {
            let path = self.0.path().join(place);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path
        }

        fn templates(&self, tool_results: TemplateSource) -> Templates {
            let root = self.0.path();
            let folders = Folders { home: root.join("home"), user: Some(root.join("elsewhere")) };
            let config = Config { tool_results, ..Config::default() };
            Templates::new(folders, Sources::new(&config, None))
        }
    }
}
