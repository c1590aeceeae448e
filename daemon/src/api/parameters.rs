//! Reads the parameters of requests, and writes answers.

use graphiti_proto::rpc::{Error, code};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::model::EpisodeId;

/// Maximum length, in characters, of a wrong argument in an error.
const MAX_SHOWN_CHARS: usize = 60;

/// Reads the parameters of a method or the arguments of a tool.
pub(super) fn read<T: DeserializeOwned + Default>(params: Value) -> Result<T, Error> {
    match params {
        Value::Null => Ok(T::default()),
        params => serde_json::from_value(params.clone())
            .map_err(|error| Error::new(code::INVALID_PARAMS, wrong::<T>(&params, &error))),
    }
}

/// Parses the argument `name`, the id of an episode.
pub(super) fn episode_id(name: &str, given: &str) -> Result<EpisodeId, Error> {
    EpisodeId::parse(given).ok_or_else(|| {
        let what = format!("`{name}` must be the id of an episode, not `{given}`");
        Error::new(code::INVALID_PARAMS, what)
    })
}

/// Describes a wrong argument by its name, its value and the expected type. All members have
/// defaults, so that each member can be checked separately.
fn wrong<T: DeserializeOwned>(params: &Value, error: &serde_json::Error) -> String {
    let alone = |(name, value): (&String, &Value)| {
        let error = serde_json::from_value::<T>(json!({ name: value })).err()?;
        let given: String = value.to_string().chars().take(MAX_SHOWN_CHARS).collect();
        Some(format!("`{name}` must be {}, not {given}", expected(&error.to_string())))
    };
    let found = params.as_object().and_then(|members| members.iter().find_map(alone));
    found.unwrap_or_else(|| match params {
        Value::Object(_) => format!("wrong arguments: {error}"),
        _ => "arguments must be an object".to_owned(),
    })
}

/// Converts the expected type in a parser error to a description for people.
fn expected(error: &str) -> &str {
    let expected = error.rsplit_once("expected ").map_or(error, |(_, expected)| expected);
    match expected.split(" at line").next().unwrap_or(expected) {
        "usize" | "u64" | "u32" | "u16" | "u8" => "a whole number, 0 or more",
        "i64" | "i32" => "a whole number",
        "f64" | "f32" => "a number",
        "a string" => "a text",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "an object",
        other => other,
    }
}

pub(super) fn write<T: Serialize>(answer: &T) -> Value {
    serde_json::to_value(answer).expect("answers have only string keys")
}
