//! Maps calls of Claude Code's built-in tools to actions.

use serde_json::Value;

use crate::{
    format::arguments::{self, change, question},
    model::transcript::{Action, ChangeKind, Replacement, Task, TaskState},
};

pub(super) fn of(tool: &str, input: &Value) -> Action {
    let text = |key: &str| input[key].as_str().map(str::to_owned);
    let path = || text("file_path").or_else(|| text("notebook_path")).or_else(|| text("path"));
    let found = match tool {
        "Bash" | "PowerShell" | "Monitor" => {
            text("command").map(|command| Action::Run { command, purpose: text("description") })
        }
        "Read" | "NotebookRead" => path().map(|path| Action::Read { path }),
        "Write" => path().map(|path| {
            let new = text("content").unwrap_or_default();
            change(path, ChangeKind::Written, vec![Replacement { old: String::new(), new }])
        }),
        "Edit" => path().map(|path| change(path, ChangeKind::Edited, vec![replacement(input)])),
        "MultiEdit" => path().map(|path| {
            let edits = input["edits"].as_array().into_iter().flatten().map(replacement).collect();
            change(path, ChangeKind::Edited, edits)
        }),
        "NotebookEdit" => path().map(|path| {
            let new = text("new_source").unwrap_or_default();
            change(path, ChangeKind::Edited, vec![Replacement { old: String::new(), new }])
        }),
        "Grep" | "Glob" => {
            text("pattern").map(|pattern| Action::Search { pattern, path: text("path") })
        }
        "LS" => path().map(|path| Action::Search { pattern: "*".to_owned(), path: Some(path) }),
        "WebFetch" => text("url").map(|what| Action::Fetch { what }),
        "WebSearch" => text("query").map(|what| Action::Fetch { what }),
        "TodoWrite" => input["todos"]
            .as_array()
            .map(|todos| Action::PlanTasks(todos.iter().filter_map(todo).collect())),
        "TaskCreate" => text("subject").map(|subject| Action::AddTask { subject }),
        "TaskUpdate" => text("taskId").map(|key| Action::UpdateTask {
            key,
            state: input["status"].as_str().and_then(task_state),
            subject: text("subject"),
        }),
        "Task" | "Agent" => text("description")
            .map(|subject| Action::Delegate { agent: text("subagent_type"), subject }),
        "AskUserQuestion" => input["questions"]
            .as_array()
            .map(|questions| Action::Ask(questions.iter().filter_map(question).collect())),
        "ExitPlanMode" => text("plan").map(|plan| Action::ProposePlan { plan }),
        _ => None,
    };
    found.unwrap_or(Action::Other)
}

fn replacement(edit: &Value) -> Replacement {
    arguments::replacement(edit, "old_string", "new_string")
}

fn todo(todo: &Value) -> Option<Task> {
    let subject = todo["content"].as_str()?.to_owned();
    let key = todo["id"].as_str().unwrap_or(&subject).to_owned();
    let state = todo["status"].as_str().and_then(task_state).unwrap_or(TaskState::Pending);
    Some(Task { key, subject, state })
}

fn task_state(word: &str) -> Option<TaskState> {
    match word {
        "pending" => Some(TaskState::Pending),
        "in_progress" => Some(TaskState::InProgress),
        "completed" => Some(TaskState::Completed),
        "deleted" | "cancelled" => Some(TaskState::Dropped),
        _ => None,
    }
}
