//! The kinds of prompts, each with its names and its built-in template.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PromptKind {
    ToolResults,
    UserMessages,
    AgentMessages,
    SessionSummary,
    ToolClassification,
}

/// The names, the template and the schema of a kind.
struct PromptDescription {
    kind: PromptKind,
    name: &'static str,
    /// Other names of the template's file, which the original Graphiti and its documents use.
    aliases: &'static [&'static str],
    built_in: &'static str,
    schema: Option<&'static str>,
}

/// One entry for each kind, in the order in which they are shown.
const ENTRIES: [PromptDescription; 5] = [
    PromptDescription {
        kind: PromptKind::ToolResults,
        name: "tool_results",
        aliases: &["default-tool-content"],
        built_in: include_str!("../../../../prompts/tool_results.md"),
        schema: None,
    },
    PromptDescription {
        kind: PromptKind::UserMessages,
        name: "user_messages",
        aliases: &["default-user-messages"],
        built_in: include_str!("../../../../prompts/user_messages.md"),
        schema: None,
    },
    PromptDescription {
        kind: PromptKind::AgentMessages,
        name: "agent_messages",
        aliases: &["default-agent-messages"],
        built_in: include_str!("../../../../prompts/agent_messages.md"),
        schema: None,
    },
    PromptDescription {
        kind: PromptKind::SessionSummary,
        name: "session_summary",
        aliases: &["default-session-summary"],
        built_in: include_str!("../../../../prompts/session_summary.md"),
        schema: Some(include_str!("../../../../prompts/session_summary.schema.json")),
    },
    PromptDescription {
        kind: PromptKind::ToolClassification,
        name: "tool_classification",
        aliases: &[],
        built_in: include_str!("../../../../prompts/tool_classification.md"),
        schema: Some(include_str!("../../../../prompts/tool_classification.schema.json")),
    },
];

impl PromptKind {
    /// All kinds, in the order in which they are shown.
    pub const ALL: [PromptKind; 5] = [
        PromptKind::ToolResults,
        PromptKind::UserMessages,
        PromptKind::AgentMessages,
        PromptKind::SessionSummary,
        PromptKind::ToolClassification,
    ];

    /// Returns the name, which is also the file's name without `.md`.
    pub fn as_str(self) -> &'static str {
        self.entry().name
    }

    /// Parses a name as [`PromptKind::as_str`] returns it, or another name of the kind, with or
    /// without `.md`.
    pub fn parse(name: &str) -> Option<PromptKind> {
        let name = name.strip_suffix(".md").unwrap_or(name);
        let entry =
            ENTRIES.iter().find(|entry| entry.name == name || entry.aliases.contains(&name))?;
        Some(entry.kind)
    }

    /// Returns the kind of a message by its context: `user message`, `agent response`, or anything
    /// else, such as `tool: Read`, for a tool's result.
    pub fn of_context(context: &str) -> PromptKind {
        match context {
            "user message" => PromptKind::UserMessages,
            "agent response" => PromptKind::AgentMessages,
            _ => PromptKind::ToolResults,
        }
    }

    pub fn built_in(self) -> &'static str {
        self.entry().built_in
    }

    /// Returns the JSON schema of the answer; `None` if the answer is text.
    pub fn schema(self) -> Option<&'static str> {
        self.entry().schema
    }

    /// Returns the names of the file in a `prompts` folder, the usual name first.
    pub(in crate::prompt) fn file_names(self) -> impl Iterator<Item = String> {
        let entry = self.entry();
        [entry.name]
            .into_iter()
            .chain(entry.aliases.iter().copied())
            .map(|name| format!("{name}.md"))
    }

    fn entry(self) -> &'static PromptDescription {
        ENTRIES
            .iter()
            .find(|entry| entry.kind == self)
            .expect("a test checks that each kind has an entry")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::EnhancedSessionSummary;

    #[test]
    fn each_kind_has_one_entry_and_is_found_by_its_names() {
        for (kind, entry) in PromptKind::ALL.into_iter().zip(&ENTRIES) {
            assert_eq!(kind, entry.kind);
            for name in kind.file_names() {
                assert_eq!(PromptKind::parse(&name), Some(kind), "{name}");
            }
            assert_eq!(PromptKind::parse(kind.as_str()), Some(kind));
        }
        assert_eq!(PromptKind::parse("other.md"), None);
        assert_eq!(PromptKind::parse("default-tool-content.md"), Some(PromptKind::ToolResults));
    }

    #[test]
    fn the_context_of_a_message_determines_its_kind() {
        for (context, kind) in [
            ("user message", PromptKind::UserMessages),
            ("agent response", PromptKind::AgentMessages),
            ("tool: Read", PromptKind::ToolResults),
            ("message", PromptKind::ToolResults),
        ] {
            assert_eq!(PromptKind::of_context(context), kind);
        }
    }

    #[test]
    fn schemas_require_every_property_as_strict_servers_demand() {
        fn check(schema: &serde_json::Value) {
            if let Some(properties) = schema["properties"].as_object() {
                let required: Vec<&str> = schema["required"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|name| name.as_str().unwrap())
                    .collect();
                assert_eq!(properties.keys().collect::<Vec<_>>(), required);
                assert_eq!(schema["additionalProperties"], false);
                properties.values().for_each(check);
            }
            if schema.get("items").is_some() {
                check(&schema["items"]);
            }
        }
        let schemas: Vec<&str> =
            PromptKind::ALL.into_iter().filter_map(PromptKind::schema).collect();
        assert_eq!(schemas.len(), 2);
        schemas.iter().for_each(|schema| check(&serde_json::from_str(schema).unwrap()));
    }

    #[test]
    fn a_reply_that_matches_the_summary_schema_is_a_summary() {
        let reply = serde_json::json!({
            "objective": "Fix it", "outcome": "in_progress", "completed_tasks": ["a"],
            "key_decisions": [{"decision": "b", "rationale": "c", "alternatives": null}],
            "next_steps": null, "root_cause_analysis": "d", "discoveries": [],
            "errors_resolved": [{"error": "e", "root_cause": "f", "fix": "g", "verification": "h"}],
            "config_changes": [{"file": "i", "setting": "j", "old_value": null, "new_value": "k", "reason": "l"}],
            "topics": ["m"], "relations": [{"source": "n", "relation": "o", "target": "p", "sentence": "q"}],
        });
        let schema: serde_json::Value =
            serde_json::from_str(PromptKind::SessionSummary.schema().unwrap()).unwrap();
        let mut in_schema: Vec<&str> =
            schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        let mut in_reply: Vec<&str> =
            reply.as_object().unwrap().keys().map(String::as_str).collect();
        in_schema.sort_unstable();
        in_reply.sort_unstable();
        assert_eq!(in_schema, in_reply);
        let summary: EnhancedSessionSummary = serde_json::from_value(reply).unwrap();
        assert_eq!(summary.config_changes.unwrap()[0].new_value, "k");
    }
}
