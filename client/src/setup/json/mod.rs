//! Changes in JSON settings, with or without comments. What is not ours stays as it is to the byte:
//! comments, order, indentation, foreign hooks.

use std::path::Path;

use jsonc_parser::{
    ParseOptions,
    cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode},
};
use serde_json::{Value, json};

use crate::setup::EditError;

/// A hook that is to be there.
pub(super) struct Hook {
    /// The agent's name of the event.
    pub(super) event: &'static str,
    /// The handler, as it stands in the list of handlers.
    pub(super) handler: Value,
}

/// The name that our server goes by.
const SERVER: &str = "graphiti";
const BYTE_ORDER_MARK: char = '\u{feff}';

/// `text` with these hooks, and no others of ours.
pub(super) fn with_hooks(text: &str, hooks: &[Hook]) -> Result<String, EditError> {
    edit(text, |root| {
        let all = root.object_value_or_create("hooks").ok_or(EditError::Unexpected("hooks"))?;
        for property in all.properties() {
            let event = property.decoded_name().unwrap_or_default();
            if !hooks.iter().any(|hook| hook.event == event) {
                remove_from_event(&all, &event);
            }
        }
        for hook in hooks {
            let groups =
                all.array_value_or_create(hook.event).ok_or(EditError::Unexpected(hook.event))?;
            if !has_handler(&groups, &hook.handler) {
                remove_handlers(&groups);
                groups.append(input(&json!({ "hooks": [hook.handler] })));
            }
        }
        Ok(())
    })
}

/// `text` without our hooks, and without what only they needed.
pub(super) fn without_hooks(text: &str) -> Result<String, EditError> {
    edit(text, |root| {
        let Some(all) = root.object_value("hooks") else { return Ok(()) };
        let before = all.properties().len();
        for property in all.properties() {
            remove_from_event(&all, &property.decoded_name().unwrap_or_default());
        }
        if before > 0
            && all.properties().is_empty()
            && let Some(hooks) = root.get("hooks")
        {
            hooks.remove();
        }
        Ok(())
    })
}

/// `text` with our server among those of the Model Context Protocol.
pub(super) fn with_server(text: &str, server: &Value) -> Result<String, EditError> {
    edit(text, |root| {
        let servers =
            root.object_value_or_create("mcpServers").ok_or(EditError::Unexpected("mcpServers"))?;
        match servers.get(SERVER) {
            None => drop(servers.append(SERVER, input(server))),
            Some(there) => {
                let said = there.value().and_then(|value| value.to_serde_value());
                if said.as_ref() == Some(server) {
                    return Ok(());
                }
                if !said.as_ref().is_some_and(is_our_server) {
                    return Err(EditError::Foreign("mcpServers.graphiti"));
                }
                there.set_value(input(server));
            }
        }
        Ok(())
    })
}

/// `text` without our server.
pub(super) fn without_server(text: &str) -> Result<String, EditError> {
    edit(text, |root| {
        let Some(servers) = root.object_value("mcpServers") else { return Ok(()) };
        let Some(there) = servers.get(SERVER) else { return Ok(()) };
        let said = there.value().and_then(|value| value.to_serde_value());
        if !said.as_ref().is_some_and(is_our_server) {
            return Ok(());
        }
        there.remove();
        if servers.properties().is_empty()
            && let Some(servers) = root.get("mcpServers")
        {
            servers.remove();
        }
        Ok(())
    })
}

/// `text` with the members of `values` in the object that `path` leads to; those that are null
/// are taken out.
pub(super) fn with_values(
    text: &str,
    path: &[&'static str],
    values: &[(&str, Value)],
) -> Result<String, EditError> {
    edit(text, |root| {
        let mut object = root.clone();
        for name in path {
            object = object.object_value_or_create(name).ok_or(EditError::Unexpected(name))?;
        }
        for (name, value) in values {
            match (object.get(name), value) {
                (Some(there), Value::Null) => there.remove(),
                (None, Value::Null) => {}
                (Some(there), value) => there.set_value(input(value)),
                (None, value) => drop(object.append(name, input(value))),
            }
        }
        Ok(())
    })
}

/// Whether nothing is left in a file.
pub(super) fn is_empty(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|value| value == json!({}))
        || text.trim().is_empty()
}

/// Whether a program is this one, wherever it lies.
pub(super) fn is_ours(program: &str) -> bool {
    // A path of another system's, too: the settings may be shared.
    let name = program.trim_matches('"').rsplit(['/', '\\']).next().unwrap_or_default();
    matches!(name, "graphiti" | "graphiti.exe")
}

fn edit(
    text: &str,
    change: impl FnOnce(&CstObject) -> Result<(), EditError>,
) -> Result<String, EditError> {
    let (mark, body) = match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(body) => ("\u{feff}", body),
        None => ("", text),
    };
    let body = if body.trim().is_empty() { "{}\n" } else { body };
    let root = CstRootNode::parse(body, &ParseOptions::default())
        .map_err(|error| EditError::Broken(error.to_string()))?;
    let object = root.object_value().ok_or(EditError::Unexpected("the whole"))?;
    let before = root.to_string();
    change(&object)?;
    let after = root.to_string();
    if after == before { Ok(text.to_owned()) } else { Ok(format!("{mark}{after}")) }
}

fn remove_from_event(all: &CstObject, event: &str) {
    let Some(groups) = all.array_value(event) else { return };
    if remove_handlers(&groups)
        && groups.elements().is_empty()
        && let Some(event) = all.get(event)
    {
        event.remove();
    }
}

/// Removes our handlers, and the groups that held nothing else; whether there were any.
fn remove_handlers(groups: &CstArray) -> bool {
    let mut removed = false;
    for group in groups.elements() {
        let handlers = group.as_object().and_then(|group| group.array_value("hooks"));
        let Some(handlers) = handlers else { continue };
        let is_ours =
            |handler: &CstNode| handler.to_serde_value().as_ref().is_some_and(is_our_handler);
        let ours: Vec<CstNode> = handlers.elements().into_iter().filter(is_ours).collect();
        if ours.is_empty() {
            continue;
        }
        removed = true;
        if ours.len() == handlers.elements().len() {
            group.remove();
        } else {
            ours.into_iter().for_each(CstNode::remove);
        }
    }
    removed
}

fn has_handler(groups: &CstArray, handler: &Value) -> bool {
    let handlers = |group: &CstNode| {
        let handlers = group.as_object().and_then(|group| group.array_value("hooks"));
        handlers.map(|handlers| handlers.elements()).unwrap_or_default()
    };
    let ours = groups
        .elements()
        .into_iter()
        .flat_map(|group| handlers(&group))
        .filter_map(|one| one.to_serde_value());
    let ours: Vec<Value> = ours.filter(is_our_handler).collect();
    ours == [handler.clone()]
}

/// With its arguments apart, or as a line for a shell.
fn is_our_handler(handler: &Value) -> bool {
    let Some(command) = handler["command"].as_str() else { return false };
    match &handler["args"] {
        Value::Array(args) => is_ours(command) && args == &[json!("hook")],
        _ => command.strip_suffix(" hook").is_some_and(is_ours),
    }
}

fn is_our_server(server: &Value) -> bool {
    server["command"].as_str().is_some_and(is_ours) && server["args"] == json!(["mcp"])
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(members) => CstInputValue::Object(
            members.iter().map(|(name, value)| (name.clone(), input(value))).collect(),
        ),
    }
}

/// A program and its argument as a line that every shell reads the same way.
pub(super) fn shell_line(program: &Path, argument: &str) -> String {
    let program = program.to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/\\._-:~+".contains(c);
    if program.chars().all(is_plain) {
        format!("{program} {argument}")
    } else {
        format!("\"{program}\" {argument}")
    }
}

#[cfg(test)]
mod tests;
