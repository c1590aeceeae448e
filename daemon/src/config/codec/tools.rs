//! The codec for the tools that agents are shown: a word, or a list of names.

use serde_json::{Value as Json, json};

use crate::{
    api::{config::ListedTools, tools::TOOLS},
    config::{
        codec::{Codec, CodecContext, Wrong},
        file::{Node, Value},
    },
};

pub(in crate::config) struct ToolsCodec;

impl Codec for ToolsCodec {
    type Item = ListedTools;

    fn read(&self, node: &Node, _: &mut CodecContext<'_>) -> Result<ListedTools, Wrong> {
        match &node.value {
            Value::Text(text) if text == "core" => Ok(ListedTools::Core),
            Value::Text(text) if text == "all" => Ok(ListedTools::All),
            Value::List(items) => {
                Ok(ListedTools::Named(items.iter().map(tool_name).collect::<Result<_, _>>()?))
            }
            _ => Err(Wrong::new("write \"core\", \"all\" or [\"search_sessions\"], for example")),
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

fn tool_name(node: &Node) -> Result<String, Wrong> {
    let names = || TOOLS.iter().map(|tool| tool.name).collect::<Vec<_>>().join(", ");
    match &node.value {
        Value::Text(name) if TOOLS.iter().any(|tool| tool.name == name) => Ok(name.clone()),
        Value::Text(name) => {
            Err(Wrong::new(format!("there is no tool `{name}`; there are {}", names())))
        }
        _ => Err(Wrong::new(format!("a tool is named by a text; there are {}", names()))),
    }
}
