//! Writes Cypher literals for FalkorDB, because FalkorDB expects the parameters as a text before
//! the query.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// Writes parameters as the prefix of a query.
pub(super) fn prefix(parameters: &Map<String, Value>) -> String {
    let mut text = String::new();
    for (name, value) in parameters {
        let start = if text.is_empty() { "CYPHER " } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(text, "{start}{name}=");
        write(&mut text, value);
        text.push(' ');
    }
    text
}

fn write(to: &mut String, value: &Value) {
    match value {
        Value::Null => to.push_str("null"),
        Value::Bool(value) => to.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => to.push_str(&number.to_string()),
        Value::String(text) => quote(to, text),
        Value::Array(items) => {
            to.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    to.push(',');
                }
                write(to, item);
            }
            to.push(']');
        }
        Value::Object(members) => {
            to.push('{');
            for (index, (name, item)) in members.iter().enumerate() {
                if index > 0 {
                    to.push(',');
                }
                to.push_str(name);
                to.push(':');
                write(to, item);
            }
            to.push('}');
        }
    }
}

/// Writes a text in quotation marks. Omits zero bytes, because they end a text in FalkorDB.
fn quote(to: &mut String, text: &str) {
    to.push('"');
    for character in text.chars() {
        match character {
            '\0' => {}
            '"' | '\\' => {
                to.push('\\');
                to.push(character);
            }
            _ => to.push(character),
        }
    }
    to.push('"');
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_cannot_end_its_literal() {
        let parameters = json!({ "rows": [{ "a": "x\" }] RETURN 1 //", "b": null, "c": [1, true] }], "n": "\\" });
        let Value::Object(parameters) = parameters else { unreachable!() };
        assert_eq!(
            prefix(&parameters),
            r#"CYPHER rows=[{a:"x\" }] RETURN 1 //",b:null,c:[1,true]}] n="\\" "#
        );
        assert_eq!(prefix(&Map::new()), "");
    }
}
