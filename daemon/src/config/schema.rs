//! Describes the file as JSON Schema, for editors and users.

use serde_json::{Map, Value as Json, json};

use crate::config::{Config, table};

/// Returns the schema (draft 2020-12) with the type, limits, default and help of every key.
/// Sections of Graphiti may contain anything; remarks (`_…`) may be in every section.
pub fn schema() -> Json {
    let mut root = object("graphiti.config.json");
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root["additionalProperties"] = json!(true);
    for (section, help) in table::SECTIONS {
        let (parent, name) = section.rsplit_once('.').unwrap_or(("", section));
        properties_of(&mut root, parent).insert(name.to_owned(), object(help));
    }
    let defaults = Config::default();
    for field in table::fields() {
        let Some((parent, name)) = field.key.rsplit_once('.') else { continue };
        let mut described = field.schema();
        described["description"] = json!(field.help);
        described["default"] = field.write(&defaults);
        if field.is_guarded() {
            described["$comment"] = json!("only in the user's own file");
        }
        properties_of(&mut root, parent).insert(name.to_owned(), described);
    }
    root
}

fn object(description: &str) -> Json {
    json!({
        "type": "object",
        "description": description,
        "properties": {},
        "patternProperties": { "^(_|//|\\$schema$)": {} },
        "additionalProperties": false,
    })
}

/// Returns the properties of the section at `key` in the schema `root`. An empty key means the
/// root.
fn properties_of<'r>(root: &'r mut Json, key: &str) -> &'r mut Map<String, Json> {
    let names = key.split('.').filter(|name| !name.is_empty());
    let section = names.fold(root, |object, name| &mut object["properties"][name]);
    section["properties"].as_object_mut().expect("every section is created before its fields")
}
