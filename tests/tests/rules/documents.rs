//! Checks that `docs/configuration.md` and `docs/tools.md`, which are generated from the code, are
//! current. `UPDATE=1 cargo test -p graphiti-tests --test rules documents` writes them.

use std::{fmt::Write, fs};

use graphitid::{
    api::tools::{Effect, TOOLS},
    config,
};
use serde_json::{Map, Value};

use crate::root;

#[test]
fn the_configuration_reference_is_current() {
    check("configuration.md", &configuration());
}

#[test]
fn the_tool_reference_is_current() {
    check("tools.md", &tools());
}

/// When a file is renamed, its path in these documents has to be changed, too.
#[test]
fn documents_mention_only_files_that_exist() {
    let folders =
        [".ci/", ".github/", "client/", "daemon/", "docs/", "prompts/", "proto/", "tests/"];
    let mut missing = Vec::new();
    for document in
        ["CONTRIBUTING.md", "README.md", "SECURITY.md", "docs/architecture.md", "tests/README.md"]
    {
        let text = fs::read_to_string(root().join(document)).unwrap();
        let quoted = text.split('`').skip(1).step_by(2).flat_map(str::split_whitespace);
        for path in quoted.filter(|word| folders.iter().any(|folder| word.starts_with(folder))) {
            let path = path.trim_end_matches([',', ':', '.']);
            if !path.contains(['<', '*', '{']) && !root().join(path).exists() {
                missing.push(format!("{document}: {path}"));
            }
        }
    }
    assert!(missing.is_empty(), "these files do not exist:\n{}", missing.join("\n"));
}

fn check(name: &str, generated: &str) {
    let file = root().join("docs").join(name);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&file, generated).unwrap();
    }
    assert!(
        fs::read_to_string(&file).is_ok_and(|current| current == generated),
        "docs/{name} is not current: run `UPDATE=1 cargo test -p graphiti-tests --test rules documents`"
    );
}

fn configuration() -> String {
    let mut text = "# Configuration reference\n\n\
        Generated from `daemon/src/config/table.rs` by `UPDATE=1 cargo test -p graphiti-tests --test rules documents`; do not edit.\n\n\
        The file is `~/.graphiti/graphiti.config.json`. No setting is required. `graphitid config init` writes a file with all settings,\n\
        `graphitid config check` reports the problems or the values of a file, `graphitid config schema` prints the JSON Schema for editors, and `graphiti reload`\n\
        applies changes to a running daemon.\n"
        .to_owned();
    let schema = config::schema();
    for (name, section) in members(&schema) {
        write_section(&mut text, name, section);
    }
    text
}

fn write_section(text: &mut String, path: &str, section: &Value) {
    let is_section = |member: &&(&String, &Value)| member.1.get("properties").is_some();
    let has_default = |member: &&(&String, &Value)| member.1.get("default").is_some();
    let all: Vec<(&String, &Value)> = members(section).collect();
    let _ = writeln!(text, "\n## `{path}`\n\n{}.", string(section, "description"));
    let mut settings = all.iter().filter(has_default).peekable();
    if settings.peek().is_some() {
        text.push_str(
            "\n| Setting | Default | Values | Description |\n| --- | --- | --- | --- |\n",
        );
    }
    for (name, setting) in settings {
        let own_file = setting.get("$comment").map(|comment| format!(" ({})", plain(comment)));
        let description = string(setting, "description") + &own_file.unwrap_or_default();
        let row =
            [code(&setting["default"]), values(setting), description].map(|cell| escape(&cell));
        let _ = writeln!(text, "| `{name}` | {} |", row.join(" | "));
    }
    for (name, inner) in all.iter().filter(|member| !has_default(member)).filter(is_section) {
        write_section(text, &format!("{path}.{name}"), inner);
    }
}

fn tools() -> String {
    let mut text = "# Tool reference\n\n\
        Generated from `daemon/src/api/tools` by `UPDATE=1 cargo test -p graphiti-tests --test rules documents`; do not edit.\n\n\
        Agents call these tools over the Model Context Protocol (`graphiti mcp`), and so does the command line. The answer to an\n\
        agent is Markdown for its model. With `structured: true` among the arguments, or `\"graphiti/structured\": true` in the\n\
        request's `_meta`, it is a JSON object with the members that are listed below. If a tool fails, the object has `status`,\n\
        `error` and `message` instead. A JSON answer of `search_sessions` has 10 sessions by default.\n\n\
        The list for an agent has only the core tools, or the tools of the setting `session_tracking.mcp.tools`. The agent can call\n\
        every tool by its name.\n"
        .to_owned();
    for tool in TOOLS {
        let effect = match tool.effect {
            Effect::Reads => "reads only",
            Effect::Updates => "changes data; a repeated call has no further effect",
            Effect::Adds => "adds data",
            Effect::Removes => "removes data",
        };
        let _ = writeln!(
            text,
            "\n## `{}`\n\n{} ({effect}). {}",
            tool.name, tool.title, tool.description
        );
        let (input, output) = ((tool.input)().to_value(), (tool.output)().to_value());
        if members(&input).next().is_some() {
            text.push_str(
                "\n| Argument | Type | Default | Description |\n| --- | --- | --- | --- |\n",
            );
        }
        for (name, argument) in members(&input) {
            let default = match argument.get("default") {
                Some(default) => code(default),
                None if is_required(&input, name) => "required".to_owned(),
                None => String::new(),
            };
            // Every optional argument may also be null, so the table does not say it.
            let values = values(argument).replace(" or `null`", "");
            let row = [values, default, string(argument, "description")];
            let _ = writeln!(text, "| `{name}` | {} |", row.map(|cell| escape(&cell)).join(" | "));
        }
        let answer: Vec<String> = members(&output).map(|(name, _)| format!("`{name}`")).collect();
        let _ = writeln!(text, "\nAnswer: {}.", answer.join(", "));
    }
    text
}

/// Describes the values that a schema permits.
fn values(schema: &Value) -> String {
    if let Some(value) = schema.get("const") {
        return code(value);
    }
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        return choices.iter().map(code).collect::<Vec<_>>().join(", ");
    }
    if let Some(choices) = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(key)?.as_array()) {
        return choices.iter().map(values).collect::<Vec<_>>().join(" or ");
    }
    match schema.get("type") {
        Some(Value::Array(types)) => {
            let each = types.iter().map(|name| type_in_words(plain(name), schema));
            each.collect::<Vec<_>>().join(" or ")
        }
        Some(Value::String(name)) => type_in_words(name, schema),
        _ => "any value".to_owned(),
    }
}

fn type_in_words(name: &str, schema: &Value) -> String {
    match name {
        "boolean" => "`true` or `false`".to_owned(),
        "null" => "`null`".to_owned(),
        "string" => "text".to_owned(),
        "integer" => format!("a whole number{}", range(schema)),
        "number" => format!("a number{}", range(schema)),
        "array" => match schema.get("items") {
            Some(items) => format!("a list of: {}", values(items)),
            None => "a list".to_owned(),
        },
        _ => format!("an {name}"),
    }
}

fn range(schema: &Value) -> String {
    match (schema.get("minimum"), schema.get("maximum")) {
        // The maximum of a duration is not relevant for a reader.
        (Some(least), Some(most))
            if most.as_f64().is_none_or(|most| most < f64::from(i32::MAX)) =>
        {
            format!(" from {least} to {most}")
        }
        (Some(least), _) => format!(" from {least}"),
        _ => String::new(),
    }
}

fn members(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::iter)
}

fn is_required(schema: &Value, name: &str) -> bool {
    schema["required"].as_array().is_some_and(|names| names.iter().any(|each| each == name))
}

fn code(value: &Value) -> String {
    format!("`{value}`")
}

fn string(schema: &Value, key: &str) -> String {
    schema.get(key).map(plain).unwrap_or_default().to_owned()
}

fn plain(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Escapes a text for a cell of a Markdown table.
fn escape(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
