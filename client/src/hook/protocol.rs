//! How the hooks of each agent differ: the form of the input and of the answer, and the time limit.
//!
//! The settings of an agent run `graphiti hook NAME`, where NAME is the agent. The settings of Claude
//! Code, and settings that an earlier version of graphiti wrote, contain no name.

use std::{ffi::OsStr, io::Read, time::Duration};

use graphiti_proto::methods::hook::{HookEvent, first_object};
use serde::Deserialize;
use serde_json::{Value, json};

/// How the hooks of an agent work.
pub(super) struct HookProtocol {
    /// The agent's name in `graphiti setup`; `None` for Claude Code.
    agent: Option<&'static str>,
    input: Input,
    context: ContextForm,
    /// Maximum time that a hook waits for an episode, within the agent's own time limit.
    pub(super) longest_wait: Duration,
}

#[derive(Clone, Copy)]
enum Input {
    /// The members of Claude Code's events.
    Claude,
    /// The members of Cursor's events.
    Cursor,
}

/// The form of the answer that adds text to the agent's context.
#[derive(Clone, Copy)]
enum ContextForm {
    /// `hookSpecificOutput`, which contains the name of the event.
    Envelope,
    /// A member at the top level.
    Member(&'static str),
}

/// Claude Code allows a hook at the end of a session at most 60 seconds.
const CLAUDE: HookProtocol = HookProtocol {
    agent: None,
    input: Input::Claude,
    context: ContextForm::Envelope,
    longest_wait: Duration::from_secs(60),
};

/// The time limit that `graphiti setup` writes for other agents is 5 seconds.
const OTHERS: HookProtocol = HookProtocol { longest_wait: Duration::from_secs(4), ..CLAUDE };

const PROTOCOLS: &[HookProtocol] = &[
    CLAUDE,
    // Codex stops a `SessionEnd` hook after at most 3 seconds.
    HookProtocol { agent: Some("codex"), longest_wait: Duration::from_secs(2), ..OTHERS },
    HookProtocol { agent: Some("gemini"), ..OTHERS },
    HookProtocol {
        agent: Some("copilot"),
        context: ContextForm::Member("additionalContext"),
        ..OTHERS
    },
    HookProtocol { agent: Some("qwen"), ..OTHERS },
    HookProtocol {
        agent: Some("cursor"),
        input: Input::Cursor,
        context: ContextForm::Member("additional_context"),
        ..OTHERS
    },
    // The extensions of graphiti for these agents read the same member as Copilot.
    HookProtocol {
        agent: Some("opencode"),
        context: ContextForm::Member("additionalContext"),
        ..OTHERS
    },
    HookProtocol { agent: Some("pi"), context: ContextForm::Member("additionalContext"), ..OTHERS },
];

impl HookProtocol {
    /// Returns the protocol of the agent with this name, or of Claude Code for an unknown name.
    pub(super) fn of(name: Option<&OsStr>) -> &'static HookProtocol {
        let name = name.and_then(OsStr::to_str);
        PROTOCOLS.iter().find(|protocol| protocol.agent == name).unwrap_or(&PROTOCOLS[0])
    }

    /// Returns the first complete event in `input`.
    pub(super) fn read(&self, input: impl Read) -> Option<HookEvent> {
        let mut event = match self.input {
            Input::Claude => HookEvent::first(input)?,
            Input::Cursor => first_object::<CursorEvent>(input)?.into(),
        };
        event.agent = self.agent.map(str::to_owned);
        Some(event)
    }

    /// Returns the answer that adds `context` to the agent's context.
    pub(super) fn answer(&self, event: &HookEvent, context: &str) -> Value {
        match self.context {
            ContextForm::Envelope => json!({ "hookSpecificOutput": {
                "hookEventName": event.hook_event_name,
                "additionalContext": context,
            } }),
            ContextForm::Member(name) => json!({ name: context }),
        }
    }
}

/// An event of Cursor. The name of the event begins with a lower-case letter.
#[derive(Default, Deserialize)]
#[serde(default)]
struct CursorEvent {
    hook_event_name: String,
    conversation_id: String,
    workspace_roots: Vec<String>,
    transcript_path: Option<String>,
    reason: Option<String>,
    prompt: Option<String>,
}

impl From<CursorEvent> for HookEvent {
    fn from(event: CursorEvent) -> HookEvent {
        let mut name = event.hook_event_name;
        if let Some(first) = name.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        HookEvent {
            hook_event_name: name,
            session_id: event.conversation_id,
            transcript_path: event.transcript_path,
            cwd: event.workspace_roots.into_iter().next(),
            reason: event.reason,
            prompt: event.prompt,
            ..HookEvent::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use graphiti_proto::methods::hook::EventKind;

    use super::*;
    use crate::setup::agent_names;

    #[test]
    fn every_agent_has_a_protocol() {
        for name in agent_names() {
            let protocol = HookProtocol::of(Some(OsStr::new(name)));
            assert_eq!(protocol.agent, Some(name).filter(|name| *name != "claude"));
        }
        assert_eq!(HookProtocol::of(Some(OsStr::new("unknown"))).agent, None);
        assert_eq!(HookProtocol::of(None).agent, None);
    }

    #[test]
    fn events_of_all_agents_are_converted_to_one_form() {
        let read = |agent: &str, text: &str| {
            HookProtocol::of(Some(OsStr::new(agent))).read(text.as_bytes()).unwrap()
        };
        for (agent, text) in [
            (
                "codex",
                r#"{"session_id":"s","transcript_path":"/t/r.jsonl","cwd":"/p","hook_event_name":"SessionEnd","reason":"other"}"#,
            ),
            (
                "gemini",
                r#"{"session_id":"s","transcript_path":"/t/r.jsonl","cwd":"/p","hook_event_name":"SessionEnd","timestamp":"2026-11-23T17:13:10.018Z","reason":"other"}"#,
            ),
            (
                "copilot",
                r#"{"hook_event_name":"SessionEnd","session_id":"s","timestamp":"2026-11-23T17:13:15.511Z","cwd":"/p","transcript_path":"/t/r.jsonl","reason":"other"}"#,
            ),
            (
                "cursor",
                r#"{"conversation_id":"s","session_id":"s","generation_id":"g","hook_event_name":"sessionEnd","workspace_roots":["/p","/q"],"transcript_path":"/t/r.jsonl","reason":"other"}"#,
            ),
        ] {
            let event = read(agent, text);
            let expected = HookEvent {
                hook_event_name: "SessionEnd".to_owned(),
                session_id: "s".to_owned(),
                transcript_path: Some("/t/r.jsonl".to_owned()),
                cwd: Some("/p".to_owned()),
                source: None,
                reason: Some("other".to_owned()),
                prompt: None,
                agent: Some(agent.to_owned()),
            };
            assert_eq!(event, expected);
        }
        let compress = read("gemini", r#"{"session_id":"s","hook_event_name":"PreCompress"}"#);
        assert_eq!(compress.kind(), EventKind::Alive);
        assert_eq!(read("cursor", "{}").session_id, "");
    }

    #[test]
    fn context_comes_in_the_form_of_the_agent() {
        let event =
            HookEvent { hook_event_name: "SessionStart".to_owned(), ..HookEvent::default() };
        let answer = |agent: &str| HookProtocol::of(Some(OsStr::new(agent))).answer(&event, "text");
        let envelope = json!({ "hookSpecificOutput": {
            "hookEventName": "SessionStart", "additionalContext": "text",
        } });
        for agent in ["claude", "codex", "gemini", "qwen"] {
            assert_eq!(answer(agent), envelope, "{agent}");
        }
        assert_eq!(answer("copilot"), json!({ "additionalContext": "text" }));
        assert_eq!(answer("cursor"), json!({ "additional_context": "text" }));
    }
}
