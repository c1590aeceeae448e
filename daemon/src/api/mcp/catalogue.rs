//! Converts our tools to the types of the SDK (the crate `rmcp`), and selects the tools that are
//! listed for an agent.

use std::sync::{Arc, LazyLock};

use graphiti_proto::tools::{
    add_memory, close, get_handoff, get_session, search_memory_facts, search_sessions,
};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use crate::api::{
    client_context::ReplyForm,
    config::ListedTools,
    mcp::ClientKind,
    tools::{self, Effect, TOOLS},
};

pub(super) fn tools() -> &'static [Tool] {
    static CATALOGUE: LazyLock<Vec<Tool>> =
        LazyLock::new(|| TOOLS.iter().map(|tool| to_mcp_tool(tool)).collect());
    &CATALOGUE
}

/// A tool that is listed by default.
struct CoreTool {
    name: &'static str,
    arguments: &'static [&'static str],
}

#[rustfmt::skip]
const CORE: &[CoreTool] = &[
    CoreTool { name: get_handoff::NAME, arguments: &["project"] },
    CoreTool { name: search_sessions::NAME, arguments: &["query", "project", "after", "before", "limit", "detail", "offset", "scope"] },
    CoreTool { name: get_session::NAME, arguments: &["session_id", "view", "source", "from", "at", "limit", "detail"] },
    CoreTool { name: search_memory_facts::NAME, arguments: &["query", "project", "as_of", "include_ended", "max_facts", "scope"] },
    CoreTool { name: add_memory::NAME, arguments: &["name", "episode_body", "kind"] },
    CoreTool { name: close::NAME, arguments: &["session_id"] },
];

/// The argument that selects whose memory is searched.
const SCOPE: &str = "scope";

/// Returns the tools that are listed for a client of this kind. The output schema is listed only
/// for clients that get structured answers. The argument `scope` is listed only if a project is
/// shared.
pub(super) fn tools_for(
    kind: ClientKind,
    form: ReplyForm,
    listed: &ListedTools,
    is_shared: bool,
) -> Vec<Tool> {
    let mut tools = match listed {
        ListedTools::Core => CORE.iter().map(CoreTool::to_tool).collect(),
        ListedTools::All => tools().to_vec(),
        ListedTools::Named(names) => {
            let is_named = |tool: &&Tool| names.iter().any(|name| *name == tool.name);
            tools().iter().filter(is_named).cloned().collect()
        }
    };
    for tool in &mut tools {
        if form == ReplyForm::Text {
            tool.output_schema = None;
        }
        if !is_shared {
            remove_scope(tool);
        }
        if let Some(description) = kind.description(&tool.name) {
            tool.description = Some(description.into());
        }
    }
    tools
}

fn remove_scope(tool: &mut Tool) {
    let properties = tool.input_schema.get("properties");
    if properties.is_some_and(|properties| properties.get(SCOPE).is_some()) {
        let schema = Arc::make_mut(&mut tool.input_schema);
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            properties.remove(SCOPE);
        }
    }
}

impl CoreTool {
    fn to_tool(&self) -> Tool {
        let tool = tools().iter().find(|tool| tool.name == self.name);
        let mut tool = tool.expect("the names in `CORE` are names of tools").clone();
        let schema = Arc::make_mut(&mut tool.input_schema);
        if let Some(Value::Object(all)) = schema.get_mut("properties") {
            all.retain(|name, _| self.arguments.contains(&name.as_str()));
            for argument in all.values_mut().filter_map(Value::as_object_mut) {
                // A default that is empty, 0 or false is left out, because it has no information.
                argument.retain(|name, value| {
                    name != "default" || ![json!(""), json!(0), json!(false)].contains(value)
                });
                // The type `null` is left out, because it means only that the argument is optional.
                if let Some(Value::Array(types)) = argument.get("type") {
                    let one = types.iter().find(|name| **name != "null").cloned();
                    argument.extend(one.map(|one| ("type".to_owned(), one)));
                }
            }
        }
        tool
    }
}

fn to_mcp_tool(tool: &tools::Tool) -> Tool {
    let mut annotations = ToolAnnotations::new()
        .read_only(tool.effect == Effect::Reads)
        // The tools use only this memory and the graph that the user configured.
        .open_world(false);
    // The other hints have a meaning only for tools that change data.
    if tool.effect != Effect::Reads {
        annotations = annotations
            .destructive(tool.effect == Effect::Removes)
            .idempotent(tool.effect != Effect::Adds);
    }
    Tool::new(tool.name, tool.description, object(&(tool.input)()))
        .with_title(tool.title)
        .with_raw_output_schema(object(&(tool.output)()))
        .with_annotations(annotations)
}

fn object(schema: &schemars::Schema) -> Arc<JsonObject> {
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_describes_its_arguments_and_results() {
        for tool in tools() {
            let name = &tool.name;
            assert_eq!(tool.input_schema["type"], "object", "{name}");
            let output = tool.output_schema.as_ref().unwrap();
            assert_eq!(output["type"], "object", "{name}");
            assert!(
                !output.contains_key("required"),
                "{name}: no member is required, because errors have other members"
            );
            assert!(tool.description.as_ref().is_some_and(|text| text.len() > 30), "{name}");
            for argument in tool
                .input_schema
                .get("properties")
                .into_iter()
                .flat_map(|p| p.as_object().unwrap().iter())
            {
                assert!(argument.1["description"].is_string(), "{name}: {}", argument.0);
            }
            assert!(!text(tool).contains("\\n"), "{name}: a raw line feed");
        }
    }

    #[test]
    fn schemas_contain_values_and_required_arguments() {
        let schema = |name: &str| {
            let tool = tools().iter().find(|tool| tool.name == name).unwrap();
            serde_json::Value::from((*tool.input_schema).clone())
        };
        let deleted = schema("delete_episode");
        assert_eq!(deleted["required"], json!(["uuid"]));
        assert!(deleted["properties"]["uuid"]["default"].is_null(), "{deleted}");
        let added = schema("add_memory");
        assert_eq!(added["required"], json!(["name", "episode_body"]));
        assert_eq!(added["properties"]["source"]["enum"], json!(["text", "json", "message"]));
        let search = &schema("search_sessions")["properties"];
        assert_eq!(search["detail"]["enum"], json!(["ids", "passages", "full"]));
        assert_eq!(search["detail"]["default"], "passages");
        assert_eq!(search["limit"]["default"], 5);
        assert_eq!(search["role"]["enum"], json!(["user", "assistant", "tool", "recap", null]));
        let facts = &schema("search_memory_facts")["properties"]["edge_types"];
        assert_eq!(facts["items"]["enum"][0], "DECIDED");
    }

    fn text(tool: &Tool) -> String {
        serde_json::to_string(tool).unwrap()
    }

    #[test]
    fn the_list_of_all_tools_is_short() {
        let bytes = serde_json::to_vec(tools()).unwrap().len();
        assert!(bytes / tools().len() <= 1_200, "{} bytes a tool", bytes / tools().len());
    }

    #[test]
    fn the_core_tools_are_short_and_their_arguments_exist() {
        let core = |is_shared| {
            let kind = ClientKind::Followed("claude");
            tools_for(kind, ReplyForm::Text, &ListedTools::Core, is_shared)
        };
        let bytes = serde_json::to_vec(&core(false)).unwrap().len();
        assert!(bytes <= 4_500, "{bytes} bytes");
        let core = core(true);
        assert_eq!(core.len(), 6);
        for (tool, CoreTool { name, arguments }) in core.iter().zip(CORE) {
            let shown = tool.input_schema["properties"].as_object().unwrap();
            assert_eq!((&*tool.name, shown.len()), (*name, arguments.len()), "{shown:?}");
        }
        let shared = serde_json::to_vec(&core).unwrap().len();
        assert!(bytes < shared && shared <= 4_700, "{shared} bytes");
    }

    #[test]
    fn a_setting_selects_the_listed_tools() {
        let shown = |listed: &ListedTools| -> Vec<String> {
            let tools = tools_for(ClientKind::Followed("claude"), ReplyForm::Text, listed, false);
            tools.into_iter().map(|tool| tool.name.into_owned()).collect()
        };
        assert_eq!(shown(&ListedTools::All).len(), TOOLS.len());
        let named = ListedTools::Named(vec!["search_nodes".to_owned(), "get_handoff".to_owned()]);
        assert_eq!(shown(&named), ["get_handoff", "search_nodes"]);
        assert!(!shown(&ListedTools::Core).contains(&"search_memory_nodes".to_owned()));
    }

    #[test]
    fn names_of_tools_are_unique() {
        let mut names: Vec<_> = tools().iter().map(|tool| &tool.name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), tools().len());
    }
}
