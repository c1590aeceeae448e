//! Parses tool arguments that several agents write in the same form.

use serde_json::Value;

use crate::model::transcript::{Action, ChangeKind, FileChange, Replacement, UserQuestion};

/// Returns the change of one file.
pub(crate) fn change(path: String, kind: ChangeKind, edits: Vec<Replacement>) -> Action {
    Action::Change(vec![FileChange { path, kind, edits }])
}

/// Returns the replacement in an edit. `old` and `new` are the keys of its texts.
pub(crate) fn replacement(edit: &Value, old: &str, new: &str) -> Replacement {
    let text = |key: &str| edit[key].as_str().unwrap_or_default().to_owned();
    Replacement { old: text(old), new: text(new) }
}

/// Parses a question to the user: `question`, an optional `header`, and `options`, each with a
/// `label` and an optional `description`.
pub(crate) fn question(question: &Value) -> Option<UserQuestion> {
    let options = question["options"].as_array().into_iter().flatten();
    let options = options.filter_map(|option| Some((option["label"].as_str()?, option)));
    let explained = |option: &Value| option["description"].as_str().unwrap_or_default().to_owned();
    Some(UserQuestion {
        explanations: options.clone().map(|(_, option)| explained(option)).collect(),
        header: question["header"].as_str().map(str::to_owned),
        question: question["question"].as_str()?.to_owned(),
        options: options.map(|(label, _)| label.to_owned()).collect(),
    })
}
