//! Maps calls of Cursor's tools to actions.

use std::borrow::Cow;

use serde_json::Value;

use crate::{
    format::{arguments::change, patch},
    model::transcript::{Action, ChangeKind, Replacement, Task, TaskState, UserQuestion},
};

/// Returns the tool and the arguments of a call. Cursor calls MCP tools through a wrapper tool,
/// which is removed.
pub(super) fn without_wrapper(tool: Cow<'_, str>, mut input: Value) -> (Cow<'_, str>, Value) {
    if !matches!(tool.as_ref(), "CallMcpTool" | "CallDynamicTool") {
        return (tool, input);
    }
    let text = |key: &str| input[key].as_str();
    let Some((server, name)) = text("server").or(text("namespace")).zip(text("toolName")) else {
        return (tool, input);
    };
    let tool = format!("mcp__{server}__{name}");
    (Cow::Owned(tool), input["arguments"].take())
}

pub(super) fn of(tool: &str, input: &Value) -> Action {
    let text = |key: &str| input[key].as_str().map(str::to_owned);
    let first = |keys: &[&str]| keys.iter().find_map(|key| text(key));
    let path = || first(&["path", "file_path", "target_file", "target_notebook"]);
    let folder = || first(&["path", "target_directory", "relative_workspace_path"]);
    let found = match tool {
        "Shell" | "run_terminal_cmd" => text("command").map(|command| Action::Run {
            command,
            purpose: first(&["description", "explanation"]),
        }),
        "Read" | "read_file" => path().map(|path| Action::Read { path }),
        "Write" | "write" => path().map(|path| {
            let new = first(&["contents", "content"]).unwrap_or_default();
            change(path, ChangeKind::Written, vec![Replacement { old: String::new(), new }])
        }),
        "StrReplace" | "Edit" | "EditNotebook" | "search_replace" | "edit_file" => {
            path().map(|path| change(path, ChangeKind::Edited, replacement(input)))
        }
        "Delete" | "delete_file" => path().map(|path| change(path, ChangeKind::Deleted, vec![])),
        "ApplyPatch" | "apply_patch" => {
            let text = input.as_str().map(str::to_owned).or_else(|| first(&["patch", "input"]));
            let changes = text.map(|text| patch::parse(&text, None)).unwrap_or_default();
            (!changes.is_empty()).then_some(Action::Change(changes))
        }
        "Grep" | "Glob" | "SemanticSearch" | "grep" | "grep_search" | "codebase_search"
        | "glob_file_search" | "file_search" => first(&["pattern", "glob_pattern", "query"])
            .map(|pattern| Action::Search { pattern, path: folder() }),
        "LS" | "list_dir" => Some(Action::Search { pattern: "*".to_owned(), path: folder() }),
        "WebSearch" | "WebFetch" | "web_search" => {
            first(&["url", "search_term", "query"]).map(|what| Action::Fetch { what })
        }
        "TodoWrite" | "todo_write" => input["todos"]
            .as_array()
            .map(|todos| Action::PlanTasks(todos.iter().filter_map(todo).collect())),
        "Task" => first(&["description", "prompt"])
            .map(|subject| Action::Delegate { agent: text("subagent_type"), subject }),
        "AskQuestion" => input["questions"]
            .as_array()
            .map(|questions| Action::Ask(questions.iter().filter_map(question).collect())),
        "CreatePlan" => first(&["plan", "overview"]).map(|plan| Action::ProposePlan { plan }),
        _ => None,
    };
    found.unwrap_or(Action::Other)
}

/// Returns the replacements of an edit; older versions contain only the new text.
fn replacement(input: &Value) -> Vec<Replacement> {
    let text = |keys: [&str; 2]| {
        let found = keys.iter().find_map(|key| input[*key].as_str());
        found.unwrap_or_default().to_owned()
    };
    vec![Replacement {
        old: text(["old_string", "old_str"]),
        new: text(["new_string", "code_edit"]),
    }]
}

fn todo(todo: &Value) -> Option<Task> {
    let subject = todo["content"].as_str().unwrap_or_default().to_owned();
    let key = todo["id"].as_str().map_or_else(|| subject.clone(), str::to_owned);
    let state = match todo["status"].as_str() {
        Some("in_progress") => TaskState::InProgress,
        Some("completed") => TaskState::Completed,
        Some("cancelled") => TaskState::Dropped,
        _ => TaskState::Pending,
    };
    (!key.is_empty()).then_some(Task { key, subject, state })
}

fn question(question: &Value) -> Option<UserQuestion> {
    let options = question["options"].as_array().into_iter().flatten();
    Some(UserQuestion {
        question: question["prompt"].as_str().or(question["question"].as_str())?.to_owned(),
        options: options.filter_map(|option| option["label"].as_str().map(str::to_owned)).collect(),
        ..UserQuestion::default()
    })
}
