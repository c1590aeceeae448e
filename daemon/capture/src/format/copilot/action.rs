//! Maps calls of Copilot's built-in tools to actions.

use serde_json::Value;

use crate::{
    format::{copilot::todos, patch},
    model::transcript::{Action, ChangeKind, FileChange, Replacement, UserQuestion},
};

pub(super) fn of(tool: &str, input: &Value) -> Action {
    let text = |key: &str| input[key].as_str().map(str::to_owned);
    let path = || text("path").or_else(|| text("file_path"));
    let found = match tool {
        "bash" | "powershell" => {
            text("command").map(|command| Action::Run { command, purpose: text("description") })
        }
        "view" => path().map(|path| Action::Read { path }),
        "create" => path().map(|path| change(path, ChangeKind::Written, "", &input["file_text"])),
        "edit" => path().map(|path| edited(path, input)),
        "str_replace_editor" => path().map(|path| match input["command"].as_str() {
            Some("view") => Action::Read { path },
            Some("create") => change(path, ChangeKind::Written, "", &input["file_text"]),
            _ => edited(path, input),
        }),
        "apply_patch" => {
            let patch = input.as_str().map(str::to_owned).or_else(|| text("patch"));
            patch.or_else(|| text("input")).and_then(|patch| patched(&patch))
        }
        "grep" | "rg" | "glob" => {
            text("pattern").map(|pattern| Action::Search { pattern, path: path() })
        }
        "web_fetch" => text("url").map(|what| Action::Fetch { what }),
        "web_search" => text("query").map(|what| Action::Fetch { what }),
        "update_todo" => text("todos").map(|todos| Action::PlanTasks(todos::checklist(&todos))),
        "sql" => text("query")
            .map(|query| todos::changed(&query))
            .filter(|changed| !changed.is_empty())
            .map(Action::PlanTasks),
        "task" => text("description")
            .or_else(|| text("prompt"))
            .map(|subject| Action::Delegate { agent: text("agent_type"), subject }),
        "ask_user" => question(input).map(|question| Action::Ask(vec![question])),
        "exit_plan_mode" => {
            text("summary").or_else(|| text("plan")).map(|plan| Action::ProposePlan { plan })
        }
        _ => None,
    };
    found.unwrap_or(Action::Other)
}

fn edited(path: String, input: &Value) -> Action {
    let old = input["old_str"].as_str().unwrap_or_default();
    change(path, ChangeKind::Edited, old, &input["new_str"])
}

fn change(path: String, kind: ChangeKind, old: &str, new: &Value) -> Action {
    let new = new.as_str().unwrap_or_default().to_owned();
    Action::Change(vec![FileChange {
        path,
        kind,
        edits: vec![Replacement { old: old.to_owned(), new }],
    }])
}

fn patched(text: &str) -> Option<Action> {
    let changes = patch::parse(text, None);
    (!changes.is_empty()).then_some(Action::Change(changes))
}

/// Reads a question with its choices. Newer versions state the choices as a JSON schema.
fn question(input: &Value) -> Option<UserQuestion> {
    let asked = input["question"].as_str().or(input["message"].as_str())?;
    let mut options = texts(&input["choices"]);
    if options.is_empty() {
        let fields = input["requestedSchema"]["properties"].as_object();
        let choices = |field: &Value| {
            [&field["enum"], &field["items"]["enum"]].into_iter().flat_map(texts).collect()
        };
        options = fields
            .into_iter()
            .flatten()
            .map(|(_, field)| choices(field))
            .next()
            .unwrap_or_default();
    }
    Some(UserQuestion { question: asked.to_owned(), options, ..UserQuestion::default() })
}

fn texts(list: &Value) -> Vec<String> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(|text| text.as_str().map(str::to_owned)).collect()
}
