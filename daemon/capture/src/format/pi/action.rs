//! Maps calls of Pi's built-in tools, and of its widely used extensions, to actions.

use serde_json::Value;

use crate::{
    format::arguments::{self, change},
    model::transcript::{Action, ChangeKind, Replacement},
};

pub(super) fn of(tool: &str, input: &Value) -> Action {
    let text = |key: &str| input[key].as_str().map(str::to_owned);
    let path = || text("path").or_else(|| text("file_path"));
    let found = match tool {
        "bash" => text("command").map(|command| Action::Run { command, purpose: text("label") }),
        "read" => path().map(|path| Action::Read { path }),
        "write" => path().map(|path| {
            let new = text("content").unwrap_or_default();
            change(path, ChangeKind::Written, vec![Replacement { old: String::new(), new }])
        }),
        "edit" => path().map(|path| change(path, ChangeKind::Edited, replacements(input))),
        "grep" | "find" => text("pattern").map(|pattern| Action::Search { pattern, path: path() }),
        "ls" => Some(Action::Search { pattern: "*".to_owned(), path: path() }),
        "subagent" => {
            text("task").map(|subject| Action::Delegate { agent: text("agent"), subject })
        }
        "web_search" => text("query").map(|what| Action::Fetch { what }),
        "web_fetch" => text("url").map(|what| Action::Fetch { what }),
        _ => None,
    };
    found.unwrap_or(Action::Other)
}

/// Returns the replacements of a call, which in older versions contains only one.
fn replacements(input: &Value) -> Vec<Replacement> {
    let replacement = |edit: &Value| arguments::replacement(edit, "oldText", "newText");
    match input["edits"].as_array() {
        Some(edits) => edits.iter().map(replacement).collect(),
        None => vec![replacement(input)],
    }
}
