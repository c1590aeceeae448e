//! Checks the schema with a validator that supports only the keywords that the schema uses.

use regex::Regex;
use serde_json::Value as Json;

use crate::config::{init_text, schema};

#[test]
fn the_schema_accepts_the_default_file_and_refuses_invalid_files() {
    let schema = schema();
    let accepts = |text: &str| is_valid(&schema, &serde_json::from_str(text).unwrap());
    assert!(accepts(&init_text()));
    for (inner, wanted) in [
        ("", true),
        ("\"inactivity_timeout\": null", true),
        ("\"inactivity_timeout\": \"x\"", false),
        ("\"_comment\": 1", true),
        ("\"colour\": 1", false),
        ("\"filter\": {\"user_messages\": \"my.md\"}", true),
        ("\"filter\": {\"user_messages\": \"full\"}", false),
        ("\"llm\": {\"provider\": \"openai\"}", true),
        ("\"llm\": {\"api_key\": \"x\"}", false),
        ("\"limits\": {\"spool_bytes\": \"64 MiB\"}", true),
        ("\"limits\": {\"spool_bytes\": \"many\"}", false),
    ] {
        assert_eq!(accepts(&format!("{{\"session_tracking\": {{{inner}}}}}")), wanted, "{inner}");
    }
    assert!(accepts("{\"database\": {\"backend\": \"neo4j\"}, \"$schema\": \"x\"}"));
}

#[test]
fn the_validator_supports_its_keywords() {
    let is = |schema: &str, value: &str| {
        is_valid(&serde_json::from_str(schema).unwrap(), &serde_json::from_str(value).unwrap())
    };
    for (schema, right, wrong) in [
        (r#"{"type": "integer"}"#, "1", "1.5"),
        (r#"{"type": ["number", "null"]}"#, "null", "\"x\""),
        (r#"{"enum": ["a", "b"]}"#, "\"a\"", "\"c\""),
        (r#"{"const": "a"}"#, "\"a\"", "\"b\""),
        (r#"{"pattern": "^a"}"#, "\"ab\"", "\"ba\""),
        (r#"{"minLength": 1}"#, "\"a\"", "\"\""),
        (r#"{"minimum": 0}"#, "0", "-1"),
        (r#"{"maximum": 1}"#, "1", "2"),
        (r#"{"minItems": 1}"#, "[1]", "[]"),
        (r#"{"items": {"type": "null"}}"#, "[null]", "[1]"),
        (r#"{"anyOf": [{"const": 1}, {"const": 2}]}"#, "2", "3"),
        (r#"{"properties": {"a": {"const": 1}}}"#, "{\"a\": 1}", "{\"a\": 2}"),
        (
            r#"{"patternProperties": {"^_": {}}, "additionalProperties": false}"#,
            "{\"_a\": 1}",
            "{\"a\": 1}",
        ),
    ] {
        assert!(is(schema, right), "{schema}");
        assert!(!is(schema, wrong), "{schema}");
    }
}

fn is_valid(schema: &Json, value: &Json) -> bool {
    let Json::Object(keywords) = schema else { return schema != &Json::Bool(false) };
    keywords.iter().all(|(keyword, wanted)| match keyword.as_str() {
        "$schema" | "$comment" | "description" | "default" => true,
        "type" => match wanted {
            Json::Array(types) => types.iter().any(|one| has_type(one, value)),
            one => has_type(one, value),
        },
        "enum" => wanted.as_array().unwrap().contains(value),
        "const" => wanted == value,
        "anyOf" => wanted.as_array().unwrap().iter().any(|one| is_valid(one, value)),
        "pattern" => value.as_str().is_none_or(|text| matches(wanted.as_str().unwrap(), text)),
        "minLength" => {
            value.as_str().is_none_or(|text| text.len() as u64 >= wanted.as_u64().unwrap())
        }
        "minimum" => value.as_f64().is_none_or(|number| number >= wanted.as_f64().unwrap()),
        "maximum" => value.as_f64().is_none_or(|number| number <= wanted.as_f64().unwrap()),
        "minItems" => {
            value.as_array().is_none_or(|list| list.len() as u64 >= wanted.as_u64().unwrap())
        }
        "items" => {
            value.as_array().is_none_or(|list| list.iter().all(|item| is_valid(wanted, item)))
        }
        "properties" | "patternProperties" | "additionalProperties" => {
            has_properties(schema, value)
        }
        other => panic!("no such keyword: {other}"),
    })
}

fn has_properties(schema: &Json, value: &Json) -> bool {
    let Json::Object(fields) = value else { return true };
    fields.iter().all(|(name, field)| {
        if let Some(known) = schema["properties"].get(name) {
            return is_valid(known, field);
        }
        let patterns = schema["patternProperties"].as_object();
        let pattern =
            patterns.and_then(|all| all.iter().find(|(pattern, _)| matches(pattern, name)));
        match pattern {
            Some((_, schema)) => is_valid(schema, field),
            None => schema.get("additionalProperties").is_none_or(|rest| is_valid(rest, field)),
        }
    })
}

fn has_type(name: &Json, value: &Json) -> bool {
    match name.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no such type: {other}"),
    }
}

fn matches(pattern: &str, text: &str) -> bool {
    Regex::new(pattern).unwrap().is_match(text)
}
