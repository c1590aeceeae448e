//! Maps calls of Codex's built-in tools to actions.

use serde_json::Value;

use crate::{
    format::{arguments::question, codex::command, patch},
    model::transcript::{Action, Task, TaskState},
};

/// Returns the action of a call that was made in directory `cwd`.
pub(super) fn of(tool: &str, input: &Value, cwd: &str) -> Action {
    let text = |key: &str| input[key].as_str().map(str::to_owned);
    let path = || text("path").or_else(|| text("file_path")).or_else(|| text("dir_path"));
    let action = match tool {
        "exec_command" | "shell" | "shell_command" | "local_shell" | "container.exec" => {
            shell(input, cwd)
        }
        "apply_patch" => text("input").or_else(|| text("patch")).and_then(|patch| {
            let changes = patch::parse(&patch, None);
            (!changes.is_empty()).then_some(Action::Change(changes))
        }),
        "read_file" | "view_image" => path().map(|path| Action::Read { path }),
        "list_dir" => {
            path().map(|path| Action::Search { pattern: "*".to_owned(), path: Some(path) })
        }
        "grep_files" => text("pattern").map(|pattern| Action::Search { pattern, path: path() }),
        "web_search" => ["query", "url", "pattern"]
            .iter()
            .find_map(|key| text(key))
            .map(|what| Action::Fetch { what }),
        "update_plan" => input["plan"]
            .as_array()
            .map(|steps| Action::PlanTasks(steps.iter().filter_map(task).collect())),
        "request_user_input" => input["questions"]
            .as_array()
            .map(|questions| Action::Ask(questions.iter().filter_map(question).collect())),
        "spawn_agent" => text("message").or_else(|| first_text(&input["items"])).map(|subject| {
            let agent = text("agent_type").or_else(|| text("task_name"));
            Action::Delegate { agent, subject }
        }),
        _ => None,
    };
    action.unwrap_or(Action::Other)
}

fn shell(input: &Value, cwd: &str) -> Option<Action> {
    let line = input.get("cmd").or_else(|| input.get("command"))?;
    let line = match line {
        Value::String(line) => command::inner(line),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            command::of_words(&words)
        }
        _ => return None,
    };
    let directory = ["workdir", "working_directory"].iter().find_map(|key| input[key].as_str());
    let directory = directory.filter(|at| !at.is_empty() && *at != "." && *at != cwd);
    if let Some(embedded) = command::embedded_patch(&line) {
        let changes = patch::parse(embedded.patch, embedded.directory.or(directory));
        if !changes.is_empty() {
            return Some(Action::Change(changes));
        }
    }
    // Paths in the command are relative to this directory.
    let command = match directory {
        Some(directory) => format!("cd {} && {line}", command::quoted(directory)),
        None => line,
    };
    let purpose = input["justification"].as_str().map(str::to_owned);
    Some(Action::Run { command, purpose })
}

fn task(step: &Value) -> Option<Task> {
    let subject = step["step"].as_str()?.to_owned();
    let state = match step["status"].as_str() {
        Some("in_progress") => TaskState::InProgress,
        Some("completed") => TaskState::Completed,
        _ => TaskState::Pending,
    };
    Some(Task { key: subject.clone(), subject, state })
}

fn first_text(items: &Value) -> Option<String> {
    items.as_array()?.iter().find_map(|item| item["text"].as_str().map(str::to_owned))
}
