use std::fs;

use tempfile::TempDir;

use super::*;
use crate::prompt::template::Values;

const KIND: PromptKind = PromptKind::ToolResults;

#[test]
fn project_templates_precede_user_templates_and_built_in_templates() {
    let places = TemplateFolders::new();
    let templates = places.templates(TemplateSource::Default);
    let shown = || templates.show(KIND, Some(&places.project()));
    assert_eq!(shown().origin, TemplateOrigin::BuiltIn);
    let user = places.write("home/prompts/tool_results.md", "user {content}");
    assert_eq!(shown().origin, TemplateOrigin::User(user.clone()));
    let project = places.write("project/.graphiti/prompts/tool_results.md", "project {content}");
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
fn an_unusable_template_is_reported_and_the_built_in_one_is_used() {
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
fn an_inline_prompt_is_used_unchanged() {
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
fn a_changed_file_is_read_again_and_a_removed_file_is_forgotten() {
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
        let [TemplateError::UnknownPlaceholder { name, known }] = &*one.problems else {
            panic!("{one:?}")
        };
        assert_eq!((&**name, known.len()), ("{odd}", 6));
    }
    assert_eq!(check(KIND, "{content}"), []);
    assert_eq!(check(KIND, "none"), [TemplateError::NoContent]);
}

#[test]
fn the_template_of_a_filter_is_used_unless_it_is_the_default() {
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
fn the_template_of_session_summaries_is_a_file_or_a_prompt() {
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
