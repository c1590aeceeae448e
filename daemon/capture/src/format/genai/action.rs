//! Maps calls of the built-in tools of Gemini CLI and Qwen Code to actions.

use serde_json::Value;

use crate::{
    format::arguments::{self, question},
    model::transcript::{Action, ChangeKind, FileChange, Replacement, Task, TaskState},
};

pub(crate) fn of(tool: &str, input: &Value) -> Action {
    let text = |key: &str| input[key].as_str().map(str::to_owned);
    let any = |keys: &[&str]| keys.iter().find_map(|key| text(key));
    let file = || any(&["file_path", "absolute_path", "path", "notebook_path"]);
    let folder = || any(&["dir_path", "path"]);
    let action = match tool {
        "run_shell_command" => {
            text("command").map(|command| Action::Run { command, purpose: text("description") })
        }
        "read_file" => file().map(|path| Action::Read { path }),
        "read_many_files" => Some(Action::Search { pattern: names(input), path: None }),
        "write_file" => file().map(|path| {
            let new = text("content").unwrap_or_default();
            change(path, ChangeKind::Written, Replacement { old: String::new(), new })
        }),
        "replace" | "edit" => {
            file().map(|path| change(path, ChangeKind::Edited, replacement(input)))
        }
        "notebook_edit" => file().map(|path| {
            let new = text("new_source").unwrap_or_default();
            change(path, ChangeKind::Edited, Replacement { old: String::new(), new })
        }),
        "grep_search" | "search_file_content" | "glob" => {
            text("pattern").map(|pattern| Action::Search { pattern, path: folder() })
        }
        "list_directory" => {
            folder().map(|path| Action::Search { pattern: "*".to_owned(), path: Some(path) })
        }
        "google_web_search" | "web_search" => text("query").map(|what| Action::Fetch { what }),
        "web_fetch" => any(&["url", "prompt"]).map(|what| Action::Fetch { what }),
        "invoke_agent" | "delegate_to_agent" | "codebase_investigator" => delegation(tool, input),
        "agent" | "task" => any(&["description", "prompt"])
            .map(|subject| Action::Delegate { agent: text("subagent_type"), subject }),
        _ => of_plan(tool, input),
    };
    action.unwrap_or(Action::Other)
}

/// Maps the tools for tasks, plans and questions.
fn of_plan(tool: &str, input: &Value) -> Option<Action> {
    let text = |key: &str| input[key].as_str().map(str::to_owned);
    let list = |key: &str| input[key].as_array();
    match tool {
        "write_todos" | "todo_write" => {
            list("todos").map(|todos| Action::PlanTasks(todos.iter().filter_map(task).collect()))
        }
        "tracker_create_task" => text("title").map(|subject| Action::AddTask { subject }),
        "task_create" => text("subject").map(|subject| Action::AddTask { subject }),
        "tracker_update_task" | "task_update" => {
            text("id").or_else(|| text("taskId")).map(|key| Action::UpdateTask {
                key,
                state: input["status"].as_str().and_then(task_state),
                subject: text("title").or_else(|| text("subject")),
            })
        }
        "ask_user" | "ask_user_question" => list("questions")
            .map(|questions| Action::Ask(questions.iter().filter_map(question).collect())),
        "exit_plan_mode" => text("plan").map(|plan| Action::ProposePlan { plan }),
        _ => None,
    }
}

fn change(path: String, kind: ChangeKind, edit: Replacement) -> Action {
    Action::Change(vec![FileChange { path, kind, edits: vec![edit] }])
}

fn replacement(edit: &Value) -> Replacement {
    arguments::replacement(edit, "old_string", "new_string")
}

/// Returns the patterns of files to be read together.
fn names(input: &Value) -> String {
    let patterns = input["include"].as_array().or_else(|| input["paths"].as_array());
    let patterns = patterns.into_iter().flatten().filter_map(Value::as_str);
    patterns.collect::<Vec<_>>().join(" ")
}

/// Returns the delegation to a sub-agent. Older versions have one tool for each sub-agent.
fn delegation(tool: &str, input: &Value) -> Option<Action> {
    let text = |key: &str| input[key].as_str();
    let work = text("prompt").or_else(|| text("objective")).or_else(|| text("query"))?;
    let subject = work.trim().lines().next().unwrap_or_default().to_owned();
    let agent = text("agent_name").unwrap_or(tool).to_owned();
    Some(Action::Delegate { agent: Some(agent), subject })
}

fn task(todo: &Value) -> Option<Task> {
    let subject = todo["description"].as_str().or_else(|| todo["content"].as_str())?.to_owned();
    let key = todo["id"].as_str().unwrap_or(&subject).to_owned();
    let state = todo["status"].as_str().and_then(task_state).unwrap_or(TaskState::Pending);
    Some(Task { key, subject, state })
}

fn task_state(word: &str) -> Option<TaskState> {
    match word {
        "pending" | "open" | "blocked" => Some(TaskState::Pending),
        "in_progress" => Some(TaskState::InProgress),
        "completed" | "closed" => Some(TaskState::Completed),
        "cancelled" | "deleted" => Some(TaskState::Dropped),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_built_in_tool_has_its_action() {
        let edited = |edit| change("a.py".to_owned(), ChangeKind::Edited, edit);
        let replaced = Replacement { old: "x".to_owned(), new: "y".to_owned() };
        let search = |pattern: &str, path: Option<&str>| Action::Search {
            pattern: pattern.to_owned(),
            path: path.map(str::to_owned),
        };
        for (tool, input, wanted) in [
            (
                "run_shell_command",
                json!({ "command": "ls", "description": "List" }),
                Action::Run { command: "ls".to_owned(), purpose: Some("List".to_owned()) },
            ),
            ("read_file", json!({ "absolute_path": "a" }), Action::Read { path: "a".to_owned() }),
            ("read_many_files", json!({ "include": ["a", "b/*"] }), search("a b/*", None)),
            (
                "replace",
                json!({ "file_path": "a.py", "old_string": "x", "new_string": "y" }),
                edited(replaced),
            ),
            ("glob", json!({ "pattern": "*.rs", "dir_path": "src" }), search("*.rs", Some("src"))),
            ("search_file_content", json!({ "pattern": "x" }), search("x", None)),
            ("list_directory", json!({ "path": "src" }), search("*", Some("src"))),
            ("web_fetch", json!({ "prompt": "p" }), Action::Fetch { what: "p".to_owned() }),
            (
                "invoke_agent",
                json!({ "agent_name": "browser", "prompt": "Look\nclosely" }),
                Action::Delegate { agent: Some("browser".to_owned()), subject: "Look".to_owned() },
            ),
            (
                "write_todos",
                json!({ "todos": [{ "description": "test", "status": "cancelled" }] }),
                Action::PlanTasks(vec![Task {
                    key: "test".to_owned(),
                    subject: "test".to_owned(),
                    state: TaskState::Dropped,
                }]),
            ),
            (
                "exit_plan_mode",
                json!({ "plan": "p" }),
                Action::ProposePlan { plan: "p".to_owned() },
            ),
            ("replace", json!({ "old_string": "x" }), Action::Other),
            ("mcp_tracker_get", json!({ "id": 7 }), Action::Other),
        ] {
            assert_eq!(of(tool, &input), wanted, "{tool}");
        }
    }
}
