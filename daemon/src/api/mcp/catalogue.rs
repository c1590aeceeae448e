//! Converts our tools to the types of the SDK.

use std::sync::{Arc, LazyLock};

use rmcp::model::{JsonObject, Tool, ToolAnnotations};

use crate::api::{
    client_context::ReplyForm,
    mcp::ClientKind,
    tools::{self, Effect, TOOLS},
};

pub(super) fn tools() -> &'static [Tool] {
    static CATALOGUE: LazyLock<Vec<Tool>> =
        LazyLock::new(|| TOOLS.iter().map(|tool| described(tool)).collect());
    &CATALOGUE
}

/// Returns every tool with its description for this kind of client. The schema of the answer is for a
/// client that gets structured answers.
pub(super) fn tools_for(kind: ClientKind, form: ReplyForm) -> Vec<Tool> {
    let mut tools = tools().to_vec();
    for tool in &mut tools {
        if form == ReplyForm::Text {
            tool.output_schema = None;
        }
        if let Some(description) = kind.description(&tool.name) {
            tool.description = Some(description.into());
        }
    }
    tools
}

fn described(tool: &tools::Tool) -> Tool {
    let annotations = ToolAnnotations::new()
        .read_only(tool.effect == Effect::Reads)
        .destructive(tool.effect == Effect::Removes)
        .idempotent(tool.effect != Effect::Adds)
        // All data are on this machine.
        .open_world(false);
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
    fn every_tool_says_what_it_takes_and_gives_and_does() {
        for tool in tools() {
            let name = &tool.name;
            assert_eq!(tool.input_schema["type"], "object", "{name}");
            let output = tool.output_schema.as_ref().unwrap();
            assert_eq!(output["type"], "object", "{name}");
            assert!(!output.contains_key("required"), "{name}: errors have other members");
            assert!(tool.description.as_ref().is_some_and(|text| text.len() > 30), "{name}");
            for argument in tool
                .input_schema
                .get("properties")
                .into_iter()
                .flat_map(|p| p.as_object().unwrap().iter())
            {
                assert!(argument.1["description"].is_string(), "{name}: {}", argument.0);
            }
        }
    }

    #[test]
    fn the_list_takes_little_of_an_agent_s_context() {
        let bytes = serde_json::to_vec(tools()).unwrap().len();
        assert!(bytes / tools().len() <= 1_200, "{} bytes a tool", bytes / tools().len());
    }

    #[test]
    fn names_are_given_once() {
        let mut names: Vec<_> = tools().iter().map(|tool| &tool.name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), tools().len());
    }
}
