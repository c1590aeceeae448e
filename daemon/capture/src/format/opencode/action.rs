//! Maps calls of opencode's tools to actions.

use serde_json::Value;

use crate::{
    format::{
        arguments::{self, change, question},
        patch,
    },
    model::transcript::{Action, ChangeKind, Replacement, Task, TaskState},
};

pub(super) fn of(tool: &str, input: &Value) -> Action {
    let text = |key: &str| input[key].as_str().map(str::to_owned);
    // opencode 2 calls the member `path`.
    let path = || text("filePath").or_else(|| text("path"));
    let found = match tool {
        "bash" | "shell" => {
            text("command").map(|command| Action::Run { command, purpose: text("description") })
        }
        "read" => path().map(|path| Action::Read { path }),
        "write" => path().map(|path| {
            let new = text("content").unwrap_or_default();
            change(path, ChangeKind::Written, vec![Replacement { old: String::new(), new }])
        }),
        "edit" => path().map(|path| change(path, ChangeKind::Edited, vec![replacement(input)])),
        "multiedit" => path().map(|path| {
            let edits = input["edits"].as_array().into_iter().flatten().map(replacement).collect();
            change(path, ChangeKind::Edited, edits)
        }),
        "apply_patch" | "patch" => text("patchText").and_then(|text| {
            let changes = patch::parse(&text, None);
            (!changes.is_empty()).then_some(Action::Change(changes))
        }),
        "grep" | "glob" | "codesearch" if input["pattern"].is_string() => {
            text("pattern").map(|pattern| Action::Search { pattern, path: text("path") })
        }
        "list" => Some(Action::Search { pattern: "*".to_owned(), path: text("path") }),
        "webfetch" => text("url").map(|what| Action::Fetch { what }),
        "websearch" | "codesearch" => text("query").map(|what| Action::Fetch { what }),
        "todowrite" => input["todos"]
            .as_array()
            .map(|todos| Action::PlanTasks(todos.iter().filter_map(todo).collect())),
        "task" | "subagent" => text("description").map(|subject| Action::Delegate {
            agent: text("subagent_type").or_else(|| text("agent")),
            subject,
        }),
        "question" => input["questions"]
            .as_array()
            .map(|questions| Action::Ask(questions.iter().filter_map(question).collect())),
        "plan_exit" => text("plan").map(|plan| Action::ProposePlan { plan }),
        _ => None,
    };
    found.unwrap_or(Action::Other)
}

fn replacement(edit: &Value) -> Replacement {
    arguments::replacement(edit, "oldString", "newString")
}

fn todo(todo: &Value) -> Option<Task> {
    let subject = todo["content"].as_str()?.to_owned();
    let key = todo["id"].as_str().unwrap_or(&subject).to_owned();
    let state = match todo["status"].as_str() {
        Some("in_progress") => TaskState::InProgress,
        Some("completed") => TaskState::Completed,
        Some("cancelled") => TaskState::Dropped,
        _ => TaskState::Pending,
    };
    Some(Task { key, subject, state })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_patch_without_files_is_not_a_change() {
        let patch = |text: &str| of("apply_patch", &json!({ "patchText": text }));
        assert_eq!(patch("--- a/x.rs\n+++ b/x.rs\n@@ -1 +1 @@\n-a\n+b\n"), Action::Other);
        assert!(
            matches!(patch("*** Delete File: x.rs"), Action::Change(changes) if changes.len() == 1)
        );
    }
}
