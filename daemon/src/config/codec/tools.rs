//! The codec for the tools that are listed for agents: a word, or a list of names.

use serde_json::{Value as Json, json};

use crate::{
    api::{config::ListedTools, tools::TOOLS},
    config::{
        codec::{Codec, CodecContext, InvalidValue},
        file::{Node, Value},
    },
};

pub(in crate::config) struct ToolsCodec;

impl Codec for ToolsCodec {
    type Item = ListedTools;

    fn read(&self, node: &Node, _: &mut CodecContext<'_>) -> Result<ListedTools, InvalidValue> {
        match &node.value {
            Value::Text(text) if text == "core" => Ok(ListedTools::Core),
            Value::Text(text) if text == "all" => Ok(ListedTools::All),
            Value::List(items) => {
                Ok(ListedTools::Named(items.iter().map(tool_name).collect::<Result<_, _>>()?))
            }
            _ => Err(InvalidValue::new(
                "write \"core\", \"all\" or [\"search_sessions\"], for example",
            )),
        }
    }

    fn write(&self, item: &ListedTools) -> Json {
        match item {
            ListedTools::Core => json!("core"),
            ListedTools::All => json!("all"),
            ListedTools::Named(names) => json!(names),
        }
    }

    fn allowed(&self) -> String {
        "\"core\", \"all\" or a list of the names of tools".to_owned()
    }

    fn schema(&self) -> Json {
        let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
        json!({ "anyOf": [
            { "enum": ["core", "all"] },
            { "type": "array", "items": { "enum": names } },
        ] })
    }
}

fn tool_name(node: &Node) -> Result<String, InvalidValue> {
    let names = || TOOLS.iter().map(|tool| tool.name).collect::<Vec<_>>().join(", ");
    match &node.value {
        Value::Text(name) if TOOLS.iter().any(|tool| tool.name == name) => Ok(name.clone()),
        Value::Text(name) => {
            Err(InvalidValue::new(format!("there is no tool `{name}`; the tools are {}", names())))
        }
        _ => Err(InvalidValue::new(format!(
            "the name of a tool must be a text; the tools are {}",
            names()
        ))),
    }
}
