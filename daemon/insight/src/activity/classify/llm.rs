//! Builds one request to a model to classify all unknown tools of a session, and parses the answer,
//! which is not trusted. The engine redacts and sends the request.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{
    activity::classify::Classified,
    model::{
        activity::{Activity, Signals},
        tool::{ToolClassification, ToolDomain, ToolIntent},
    },
};

/// Maximum number of unknown tools of a session.
const MAX_TOOLS: usize = 50;
/// Maximum number of example calls of each tool.
const MAX_CALLS: usize = 2;
/// Maximum length, in bytes, of the name of a tool. Tools with longer names are not sent.
const MAX_NAME_BYTES: usize = 200;
/// Maximum length, in bytes, of an argument in the request.
const MAX_VALUE_BYTES: usize = 120;
/// Maximum number of arguments of a call.
const MAX_ARGUMENTS: usize = 8;
/// Maximum number of bytes of a reply that are parsed.
const MAX_REPLY_BYTES: usize = 256 * 1024;
/// Maximum length, in bytes, of a stored reason.
const MAX_REASON_BYTES: usize = 200;

const TEMPLATE: &str = include_str!("../../../../../prompts/tool_classification.md");

/// The unknown tools of a session, with example calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Unknowns {
    tools: BTreeMap<String, Vec<Value>>,
}

impl Unknowns {
    /// Adds a call if no step of the chain classified it.
    pub fn note_call(&mut self, classified: &Classified) {
        if let Classified::Unknown { tool, params, .. } = classified {
            self.note(tool, params);
        }
    }

    /// Adds a call of an unknown tool, unless the tool has enough example calls already. After
    /// [`MAX_TOOLS`] tools, further tools are ignored until [`Unknowns::forget`] removes a tool.
    pub fn note(&mut self, tool: &str, params: &Value) {
        let fits = self.tools.len() < MAX_TOOLS || self.tools.contains_key(tool);
        if !fits || tool.len() > MAX_NAME_BYTES {
            return;
        }
        let calls = self.tools.entry(tool.to_owned()).or_default();
        let sample = sample(params);
        if calls.len() < MAX_CALLS && !calls.contains(&sample) {
            calls.push(sample);
        }
    }

    /// Adds the tools of another file of the same session.
    pub fn absorb(&mut self, other: &Unknowns) {
        for (tool, calls) in &other.tools {
            calls.iter().for_each(|call| self.note(tool, call));
        }
    }

    /// Removes the tools that `is_known` accepts.
    pub fn forget(&mut self, is_known: impl Fn(&str) -> bool) {
        self.tools.retain(|tool, _| !is_known(tool));
    }

    /// Calls `change` for the arguments of every call; returns whether one of them changed.
    pub fn change_calls(&mut self, change: &mut dyn FnMut(&mut Value) -> bool) -> bool {
        let calls = self.tools.values_mut().flatten();
        calls.fold(false, |changed, call| change(call) | changed)
    }

    /// Returns the request; `None` when there are no unknown tools.
    pub fn request(&self) -> Option<ClassificationRequest> {
        (!self.tools.is_empty()).then(|| ClassificationRequest { tools: self.tools.clone() })
    }
}

/// A request about several tools.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassificationRequest {
    /// The tools, with example calls whose values are truncated.
    pub tools: BTreeMap<String, Vec<Value>>,
}

impl ClassificationRequest {
    /// Returns the prompt, whose text comes from the specification
    /// intelligent-session-summarization, section 3.2.
    pub fn prompt(&self) -> String {
        TEMPLATE.replacen("{tool_calls_json}", &self.calls_json(), 1)
    }

    /// Returns the example calls as JSON, for the prompt.
    pub fn calls_json(&self) -> String {
        let calls: Vec<Value> = self
            .tools
            .iter()
            .flat_map(|(tool, calls)| {
                calls.iter().map(move |params| json!({"name": tool, "params": params}))
            })
            .collect();
        serde_json::to_string_pretty(&calls).expect("JSON values can be written")
    }

    /// Parses a model's reply into the classifications of the requested tools, each tool once. Code
    /// fences and prose around the JSON are ignored, numbers are clamped, unknown activities are
    /// dropped, and an unknown domain becomes `unknown`. An entry without a valid intent is
    /// dropped. Tools without an answer stay unknown and are requested again.
    pub fn read_reply(&self, reply: &str) -> Result<Vec<ToolClassification>, UnreadableReply> {
        let reply = &reply[..reply.floor_char_boundary(MAX_REPLY_BYTES)];
        let entries = entries_in(reply).ok_or(UnreadableReply)?;
        let mut found: BTreeMap<String, ToolClassification> = BTreeMap::new();
        for entry in &entries {
            if let Some(classification) = self.read_entry(entry) {
                found.entry(classification.tool_name.clone()).or_insert(classification);
            }
        }
        Ok(found.into_values().collect())
    }

    fn read_entry(&self, entry: &Value) -> Option<ToolClassification> {
        let tool = entry["tool_name"].as_str().filter(|tool| self.tools.contains_key(*tool))?;
        let word = |key: &str| entry[key].as_str().map(|word| word.trim().to_lowercase());
        let reasoning = entry["reasoning"].as_str().unwrap_or_default();
        Some(ToolClassification {
            tool_name: tool.to_owned(),
            intent: ToolIntent::parse(&word("intent")?)?,
            domain: word("domain")
                .and_then(|domain| ToolDomain::parse(&domain))
                .unwrap_or(ToolDomain::Unknown),
            confidence: number(&entry["confidence"]).unwrap_or(DEFAULT_CONFIDENCE),
            reasoning: reasoning[..reasoning.floor_char_boundary(MAX_REASON_BYTES)].to_owned(),
            activity_signals: signals_in(&entry["activity_signals"]),
        })
    }
}

/// The confidence of an answer without a confidence.
const DEFAULT_CONFIDENCE: f64 = 0.5;

/// The reply contains no JSON of the requested form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read the model's classification of tools: it has no JSON of the expected form")]
pub struct UnreadableReply;

/// Returns the list of entries, at any position in the reply.
fn entries_in(reply: &str) -> Option<Vec<Value>> {
    let starts = reply.match_indices(['{', '[']).map(|(at, _)| at);
    const TRIES: usize = 50;
    let found = starts.take(TRIES).find_map(|at| {
        let mut values = serde_json::Deserializer::from_str(&reply[at..]).into_iter::<Value>();
        match values.next()?.ok()? {
            Value::Array(entries)
                if entries.iter().any(|entry| entry.get("tool_name").is_some()) =>
            {
                Some(entries)
            }
            Value::Object(object) => entries_of_object(object),
            _ => None,
        }
    });
    // An empty list within prose does not count as an answer.
    let bare = reply.trim().trim_matches('`').trim_start_matches("json").trim();
    found.or_else(|| (bare == "[]").then(Vec::new))
}

fn entries_of_object(mut object: Map<String, Value>) -> Option<Vec<Value>> {
    match object.remove("classifications") {
        Some(Value::Array(entries)) => Some(entries),
        Some(_) => None,
        None => object.contains_key("tool_name").then(|| vec![Value::Object(object)]),
    }
}

fn signals_in(value: &Value) -> Signals {
    let pairs = value.as_object().into_iter().flatten();
    let mut signals = Signals::default();
    for (name, amount) in pairs {
        if let (Some(activity), Some(amount)) = (Activity::parse(name), number(amount)) {
            signals.add(activity, amount);
        }
    }
    signals
}

/// Parses a number, which may be in a string, and clamps it to the range from 0 to 1.
fn number(value: &Value) -> Option<f64> {
    let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())?;
    number.is_finite().then(|| number.clamp(0.0, 1.0))
}

/// Returns the first non-null arguments of a call, with long values truncated.
fn sample(params: &Value) -> Value {
    match params {
        Value::Object(map) => Value::Object(
            map.iter()
                .filter(|(_, value)| !value.is_null())
                .take(MAX_ARGUMENTS)
                .map(|(key, value)| {
                    (key[..key.floor_char_boundary(MAX_VALUE_BYTES)].to_owned(), shortened(value))
                })
                .collect(),
        ),
        other => shortened(other),
    }
}

fn shortened(value: &Value) -> Value {
    match value {
        Value::String(text) if text.len() > MAX_VALUE_BYTES => {
            Value::String(format!("{}…", &text[..text.floor_char_boundary(MAX_VALUE_BYTES)]))
        }
        Value::Array(items) => Value::String(format!("[{} items]", items.len())),
        Value::Object(map) => {
            let keys: Vec<&str> = map.keys().take(MAX_ARGUMENTS).map(String::as_str).collect();
            shortened(&Value::String(format!("{{{}}}", keys.join(", "))))
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> ClassificationRequest {
        let mut unknowns = Unknowns::default();
        unknowns
            .note("mcp__acme__frob", &json!({"level": 3, "text": "x".repeat(5_000), "none": null}));
        unknowns.note("bash:zorbify", &json!({"command": "zorbify --all"}));
        unknowns.request().expect("two tools")
    }

    #[test]
    fn one_prompt_contains_every_tool_and_no_long_value() {
        let prompt = request().prompt();
        assert!(
            prompt.contains("\"name\": \"mcp__acme__frob\"") && prompt.contains("\"level\": 3")
        );
        assert!(prompt.contains("\"name\": \"bash:zorbify\"") && prompt.contains("zorbify --all"));
        assert!(!prompt.contains("{tool_calls_json}") && !prompt.contains("none"));
        assert!(prompt.len() < TEMPLATE.len() + 1_000, "{}", prompt.len());
    }

    #[test]
    fn without_unknown_tools_there_is_no_request() {
        let mut unknowns = Unknowns::default();
        assert_eq!(unknowns.request(), None);
        unknowns.note("frob", &Value::Null);
        unknowns.forget(|tool| tool == "frob");
        assert_eq!(unknowns.request(), None);
    }

    #[test]
    fn the_size_of_the_unknown_tools_is_limited() {
        let mut unknowns = Unknowns::default();
        for number in 0..1_000 {
            unknowns.note(
                &format!("tool{}", number % 300),
                &json!({"n": number, "big": "y".repeat(9_000)}),
            );
        }
        assert_eq!(unknowns.tools.len(), MAX_TOOLS);
        let bytes = serde_json::to_string(&unknowns).expect("plain data").len();
        assert!(bytes < 40_000, "{bytes}");
    }

    const GOOD: &str = r#"{"classifications": [{"tool_name": "mcp__acme__frob", "intent": "search",
        "domain": "code", "confidence": 0.9, "reasoning": "r", "activity_signals": {"exploring": 0.4}}]}"#;

    #[test]
    fn text_around_the_json_of_a_reply_is_ignored() {
        for reply in [
            GOOD.to_owned(),
            format!("```json\n{GOOD}\n```"),
            format!("Here {{you}} are [1]:\n```\n{GOOD}\n```\nAnything else?"),
            format!("The calls with the arguments [] search.\n{GOOD}"),
            GOOD.trim_start_matches("{\"classifications\": ").trim_end_matches('}').to_owned() + "",
        ] {
            let found = request().read_reply(&reply).expect("readable");
            assert_eq!(found.len(), 1, "{reply}");
            assert_eq!((found[0].intent, found[0].domain), (ToolIntent::Search, ToolDomain::Code));
            assert_eq!(found[0].activity_signals.get(Activity::Exploring), 0.4);
        }
    }

    #[test]
    fn invalid_parts_of_a_reply_are_ignored() {
        let reply = json!({"classifications": [
            {"tool_name": "not_asked", "intent": "read", "domain": "code"},
            {"tool_name": "mcp__acme__frob", "intent": "fly", "domain": "code"},
            {"tool_name": "mcp__acme__frob", "intent": " Search ", "domain": "moon", "confidence": 17,
             "activity_signals": {"exploring": 5, "fixing": -1, "dancing": 1, "testing": "0.5", "building": null}},
            {"tool_name": "mcp__acme__frob", "intent": "delete", "domain": "code"},
            "noise", null, 3
        ]});
        let found = request().read_reply(&reply.to_string()).expect("readable");
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].intent, found[0].domain), (ToolIntent::Search, ToolDomain::Unknown));
        assert_eq!(found[0].confidence, 1.0);
        let signals: Vec<_> =
            found[0].activity_signals.iter().filter(|(_, sum)| *sum != 0.0).collect();
        assert_eq!(signals, [(Activity::Exploring, 1.0), (Activity::Testing, 0.5)]);
    }

    #[test]
    fn replies_without_the_requested_json_are_errors() {
        for reply in [
            "",
            "I cannot do that.",
            "{\"error\": 1}",
            "{\"classifications\": 3}",
            "[1, 2",
            "{{{{",
            "The arguments [] say nothing.",
        ] {
            assert_eq!(request().read_reply(reply), Err(UnreadableReply), "{reply}");
        }
        for empty in ["{\"classifications\": []}", "[]", "```json\n[]\n```"] {
            assert_eq!(request().read_reply(empty), Ok(Vec::new()), "{empty}");
        }
        assert!(request().read_reply(&"[{".repeat(100_000)).is_err());
    }
}
