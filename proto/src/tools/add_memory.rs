//! `add_memory`: stores a text that is not part of a session.

use serde::{Deserialize, Serialize};

/// The name of the tool.
pub const NAME: &str = "add_memory";

/// The arguments of the tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["name", "episode_body"])))]
#[serde(default)]
pub struct AddMemoryArguments {
    /// A short title for lists.
    pub name: String,
    /// What to remember.
    pub episode_body: String,
    /// The project: a namespace or a directory; otherwise the caller's project.
    pub group_id: Option<String>,
    /// What the body is: `text`, `json`, or `message` for lines such as `user: …`.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["text", "json", "message"])))]
    pub source: String,
    /// The origin of the text, in words.
    pub source_description: String,
    /// The id of an earlier memory that this one replaces.
    pub uuid: Option<String>,
    /// `preference`: a lasting wish; by default detected in the text.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["note", "preference"])))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Whether a preference holds in all projects.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub everywhere: bool,
}

impl Default for AddMemoryArguments {
    fn default() -> AddMemoryArguments {
        AddMemoryArguments {
            name: String::new(),
            episode_body: String::new(),
            group_id: None,
            source: "text".to_owned(),
            source_description: String::new(),
            uuid: None,
            kind: None,
            everywhere: false,
        }
    }
}

/// The answer of the tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct AddMemoryAnswer {
    /// The result as a sentence for people.
    pub message: String,
    /// The id of the episode.
    pub uuid: String,
    /// The namespace of the project, or the setting `group_id`.
    pub group_id: String,
    /// The id of the stored preference, by which the user can withdraw the preference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fact: Option<String>,
    /// Since when the preference is known, RFC 3339, if it was known before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known_since: Option<String>,
    /// An earlier preference that this one may contradict. Both hold until one is withdrawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contradicts: Option<EarlierWish>,
    /// The stored text around the first part that was replaced, because this part looks like a
    /// secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redacted: Option<String>,
}

/// A preference that was stored earlier.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct EarlierWish {
    /// The id of the preference.
    pub fact: String,
    /// The words of the preference.
    pub text: String,
    /// Since when the preference holds, RFC 3339.
    pub since: String,
}
