//! Classifies the agents' built-in tools by the table `tools.txt` and by the files that they touch.

use std::{borrow::Cow, collections::HashMap, sync::LazyLock};

use serde_json::Value;

use crate::{
    activity::{
        classify::{bash::command::common_kind, file::FileKind, signals},
        keywords,
    },
    model::{
        activity::{Activity, Signals},
        tool::{ToolClassification, ToolDomain, ToolIntent},
        transcript::{Action, ChangeKind, FileChange},
    },
};

/// Confidence of an entry in the table.
const CONFIDENCE: f64 = 0.95;

/// Whether this is the name of an agent's built-in tool.
pub(crate) fn is_native(tool: &str) -> bool {
    TOOLS.contains_key(plain(tool).as_ref())
}

/// Whether a tool of this name runs a command line.
pub(crate) fn is_shell(tool: &str) -> bool {
    TOOLS.get(plain(tool).as_ref()).is_some_and(|entry| entry.is_shell)
}

/// Classifies a call of a built-in tool, or of any tool whose action the transcript format states.
/// Does not consider the command line of a shell.
pub(crate) fn classify(tool: &str, input: &Value, action: &Action) -> Option<ToolClassification> {
    by_action(tool, action).or_else(|| by_table(tool, input))
}

fn by_action(tool: &str, action: &Action) -> Option<ToolClassification> {
    match action {
        Action::Change(changes) => by_changes(tool, changes),
        Action::Read { path } => {
            let domain = FileKind::of(path).domain();
            Some(classification(
                tool,
                ToolIntent::Read,
                domain,
                signals::of_known(ToolIntent::Read, domain),
            ))
        }
        Action::Search { path, .. } if !is_listing(tool) => {
            let domain = search_domain(path.as_deref());
            Some(classification(
                tool,
                ToolIntent::Search,
                domain,
                signals::of_known(ToolIntent::Search, domain),
            ))
        }
        Action::Delegate { agent, subject } => {
            let text = format!("{} {subject}", agent.as_deref().unwrap_or_default());
            Some(classification(
                tool,
                ToolIntent::Execute,
                ToolDomain::Process,
                delegation_signals(&text),
            ))
        }
        _ => None,
    }
}

fn by_table(tool: &str, input: &Value) -> Option<ToolClassification> {
    let entry = TOOLS.get(plain(tool).as_ref())?;
    if entry.domain.is_none() {
        return Some(on_files(tool, entry, input));
    }
    let domain = match (entry.intent, entry.domain) {
        (ToolIntent::Search, Some(ToolDomain::Code)) => search_domain(path_in(input)),
        (_, domain) => domain.unwrap_or(ToolDomain::Unknown),
    };
    let intent = if is_idle(tool, input) { ToolIntent::Read } else { entry.intent };
    let signals = entry.signals.unwrap_or_else(|| signals::of_known(intent, domain));
    Some(classification(tool, intent, domain, signals))
}

fn on_files(tool: &str, entry: &ToolRow, input: &Value) -> ToolClassification {
    let patch = ["input", "patch", "patchText"].iter().find_map(|key| input[*key].as_str());
    if let Some(changed) = patch.map(files_of_patch).and_then(|changes| by_changes(tool, &changes))
    {
        return changed;
    }
    let kind = common_kind(paths_in(input)).unwrap_or(FileKind::Other);
    let signals = match entry.intent {
        ToolIntent::Read => signals::of_known(ToolIntent::Read, kind.domain()),
        intent => signals::of_change(intent, kind),
    };
    let domain =
        if matches!(kind, FileKind::Other) { ToolDomain::Filesystem } else { kind.domain() };
    classification(tool, entry.intent, domain, signals)
}

/// Classifies a change to several files by the intent of the first change, the common domain of the
/// files (code if they have none), and the strongest signal of each activity.
fn by_changes(tool: &str, changes: &[FileChange]) -> Option<ToolClassification> {
    let intent = intent_of(&changes.first()?.kind);
    let kind = common_kind(changes.iter().map(|change| change.path.as_str()));
    let domain = kind.map_or(ToolDomain::Code, FileKind::domain);
    let mut strongest = Signals::default();
    for change in changes {
        let one = signals::of_edits(intent_of(&change.kind), FileKind::of(&change.path), change);
        for activity in Activity::ALL {
            strongest.add(activity, (one.get(activity) - strongest.get(activity)).max(0.0));
        }
    }
    Some(classification(tool, intent, domain, strongest))
}

fn intent_of(kind: &ChangeKind) -> ToolIntent {
    match kind {
        ChangeKind::Written => ToolIntent::Create,
        ChangeKind::Deleted => ToolIntent::Delete,
        ChangeKind::Edited | ChangeKind::Moved { .. } => ToolIntent::Modify,
    }
}

fn search_domain(path: Option<&str>) -> ToolDomain {
    path.map(FileKind::of).map_or(ToolDomain::Code, FileKind::search_domain)
}

fn is_listing(tool: &str) -> bool {
    TOOLS
        .get(plain(tool).as_ref())
        .is_some_and(|entry| entry.domain == Some(ToolDomain::Filesystem))
}

/// Whether a call writes nothing to a process, and only waits for the output of the process.
fn is_idle(tool: &str, input: &Value) -> bool {
    plain(tool) == "writestdin" && input["chars"].as_str().is_some_and(str::is_empty)
}

/// Returns the signals of a delegated task, by the words of its description.
fn delegation_signals(text: &str) -> Signals {
    const EACH: f64 = 0.3;
    const OTHERWISE: [(Activity, f64); 2] = [(Activity::Exploring, 0.2), (Activity::Building, 0.2)];
    let named: Vec<Activity> = keywords::activities_in(text);
    if named.is_empty() {
        return OTHERWISE.into_iter().collect();
    }
    named.into_iter().map(|activity| (activity, EACH)).collect()
}

/// Returns the files in the headers of a patch (`*** Update File: src/a.rs`).
fn files_of_patch(patch: &str) -> Vec<FileChange> {
    let head = |line: &str| {
        let (kind, path) = line.strip_prefix("*** ")?.split_once(" File: ")?;
        let kind = match kind {
            "Add" => ChangeKind::Written,
            "Delete" => ChangeKind::Deleted,
            _ => ChangeKind::Edited,
        };
        Some(FileChange { path: path.trim().to_owned(), kind, edits: Vec::new() })
    };
    patch.lines().filter_map(head).collect()
}

fn path_in(input: &Value) -> Option<&str> {
    paths_in(input).next()
}

/// Returns the paths among a call's arguments, under any of the known argument names.
fn paths_in(input: &Value) -> impl Iterator<Item = &str> {
    const KEYS: [&str; 14] = [
        "file_path",
        "path",
        "target_file",
        "notebook_path",
        "filePath",
        "absolute_path",
        "AbsolutePath",
        "TargetFile",
        "relative_workspace_path",
        "filename",
        "file",
        "paths",
        "relative_path",
        "target_notebook",
    ];
    KEYS.iter().flat_map(|key| match &input[*key] {
        Value::String(path) => vec![path.as_str()],
        Value::Array(paths) => paths.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    })
}

fn classification(
    tool: &str,
    intent: ToolIntent,
    domain: ToolDomain,
    activity_signals: Signals,
) -> ToolClassification {
    ToolClassification {
        tool_name: tool.to_owned(),
        intent,
        domain,
        confidence: CONFIDENCE,
        reasoning: "a built-in tool of an agent".to_owned(),
        activity_signals,
    }
}

/// An entry of the table. If it has no domain, the files of the call determine the domain.
struct ToolRow {
    intent: ToolIntent,
    domain: Option<ToolDomain>,
    signals: Option<Signals>,
    is_shell: bool,
}

static TOOLS: LazyLock<HashMap<String, ToolRow>> =
    LazyLock::new(|| parse_table(include_str!("tools.txt")).expect("a test checks the table"));

fn parse_table(table: &str) -> Option<HashMap<String, ToolRow>> {
    let mut tools = HashMap::new();
    for line in table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (names, columns) = line.split_once(" = ")?;
        let columns: Vec<&str> = columns.split(' ').collect();
        let intent = ToolIntent::parse(columns.first()?)?;
        let domain = match *columns.get(1)? {
            "file" => None,
            domain => Some(ToolDomain::parse(domain)?),
        };
        let signals = match columns.get(2) {
            None => None,
            Some(&"shell") => None,
            Some(&"silent") => Some(Signals::default()),
            Some(pairs) => Some(parse_signals(pairs)?),
        };
        for name in names.split('|') {
            let is_shell = columns.get(2) == Some(&"shell");
            tools.insert(plain(name).into_owned(), ToolRow { intent, domain, signals, is_shell });
        }
    }
    Some(tools)
}

fn parse_signals(text: &str) -> Option<Signals> {
    let signal = |pair: &str| {
        let (activity, amount) = pair.split_once(':')?;
        Some((Activity::parse(activity)?, amount.parse::<f64>().ok()?))
    };
    text.split(',').map(signal).collect()
}

/// Returns the letters and digits of a tool's name, in lower case.
fn plain(tool: &str) -> Cow<'_, str> {
    if tool.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Cow::Borrowed(tool);
    }
    Cow::Owned(
        tool.chars()
            .filter(|letter| letter.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_table_can_be_read() {
        assert!(parse_table(include_str!("tools.txt")).is_some_and(|tools| tools.len() > 200));
        assert!(parse_table("write = create everywhere").is_none());
    }

    #[test]
    fn all_spellings_of_a_name_are_known() {
        for name in ["TodoWrite", "todo_write", "todowrite", "Read", "read_file", "KillShell"] {
            assert!(is_native(name), "{name}");
        }
        for name in ["mcp__linear__get_issue", "frobnicate"] {
            assert!(!is_native(name), "{name}");
        }
    }

    #[test]
    fn the_files_of_a_call_determine_its_domain() {
        for (tool, input, domain) in [
            ("Write", json!({"file_path": "a/README.md"}), ToolDomain::Documentation),
            ("edit_file", json!({"target_file": "src/app_test.go"}), ToolDomain::Testing),
            ("read_file", json!({"absolute_path": "/a/Cargo.toml"}), ToolDomain::Package),
            ("read_many_files", json!({"paths": ["a.rs", "b.rs"]}), ToolDomain::Code),
            ("read_many_files", json!({"paths": ["a.rs", "b.md"]}), ToolDomain::Filesystem),
            (
                "apply_patch",
                json!({"input": "*** Begin Patch\n*** Add File: x/y.md\n+a"}),
                ToolDomain::Documentation,
            ),
        ] {
            let found = classify(tool, &input, &Action::Other).expect("native");
            assert_eq!(found.domain, domain, "{tool}");
        }
    }

    #[test]
    fn writing_an_empty_text_to_a_process_is_reading() {
        let intent = |chars: &str| {
            classify("write_stdin", &json!({"session_id": 1, "chars": chars}), &Action::Other)
                .expect("native")
                .intent
        };
        assert_eq!(intent(""), ToolIntent::Read);
        assert_eq!(intent("y\n"), ToolIntent::Execute);
    }
}
