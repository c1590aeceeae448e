//! Edits JSON settings with or without comments. Everything that is not ours stays unchanged byte
//! by byte: comments, order, indentation, other hooks.

use jsonc_parser::{
    ParseOptions,
    cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode},
};
use serde_json::{Value, json};

use crate::setup::{
    EditError,
    command::{is_bare, is_hook_line, is_ours},
};

/// A hook to install.
pub(super) struct Hook {
    /// The agent's name of the event.
    pub(super) event: &'static str,
    /// The element of the list of handlers.
    pub(super) handler: Value,
    pub(super) form: HookForm,
}

/// Where the handlers of an event are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HookForm {
    /// In groups, each with a list of handlers.
    Grouped,
    /// In the list of the event. A file with this form has a version.
    Flat,
}

/// The name and the value of the version in a file with flat hooks.
const HOOKS_VERSION: (&str, u32) = ("version", 1);
/// The name of our MCP server.
const SERVER: &str = "graphiti";
/// The members that contain MCP servers, each with the path of our server. In the second member,
/// the program and its arguments are one list.
const SERVERS: [(&str, &str); 2] = [("mcpServers", "mcpServers.graphiti"), ("mcp", "mcp.graphiti")];
/// The member that allows Gemini and Qwen Code to use a server without confirmation.
const TRUST: &str = "trust";
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Returns `text` with `hooks` as our only hooks.
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
                groups.append(match hook.form {
                    HookForm::Grouped => input(&json!({ "hooks": [hook.handler] })),
                    HookForm::Flat => input(&hook.handler),
                });
            }
        }
        let (name, version) = HOOKS_VERSION;
        if hooks.iter().any(|hook| hook.form == HookForm::Flat) && root.get(name).is_none() {
            root.append(name, input(&json!(version)));
        }
        Ok(())
    })
}

/// Returns `text` without our hooks, and without objects that become empty.
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

/// Returns `text` with our MCP server.
pub(super) fn with_server(text: &str, server: &Value) -> Result<String, EditError> {
    let (section, path) = SERVERS[usize::from(server["command"].is_array())];
    edit(text, |root| {
        let servers = root.object_value_or_create(section).ok_or(EditError::Unexpected(section))?;
        match servers.get(SERVER) {
            None => drop(servers.append(SERVER, input(server))),
            Some(there) => {
                let current = there.value().and_then(|value| value.to_serde_value());
                if !current.as_ref().is_some_and(is_our_server) {
                    return Err(EditError::Foreign(path));
                }
                let there = servers.object_value(SERVER).ok_or(EditError::Unexpected(SERVER))?;
                update_server(&there, server);
            }
        }
        Ok(())
    })
}

/// Returns `text` without our server.
pub(super) fn without_server(text: &str) -> Result<String, EditError> {
    edit(text, |root| {
        SERVERS.iter().for_each(|(section, _)| remove_server(root, section));
        Ok(())
    })
}

fn remove_server(root: &CstObject, section: &str) {
    let Some(servers) = root.object_value(section) else { return };
    let Some(there) = servers.get(SERVER) else { return };
    let current = there.value().and_then(|value| value.to_serde_value());
    if !current.as_ref().is_some_and(is_our_server) {
        return;
    }
    there.remove();
    if servers.properties().is_empty()
        && let Some(servers) = root.get(section)
    {
        servers.remove();
    }
}

/// Returns `text` with our server trusted. If our server has the member [`TRUST`] already, `text`
/// stays unchanged.
pub(super) fn with_trust(text: &str) -> Result<String, EditError> {
    edit(text, |root| {
        let servers = root.object_value("mcpServers");
        if let Some(server) = servers.and_then(|servers| servers.object_value(SERVER))
            && server.get(TRUST).is_none()
        {
            server.append(TRUST, CstInputValue::Bool(true));
        }
        Ok(())
    })
}

/// Returns `text` with `tools` in the list of tools that are allowed without confirmation.
pub(super) fn with_allowed(text: &str, tools: &[String]) -> Result<String, EditError> {
    edit(text, |root| {
        let permissions = root
            .object_value_or_create("permissions")
            .ok_or(EditError::Unexpected("permissions"))?;
        let allowed = permissions
            .array_value_or_create("allow")
            .ok_or(EditError::Unexpected("permissions.allow"))?;
        let there: Vec<Value> =
            allowed.elements().iter().filter_map(CstNode::to_serde_value).collect();
        for tool in tools.iter().filter(|tool| !there.contains(&json!(tool))) {
            allowed.append(input(&json!(tool)));
        }
        Ok(())
    })
}

/// Returns `text` without `tools` in the list of tools that are allowed without confirmation.
pub(super) fn without_allowed(text: &str, tools: &[String]) -> Result<String, EditError> {
    edit(text, |root| {
        let Some(permissions) = root.object_value("permissions") else { return Ok(()) };
        let Some(allowed) = permissions.array_value("allow") else { return Ok(()) };
        let is_one = |element: &CstNode| {
            let element = element.to_serde_value();
            tools.iter().any(|tool| element == Some(json!(tool)))
        };
        let ours: Vec<CstNode> = allowed.elements().into_iter().filter(is_one).collect();
        if ours.is_empty() {
            return Ok(());
        }
        ours.into_iter().for_each(CstNode::remove);
        if allowed.elements().is_empty()
            && let Some(allowed) = permissions.get("allow")
        {
            allowed.remove();
        }
        if permissions.properties().is_empty()
            && let Some(permissions) = root.get("permissions")
        {
            permissions.remove();
        }
        Ok(())
    })
}

/// Returns the events that have a hook of ours in an old form. Some or all versions of the agent
/// run such a hook without the argument `hook`.
pub(super) fn outdated_hooks(text: &str) -> Vec<String> {
    let mut events = Vec::new();
    let looked = edit(text, |root| {
        let Some(all) = root.object_value("hooks") else { return Ok(()) };
        for property in all.properties() {
            let event = property.decoded_name().unwrap_or_default();
            let groups = all.array_value(&event);
            if groups.is_some_and(|groups| handlers(&groups).iter().any(is_outdated)) {
                events.push(event);
            }
        }
        Ok(())
    });
    // The agent cannot read invalid settings either, so it runs none of their hooks.
    looked.map_or_else(|_| Vec::new(), |_| events)
}

/// Returns `text` with the members of `values` in the object at `path`. A null value removes the
/// member.
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

/// Whether a file has no content left, apart from the version of hooks.
pub(super) fn is_empty(text: &str) -> bool {
    let (name, version) = HOOKS_VERSION;
    let is_nothing = |value: Value| value == json!({}) || value == json!({ name: version });
    serde_json::from_str(text).is_ok_and(is_nothing) || text.trim().is_empty()
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
    let object = root.object_value().ok_or(EditError::Unexpected("the top level"))?;
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

/// Removes our handlers and groups that become empty. Returns whether there were handlers of ours.
fn remove_handlers(groups: &CstArray) -> bool {
    let mut removed = false;
    let is_ours = |handler: &CstNode| handler.to_serde_value().as_ref().is_some_and(is_our_handler);
    for group in groups.elements() {
        let handlers = group.as_object().and_then(|group| group.array_value("hooks"));
        let Some(handlers) = handlers else {
            if is_ours(&group) {
                removed = true;
                group.remove();
            }
            continue;
        };
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
    let ours: Vec<Value> = handlers(groups).into_iter().filter(is_our_handler).collect();
    ours == [handler.clone()]
}

/// Returns all handlers of an event.
fn handlers(groups: &CstArray) -> Vec<Value> {
    let of_group = |group: &CstNode| {
        let handlers = group.as_object().and_then(|group| group.array_value("hooks"));
        handlers.map_or_else(|| vec![group.clone()], |handlers| handlers.elements())
    };
    let all = groups.elements().into_iter().flat_map(|group| of_group(&group));
    all.filter_map(|handler| handler.to_serde_value()).collect()
}

fn is_our_handler(handler: &Value) -> bool {
    is_line(handler) || is_outdated(handler)
}

/// Whether the handler is our shell command line, the form that every version of an agent runs.
fn is_line(handler: &Value) -> bool {
    handler["args"].is_null() && handler["command"].as_str().is_some_and(is_hook_line)
}

/// Whether the handler is ours in an old form: with separate arguments, which Claude Code supports
/// since 2.1.139, or without arguments, because an older Claude Code removed them from the file.
fn is_outdated(handler: &Value) -> bool {
    let Some(command) = handler["command"].as_str() else { return false };
    match &handler["args"] {
        Value::Array(args) if !args.is_empty() => is_ours(command) && args == &[json!("hook")],
        _ => is_bare(command),
    }
}

/// Whether the server runs `graphiti mcp`, with any options.
fn is_our_server(server: &Value) -> bool {
    match &server["command"] {
        Value::Array(line) => is_our_line(line),
        program => program.as_str().is_some_and(is_ours) && server["args"][0] == "mcp",
    }
}

fn is_our_line(line: &[Value]) -> bool {
    matches!(line, [program, mcp, ..] if program.as_str().is_some_and(is_ours) && mcp == "mcp")
}

/// Sets the program of our server as in `wanted`, and adds the members that are missing. Other
/// members and the options of `graphiti mcp` stay unchanged, because the user may have set them.
fn update_server(server: &CstObject, wanted: &Value) {
    for (name, value) in wanted.as_object().into_iter().flatten() {
        match server.get(name) {
            None => drop(server.append(name, input(value))),
            Some(there) if name == "command" => {
                let current = there.value().and_then(|value| value.to_serde_value());
                let value = with_options(value, current.as_ref());
                if current.as_ref() != Some(&value) {
                    there.set_value(input(&value));
                }
            }
            Some(_) => {}
        }
    }
}

/// Returns the command line `wanted` with the options of our command line `current`.
fn with_options(wanted: &Value, current: Option<&Value>) -> Value {
    match (wanted, current) {
        (Value::Array(line), Some(Value::Array(current))) if is_our_line(current) => {
            line.iter().chain(current.iter().skip(line.len())).cloned().collect()
        }
        _ => wanted.clone(),
    }
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

#[cfg(test)]
mod tests;
