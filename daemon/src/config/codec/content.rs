//! Codecs for the stored part of messages, for the prompts that shorten them, and for activities.

use serde_json::{Map, Value as Json, json};

use crate::{
    capture::config::Keep,
    config::{
        codec::{Codec, CodecContext, InvalidValue},
        file::{Node, Value},
    },
    model::{ActivityVector, activity::Activity},
    prompt::config::TemplateSource,
};

/// `true`, `false`, a template or a prompt.
pub(in crate::config) struct KeepCodec {
    /// The template for the deprecated value "summary".
    pub(in crate::config) summary: &'static str,
}

/// `"default"`, a template or a prompt.
pub(in crate::config) struct PromptCodec;

/// An intensity from 0 to 1 for each activity.
pub(in crate::config) struct VectorCodec;

/// The placeholder for the text. Every prompt must contain this placeholder.
const CONTENT: &str = "{content}";

impl Codec for KeepCodec {
    type Item = Keep;

    fn read(&self, node: &Node, context: &mut CodecContext<'_>) -> Result<Keep, InvalidValue> {
        let text = match &node.value {
            Value::Bool(true) => return Ok(Keep::Full),
            Value::Bool(false) => return Ok(Keep::Omit),
            Value::Text(text) => text.trim(),
            _ => {
                return Err(InvalidValue::new(
                    "write true to keep the content, or false to leave it out",
                ));
            }
        };
        let keep = match text.to_ascii_lowercase().as_str() {
            "full" | "true" => Keep::Full,
            "omit" | "false" | "none" => Keep::Omit,
            "summary" => Keep::Template(self.summary.to_owned()),
            _ if is_file(text) => return Ok(Keep::Template(text.to_owned())),
            _ if text.contains(CONTENT) => return Ok(Keep::Prompt(text.to_owned())),
            _ => return Err(InvalidValue::new(no_prompt())),
        };
        context.note_deprecated(&self.write(&keep));
        Ok(keep)
    }

    fn write(&self, item: &Keep) -> Json {
        match item {
            Keep::Full => json!(true),
            Keep::Omit => json!(false),
            Keep::Template(text) | Keep::Prompt(text) => json!(text),
        }
    }

    fn allowed(&self) -> String {
        "true (all of it), false (none of it), a template such as \"my-summary.md\", or a prompt \
         with {content} in it"
            .to_owned()
    }

    fn schema(&self) -> Json {
        json!({ "anyOf": [{ "type": "boolean" }, { "type": "string", "pattern": FILE_OR_PROMPT }] })
    }
}

impl Codec for PromptCodec {
    type Item = TemplateSource;

    fn read(&self, node: &Node, _: &mut CodecContext<'_>) -> Result<TemplateSource, InvalidValue> {
        match &node.value {
            Value::Text(text) if text.trim() == "default" => Ok(TemplateSource::Default),
            Value::Text(text) if is_file(text) => Ok(TemplateSource::File(text.trim().to_owned())),
            Value::Text(text) if text.contains(CONTENT) => Ok(TemplateSource::Inline(text.clone())),
            _ => Err(InvalidValue::new(no_prompt())),
        }
    }

    fn write(&self, item: &TemplateSource) -> Json {
        match item {
            TemplateSource::Default => json!("default"),
            TemplateSource::File(text) | TemplateSource::Inline(text) => json!(text),
        }
    }

    fn allowed(&self) -> String {
        "\"default\", a template such as \"my-summary.md\", or a prompt with {content} in it"
            .to_owned()
    }

    fn schema(&self) -> Json {
        json!({ "anyOf": [{ "const": "default" }, { "type": "string", "pattern": FILE_OR_PROMPT }] })
    }
}

impl Codec for VectorCodec {
    type Item = ActivityVector;

    fn read(&self, node: &Node, _: &mut CodecContext<'_>) -> Result<ActivityVector, InvalidValue> {
        let remedy = "write {\"fixing\": 0.8, \"testing\": 0.5}, for example";
        let Value::Object(entries) = &node.value else { return Err(InvalidValue::new(remedy)) };
        let mut intensities = Map::new();
        for entry in entries.iter().filter(|entry| !entry.key.starts_with('_')) {
            let intensity: Option<f64> = match &entry.node.value {
                Value::Number(number) => number.parse().ok(),
                _ => None,
            };
            let intensity = intensity.filter(|intensity| (0.0..=1.0).contains(intensity));
            match (Activity::parse(&entry.key), intensity) {
                (Some(activity), Some(intensity)) => {
                    intensities.insert(activity.as_str().to_owned(), json!(intensity));
                }
                (None, _) => {
                    return Err(InvalidValue::new(format!("`{}` is not an activity", entry.key)));
                }
                (_, None) => return Err(InvalidValue::new(remedy)),
            }
        }
        serde_json::from_value(Json::Object(intensities)).map_err(|_| InvalidValue::new(remedy))
    }

    fn write(&self, item: &ActivityVector) -> Json {
        let set = Activity::ALL.into_iter().filter(|activity| item.get(*activity) > 0.0);
        let set = set.map(|activity| (activity.as_str().to_owned(), json!(item.get(activity))));
        Json::Object(set.collect())
    }

    fn allowed(&self) -> String {
        "an object with a number from 0 to 1 for each activity".to_owned()
    }

    fn schema(&self) -> Json {
        let intensity = json!({ "type": "number", "minimum": 0, "maximum": 1 });
        let activities = Activity::ALL.map(|one| (one.as_str().to_owned(), intensity.clone()));
        let activities: Map<String, Json> = activities.into_iter().collect();
        json!({ "type": "object", "properties": activities, "additionalProperties": false })
    }
}

/// The pattern for [`is_file`] or [`CONTENT`] in the JSON Schema.
const FILE_OR_PROMPT: &str = r"(^\S+\.md$)|\{content\}";

/// Whether `text` is the file name of a template rather than a prompt.
fn is_file(text: &str) -> bool {
    let text = text.trim();
    text.ends_with(".md") && text.len() > 3 && !text.contains(['\n', '{'])
}

fn no_prompt() -> String {
    "the name of a template must end with .md; a prompt must contain {content} at the place of the text".to_owned()
}
