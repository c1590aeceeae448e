//! Checks the names of the arguments of an agent's tool call. A model that misspells an argument
//! gets an error instead of the answer to another question, and can correct the argument. Other
//! clients may be newer than the daemon, so their unknown arguments are ignored.

use graphiti_proto::rpc::{Error, code};
use serde_json::{Map, Value};

use super::catalogue;
use crate::api::client_context::STRUCTURED_ARGUMENT;

/// Returns an error that names the unknown and the missing arguments of a call. The call of an
/// unknown tool is not checked here.
pub(super) fn check(tool: &str, arguments: Option<&Map<String, Value>>) -> Result<(), Error> {
    let Some(tool) = catalogue::tools().iter().find(|known| known.name == tool) else {
        return Ok(());
    };
    let known: Vec<&str> = match tool.input_schema.get("properties") {
        Some(Value::Object(members)) => members.keys().map(String::as_str).collect(),
        _ => Vec::new(),
    };
    let given: Vec<&str> = arguments.into_iter().flat_map(Map::keys).map(String::as_str).collect();
    let is_known = |name: &str| known.contains(&name) || name == STRUCTURED_ARGUMENT;
    let required = tool.input_schema.get("required").and_then(Value::as_array);
    let required = required.into_iter().flatten().filter_map(Value::as_str);
    let missing: Vec<&str> = required.filter(|name| !given.contains(name)).collect();
    let unknown: Vec<&str> = given.into_iter().filter(|name| !is_known(name)).collect();
    let mut parts = Vec::new();
    if !missing.is_empty() {
        parts.push(format!("missing: {}", listed(&missing)));
    }
    if !unknown.is_empty() {
        parts.push(format!("unknown: {}", listed(&unknown)));
    }
    if parts.is_empty() {
        return Ok(());
    }
    let has = if known.is_empty() { "none".to_owned() } else { listed(&known) };
    let what =
        format!("wrong arguments ({}); the arguments of {} are {has}", parts.join("; "), tool.name);
    Err(Error::new(code::INVALID_PARAMS, what))
}

fn listed(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn error(tool: &str, arguments: &Value) -> String {
        check(tool, arguments.as_object()).map_or_else(|error| error.message, |()| String::new())
    }

    #[test]
    fn unknown_and_missing_arguments_are_named() {
        let error_of_search = error("search_sessions", &json!({ "q": "npm" }));
        assert!(
            error_of_search.starts_with(
                "wrong arguments (unknown: `q`); the arguments of search_sessions are `"
            ) && error_of_search.contains("`query`"),
            "{error_of_search}"
        );
        assert_eq!(
            error("get_episode_entities", &json!({ "uuid": "x" })),
            "wrong arguments (missing: `episode_uuids`; unknown: `uuid`); the arguments of \
             get_episode_entities are `episode_uuids`"
        );
        assert_ne!(error("get_episode_entities", &Value::Null), "");
    }

    #[test]
    fn known_arguments_and_unknown_tools_are_accepted() {
        assert_eq!(error("search_sessions", &json!({ "query": "npm", "structured": true })), "");
        assert_eq!(error("search_sessions", &Value::Null), "");
        assert_eq!(error("make_coffee", &json!({ "q": "npm" })), "");
    }
}
