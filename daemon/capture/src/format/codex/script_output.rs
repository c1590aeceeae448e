//! Divides the output of a script of Codex's code mode among the calls in the script.
//!
//! The first text of an output says how the script ended. The other texts are what the script
//! printed with `text(...)`: often the result of a call, which has the members `exit_code`,
//! `session_id` and `output`, or only the member `output`.

use std::borrow::Cow;

use crate::format::{
    codex::memory::RunningScript,
    json::{self, Object},
    limits::TEXT_KEPT,
};

/// The output of a call that was not made or not completed.
const ABORTED: &str = "aborted";

/// How a script ended.
#[derive(Debug, PartialEq)]
pub(super) enum ScriptState {
    Completed,
    /// The last text is the error of the script, or of a call in it.
    Failed,
    Terminated,
    /// The script runs in the background, with this id.
    Running(String),
    /// The output is not the output of a script, for example because the user aborted the turn.
    Unknown,
}

/// Returns the state of a script and the texts that it printed, from a raw output.
pub(super) fn read(raw: &str) -> (ScriptState, Vec<String>) {
    let texts: Vec<String> = match raw.starts_with('[') {
        true => {
            let blocks = json::objects(raw);
            let texts = blocks.iter().filter_map(|block| block.string_within("text", TEXT_KEPT));
            texts.map(Cow::into_owned).collect()
        }
        false => vec![super::output::whole_text(raw, TEXT_KEPT).into_owned()],
    };
    let mut texts = texts.into_iter();
    let first = texts.next().unwrap_or_default();
    if !first.starts_with("Script ") {
        return (ScriptState::Unknown, std::iter::once(first).chain(texts).collect());
    }
    let (header, printed) = first.split_once("Output:\n").unwrap_or((&first, ""));
    let status = header.lines().next().unwrap_or_default();
    let state = match status.strip_prefix("Script running with cell ID ") {
        Some(cell) => ScriptState::Running(cell.trim().to_owned()),
        None if status.starts_with("Script failed") => ScriptState::Failed,
        None if status.starts_with("Script terminated") => ScriptState::Terminated,
        None => ScriptState::Completed,
    };
    let printed = (!printed.is_empty()).then(|| printed.to_owned());
    (state, printed.into_iter().chain(texts).filter(|text| !text.is_empty()).collect())
}

/// Returns the texts up to a total length of `limit` bytes.
pub(super) fn begin(texts: Vec<String>, limit: usize) -> Vec<String> {
    let mut remaining = limit;
    let mut kept = Vec::new();
    for mut text in texts {
        text.truncate(text.floor_char_boundary(remaining));
        remaining -= text.len();
        kept.push(text);
    }
    kept.retain(|text| !text.is_empty());
    kept
}

/// Returns the outputs of the calls of a script that has ended, in the form of outputs without code
/// mode.
pub(super) fn by_call(mut script: RunningScript, state: &ScriptState) -> Vec<(String, String)> {
    let count = script.calls.len();
    let mut texts = std::mem::take(&mut script.texts);
    let mut outputs = match state {
        ScriptState::Failed => {
            let error = texts.pop().unwrap_or_default();
            with_error(&script, texts, error)
        }
        ScriptState::Unknown => vec![texts.join("\n"); count],
        _ => divided(&script, texts),
    };
    if *state == ScriptState::Terminated {
        let missing = outputs.iter_mut().filter(|output| output.is_empty());
        missing.for_each(|output| ABORTED.clone_into(output));
    }
    let ids = script.calls.into_iter().map(|(id, _)| id);
    ids.zip(outputs).collect()
}

/// Returns an output for each call of a script that failed.
fn with_error(script: &RunningScript, mut texts: Vec<String>, error: String) -> Vec<String> {
    let count = script.calls.len();
    // The script was not run.
    if error.contains("SyntaxError") {
        return vec![ABORTED.to_owned(); count];
    }
    // An error of the script itself says nothing about the calls.
    let is_own =
        ["TypeError", "ReferenceError", "RangeError"].iter().any(|own| error.contains(own));
    if is_own || texts.len() >= count {
        texts.push(error.replace("Script error:", "error of the script:"));
        return divided(script, texts);
    }
    // A script ends at the first call that fails. Each call before it has printed a text, if the
    // script prints the results at once.
    let mut outputs = texts;
    outputs.push(error);
    outputs.resize(count, ABORTED.to_owned());
    outputs
}

/// Returns an output for each call. If it is not known which call printed what, the last call has
/// the whole output.
fn divided(script: &RunningScript, texts: Vec<String>) -> Vec<String> {
    let calls = &script.calls;
    let results: Vec<String> = texts.iter().flat_map(|text| results_in(text)).collect();
    let commands = calls.iter().filter(|(_, is_command)| *is_command).count();
    if commands > 0 && results.len() == commands {
        let mut results = results.into_iter();
        let output = |is_command: bool| is_command.then(|| results.next()).flatten();
        let outputs = calls.iter().map(|(_, is_command)| *is_command).map(output);
        return outputs.map(Option::unwrap_or_default).collect();
    }
    if texts.len() == calls.len() {
        return texts;
    }
    let mut outputs = vec![String::new(); calls.len() - 1];
    outputs.push(texts.join("\n"));
    outputs
}

/// Returns the results of commands that a printed text contains as JSON.
fn results_in(text: &str) -> Vec<String> {
    let text = text.trim();
    match text.as_bytes().first() {
        Some(b'{') => Object::parse(text).and_then(|object| result(&object)).into_iter().collect(),
        Some(b'[') => json::objects(text).iter().filter_map(result).collect(),
        _ => Vec::new(),
    }
}

/// Returns the result of a command in the form of an output without code mode. The result can be
/// within the object that `Promise.allSettled` returns.
fn result(object: &Object<'_>) -> Option<String> {
    let value = object.object("value");
    let object = value.as_ref().unwrap_or(object);
    if object.raw("status") == Some("\"rejected\"") {
        let reason = object.string("reason").unwrap_or_default();
        return Some(format!("Script error:\n{reason}"));
    }
    let exit_code: Option<i64> = object.raw("exit_code").and_then(|code| code.parse().ok());
    let session = object.raw("session_id").filter(|session| *session != "null");
    let output = object.string_within("output", TEXT_KEPT)?;
    let line = match (exit_code, session) {
        (Some(code), _) => format!("Process exited with code {code}\n"),
        (None, Some(session)) => {
            format!("Process running with session ID {}\n", session.trim_matches('"'))
        }
        (None, None) => String::new(),
    };
    Some(format!("Wall time: 0 seconds\n{line}Output:\n{output}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn script(commands: &[bool], texts: &[&str]) -> RunningScript {
        let calls =
            commands.iter().enumerate().map(|(at, is_command)| (at.to_string(), *is_command));
        let texts = texts.iter().map(|text| (*text).to_owned()).collect();
        RunningScript { calls: calls.collect(), texts, ..RunningScript::default() }
    }

    fn outputs(script: &RunningScript, state: &ScriptState) -> Vec<String> {
        by_call(script.clone(), state).into_iter().map(|(_, output)| output).collect()
    }

    #[test]
    fn the_state_is_in_the_first_text() {
        let done = "Script completed\nWall time 0.4 seconds\nOutput:\n";
        let blocks =
            json!([{ "type": "input_text", "text": done }, { "type": "input_text", "text": "a" }]);
        assert_eq!(read(&blocks.to_string()), (ScriptState::Completed, vec!["a".to_owned()]));
        let one = json!(format!("{done}a")).to_string();
        assert_eq!(read(&one), (ScriptState::Completed, vec!["a".to_owned()]));
        let running = json!("Script running with cell ID 7\nWall time 1.0 seconds\nOutput:\n");
        assert_eq!(read(&running.to_string()), (ScriptState::Running("7".to_owned()), Vec::new()));
        let (state, texts) = read(&json!("aborted by user after 3.1s").to_string());
        assert_eq!(state, ScriptState::Unknown);
        let aborted = RunningScript { texts, ..script(&[true, true], &[]) };
        assert_eq!(outputs(&aborted, &state), ["aborted by user after 3.1s"; 2]);
    }

    #[test]
    fn printed_results_belong_to_the_commands_in_their_order() {
        let first =
            json!({ "i": 0, "status": "fulfilled", "value": { "exit_code": 0, "output": "a" } });
        let second =
            json!({ "i": 1, "status": "fulfilled", "value": { "session_id": 4, "output": "b" } });
        let wanted = [
            "Wall time: 0 seconds\nProcess exited with code 0\nOutput:\na",
            "",
            "Wall time: 0 seconds\nProcess running with session ID 4\nOutput:\nb",
        ];
        let two = script(&[true, false, true], &[&first.to_string(), &second.to_string()]);
        assert_eq!(outputs(&two, &ScriptState::Completed), wanted);
        let both = script(&[true, false, true], &[&json!([first, second]).to_string()]);
        assert_eq!(outputs(&both, &ScriptState::Completed), wanted);
        let deep = r#"{"value":"#.repeat(50_000) + "{}" + &"}".repeat(50_000);
        assert_eq!(results_in(&deep), [""; 0]);
    }

    #[test]
    fn other_texts_belong_to_the_calls_or_to_the_last_call() {
        let state = ScriptState::Completed;
        assert_eq!(outputs(&script(&[true, true], &["a", "b"]), &state), ["a", "b"]);
        assert_eq!(outputs(&script(&[true, false], &["all"]), &state), ["", "all"]);
        assert_eq!(outputs(&script(&[true], &["a", "b"]), &state), ["a\nb"]);
        assert_eq!(outputs(&script(&[true], &["{\"name\": 1}"]), &state), ["{\"name\": 1}"]);
    }

    #[test]
    fn a_failed_script_ends_at_the_call_that_failed() {
        let failed = script(&[true, true, true], &["a", "Script error:\nno"]);
        assert_eq!(outputs(&failed, &ScriptState::Failed), ["a", "Script error:\nno", "aborted"]);
        let unread = script(&[true, true], &["Script error:\nSyntaxError: missing )"]);
        assert_eq!(outputs(&unread, &ScriptState::Failed), ["aborted", "aborted"]);
        let own = script(&[true, false], &["Script error:\nTypeError: x is undefined"]);
        let wanted = ["", "error of the script:\nTypeError: x is undefined"];
        assert_eq!(outputs(&own, &ScriptState::Failed), wanted);
        let ended = script(&[true, true], &[]);
        assert_eq!(outputs(&ended, &ScriptState::Terminated), ["aborted", "aborted"]);
    }
}
