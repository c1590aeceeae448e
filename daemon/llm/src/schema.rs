//! JSON schemas, and the conversion of answers to them.

use serde_json::{Map, Value};

/// A JSON schema for answers. Only `type`, `properties`, `required`, `items` and `enum` are checked
/// here; providers may check more.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    name: String,
    value: Value,
}

impl Schema {
    /// Parses the schema in `text`. `None` when `text` is not a JSON object, or when `name` is not
    /// 1 to 64 ASCII letters, digits and `_`.
    pub fn new(name: &str, text: &str) -> Option<Schema> {
        let is_name = (1..=64).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let value: Value = serde_json::from_str(text).ok()?;
        (is_name && value.is_object()).then(|| Schema { name: name.to_owned(), value })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Whether a server with strict schemas accepts the schema: every property is required, and no
    /// other properties are allowed.
    pub fn is_strict(&self) -> bool {
        is_strict(&self.value)
    }

    /// Returns the instruction for a model without support for schemas.
    pub fn instruction(&self) -> String {
        format!(
            "\n\nAnswer with one JSON object and nothing else, by this JSON schema:\n{}\n",
            self.value
        )
    }

    /// Converts `answer` to the schema: removes unknown and null entries. Where the schema requires
    /// it, turns a single value into a list, a number into a text, or a text into a number of the
    /// type `number`. A text is never turned into an integer. In enum values, ignores the case, and
    /// accepts `-` and spaces instead of `_`. The error contains the position where the answer does
    /// not match, without quoting the answer.
    pub fn fit(&self, answer: Value) -> Result<Value, String> {
        fit(&self.value, answer, "the answer")
    }
}

/// The schema of a value without a description: allows all types.
static ANY: Value = Value::Null;

fn fit(schema: &Value, value: Value, at: &str) -> Result<Value, String> {
    let value = match value {
        Value::Object(map) if allows(schema, "object") => {
            Value::Object(fit_object(schema, map, at)?)
        }
        Value::Array(items) if allows(schema, "array") => fit_list(schema, items, at)?,
        single
            if !allows(schema, type_of(&single))
                && allows(schema, "array")
                && !single.is_null() =>
        {
            fit_list(schema, vec![single], at)?
        }
        Value::Number(number) if !allows(schema, "number") && !is_integer(schema, &number) => {
            match allows(schema, "string") {
                true => Value::String(number.to_string()),
                false => return Err(mismatch(schema, "a number", at)),
            }
        }
        Value::String(text) => fit_text(schema, text, at)?,
        other if allows(schema, type_of(&other)) || is_number(schema, &other) => other,
        other => return Err(mismatch(schema, type_of(&other), at)),
    };
    Ok(value)
}

fn fit_object(
    schema: &Value,
    mut map: Map<String, Value>,
    at: &str,
) -> Result<Map<String, Value>, String> {
    let Some(properties) = schema["properties"].as_object() else { return Ok(map) };
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut fitted = Map::new();
    // A schema may require a property that it does not describe. Such a property can have any
    // value.
    let undescribed = required.clone().filter(|name| !properties.contains_key(*name));
    let described = properties.iter().map(|(name, schema)| (name.as_str(), schema));
    for (name, schema) in described.chain(undescribed.map(|name| (name, &ANY))) {
        if let Some(value) = map.remove(name).filter(|value| !value.is_null()) {
            fitted.insert(name.to_owned(), fit(schema, value, &format!("{at}.{name}"))?);
        }
    }
    for name in required {
        if !fitted.contains_key(name) && !allows(properties.get(name).unwrap_or(&ANY), "null") {
            return Err(format!("{at} has no {name}"));
        }
    }
    Ok(fitted)
}

fn fit_list(schema: &Value, items: Vec<Value>, at: &str) -> Result<Value, String> {
    let item = &schema["items"];
    let items = items.into_iter().enumerate().filter(|(_, value)| !value.is_null());
    let fitted: Result<Vec<Value>, String> =
        items.map(|(index, value)| fit(item, value, &format!("{at}[{index}]"))).collect();
    fitted.map(Value::Array)
}

fn fit_text(schema: &Value, text: String, at: &str) -> Result<Value, String> {
    if let Some(words) = schema["enum"].as_array() {
        let plain = |word: &str| word.trim().to_lowercase().replace(['-', ' '], "_");
        let known =
            words.iter().find(|word| word.as_str().is_some_and(|word| plain(word) == plain(&text)));
        return known.cloned().ok_or_else(|| {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            format!("{at} has to be one of {}", words.join(", "))
        });
    }
    if allows(schema, "string") {
        return Ok(Value::String(text));
    }
    let number: Option<f64> = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
    let number = number.filter(|_| allows(schema, "number")).and_then(serde_json::Number::from_f64);
    number.map(Value::Number).ok_or_else(|| mismatch(schema, "a string", at))
}

/// Whether a schema allows a type; a schema without types allows all types.
fn allows(schema: &Value, name: &str) -> bool {
    match &schema["type"] {
        Value::String(one) => one == name,
        Value::Array(several) => several.iter().any(|one| one == name),
        _ => true,
    }
}

fn is_integer(schema: &Value, number: &serde_json::Number) -> bool {
    allows(schema, "integer") && (number.is_i64() || number.is_u64())
}

fn is_number(schema: &Value, value: &Value) -> bool {
    matches!(value, Value::Number(number) if allows(schema, "number") || is_integer(schema, number))
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn mismatch(schema: &Value, found: &str, at: &str) -> String {
    let wanted = match &schema["type"] {
        Value::Array(several) => {
            several.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")
        }
        one => one.as_str().unwrap_or("another type").to_owned(),
    };
    format!("{at} has to be of type {wanted}, not {found}")
}

fn is_strict(schema: &Value) -> bool {
    if let Some(properties) = schema["properties"].as_object() {
        let required = schema["required"].as_array().map_or(0, Vec::len);
        let is_closed = schema["additionalProperties"] == false && required == properties.len();
        if !is_closed || !properties.values().all(is_strict) {
            return false;
        }
    }
    schema.get("items").is_none_or(is_strict)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Schema {
        let text = r#"{"type": "object", "additionalProperties": false,
            "required": ["goal", "end", "tasks", "tries", "pairs"],
            "properties": {
                "goal": {"type": "string"},
                "end": {"type": "string", "enum": ["in_progress", "done"]},
                "tasks": {"type": ["array", "null"], "items": {"type": "string"}},
                "tries": {"type": ["integer", "null"]},
                "pairs": {"type": ["array", "null"], "items": {
                    "type": "object", "additionalProperties": false, "required": ["share"],
                    "properties": {"share": {"type": "number"}}}}
            }}"#;
        Schema::new("summary", text).unwrap()
    }

    #[test]
    fn an_answer_is_converted_to_the_schema() {
        for (answer, expected) in [
            (json!({"goal": "a", "end": "done"}), json!({"goal": "a", "end": "done"})),
            (
                json!({"goal": "a", "end": "In progress", "tasks": null, "more": 1}),
                json!({"goal": "a", "end": "in_progress"}),
            ),
            (
                json!({"end": "done", "goal": 7, "tasks": "one", "tries": 3}),
                json!({"goal": "7", "end": "done", "tasks": ["one"], "tries": 3}),
            ),
            (
                json!({"goal": "", "end": "DONE", "tasks": ["a", null], "pairs": [{"share": "0.5", "x": 1}]}),
                json!({"goal": "", "end": "done", "tasks": ["a"], "pairs": [{"share": 0.5}]}),
            ),
        ] {
            assert_eq!(schema().fit(answer.clone()), Ok(expected), "{answer}");
        }
    }

    #[test]
    fn a_required_property_without_a_description_can_have_any_value() {
        let text = r#"{"type": "object", "required": ["a", "b"], "properties": {"a": {"type": "string"}}}"#;
        let schema = Schema::new("open", text).unwrap();
        for (answer, expected) in [
            (json!({"a": "x", "b": [1], "c": 1}), Ok(json!({"a": "x", "b": [1]}))),
            (json!({"a": "x"}), Ok(json!({"a": "x"}))),
            (json!({"b": [1]}), Err("the answer has no a".to_owned())),
        ] {
            assert_eq!(schema.fit(answer.clone()), expected, "{answer}");
        }
    }

    #[test]
    fn mismatches_are_reported_without_quoting_the_answer() {
        for (answer, expected) in [
            (json!([]), "the answer has to be of type object, not array"),
            (json!({"end": "done"}), "the answer has no goal"),
            (json!({"goal": null, "end": "done"}), "the answer has no goal"),
            (
                json!({"goal": "a", "end": "secret"}),
                "the answer.end has to be one of in_progress, done",
            ),
            (
                json!({"goal": {"secret": 1}, "end": "done"}),
                "the answer.goal has to be of type string, not object",
            ),
            (
                json!({"goal": "a", "end": "done", "tries": 1.5}),
                "the answer.tries has to be of type integer or null, not a number",
            ),
            (
                json!({"goal": "a", "end": "done", "pairs": [{"share": 1}, {}]}),
                "the answer.pairs[1] has no share",
            ),
            (
                json!({"goal": "a", "end": "done", "pairs": [{"share": "x"}]}),
                "the answer.pairs[0].share has to be of type number, not a string",
            ),
            (
                json!({"goal": "a", "end": "done", "tasks": [["a"]]}),
                "the answer.tasks[0] has to be of type string, not array",
            ),
        ] {
            assert_eq!(schema().fit(answer.clone()), Err(expected.to_owned()), "{answer}");
        }
    }

    #[test]
    fn a_strict_schema_requires_all_properties_and_allows_no_others() {
        assert!(schema().is_strict());
        for open in [
            r#"{"type": "object", "properties": {"a": {}}, "required": ["a"]}"#,
            r#"{"type": "array", "items": {"additionalProperties": false, "properties": {"a": {}}, "required": []}}"#,
        ] {
            assert!(!Schema::new("a", open).unwrap().is_strict(), "{open}");
        }
    }

    #[test]
    fn a_schema_is_an_object_with_a_name() {
        assert_eq!(Schema::new("a", "[]"), None);
        assert_eq!(Schema::new("a b", "{}"), None);
        assert_eq!(Schema::new("", "{}"), None);
        assert_eq!(Schema::new("a", "{"), None);
    }
}
