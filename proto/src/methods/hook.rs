//! `graphiti/hook`: receives events of agents' hooks.
//!
//! A hook forwards only the data that identify the session and the event. It drops the agent's
//! replies, and drops prompts unless the daemon requests them ([`are_prompts_requested`]). When no
//! daemon accepts an event that closes a session ([`EventKind::ends`]), the hook writes the event
//! to the [`spool`] of the home, one file per event.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::files;

/// The name of the method.
pub const HOOK: &str = "graphiti/hook";
/// `graphiti/hooks`: returns how often each hook ran since the daemon's start. The answer is
/// [`HookCounts`].
pub const HOOKS: &str = "graphiti/hooks";

/// Maximum length, in bytes, of an event in the spool, as JSON. Longer events are not stored.
pub const LONGEST_EVENT: usize = 4 << 10;
/// Maximum length, in bytes, of a hook's input: a prompt may contain a whole file.
pub const LONGEST_INPUT: u64 = 32 << 20;
/// The byte order mark that some programs write before a text in UTF-8.
const BYTE_ORDER_MARK: [u8; 3] = *b"\xef\xbb\xbf";
/// Default maximum number of events in the spool, together at most 64 MiB; see [`limit_spool`].
pub const SPOOLED_EVENTS: usize = 16 << 10;

/// An event that an agent sends to its hook, with the field names of Claude Code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HookEvent {
    /// The name of the event: `SessionEnd`, ….
    pub hook_event_name: String,
    /// The agent's id of the session.
    pub session_id: String,
    /// The path of the transcript.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript_path: Option<String>,
    /// The directory in which the agent works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Why a session started: `startup`, `resume`, `clear`, `compact`, `fork`; in Copilot also
    /// `new`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Why a session ended: `clear`, `logout`, `prompt_input_exit`, ….
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The user's prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The agent for which the hook was set up, by its name in `graphiti setup`. The hook adds this
    /// member, because the agent's input does not have it.
    #[serde(rename = "graphiti_agent", skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// How an event is processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A session starts. The answer may contain a handoff.
    Start,
    /// A session ends.
    End,
    /// The agent is about to compact its context.
    Compact,
    /// The user gave a prompt. The answer may contain related errors, decisions and preferences.
    Prompt,
    /// The agent is still running.
    Alive,
}

/// The answer to [`HOOK`]. If the event closes a session ([`EventKind::ends`]), the answer is sent
/// after the event is on disk, unless the daemon ignores the event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HookReply {
    /// Text for the agent's context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Whether the handoff for a session that starts was not ready in time. The hook of the
    /// session's next prompt then sends the start event again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_late: bool,
    /// Milliseconds for which the hook should wait for the session's episode; 0 for no wait.
    pub wait_ms: u64,
}

/// The answer to [`HOOKS`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HookCounts {
    /// One row for each name of an event, the latest event first.
    pub events: Vec<HookCount>,
    /// Number of events in the spool.
    pub spooled: usize,
}

/// How often the hook of one event ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HookCount {
    /// The name of the event.
    pub name: String,
    /// The number of runs.
    pub count: u64,
    /// Time of the last run, RFC 3339.
    pub last: String,
}

impl HookEvent {
    /// Returns the first complete event in `input`. A byte order mark before it and any text after
    /// it are ignored. Returns `None` if the first [`LONGEST_INPUT`] bytes contain no complete
    /// event.
    pub fn first(input: impl Read) -> Option<HookEvent> {
        first_object(input)
    }

    /// Returns how the event is processed.
    pub fn kind(&self) -> EventKind {
        match self.hook_event_name.as_str() {
            "SessionStart" => EventKind::Start,
            "SessionEnd" => EventKind::End,
            "PreCompact" => EventKind::Compact,
            "UserPromptSubmit" | "BeforeAgent" => EventKind::Prompt,
            // Includes Gemini's PreCompress, which fires before every call of the model.
            _ => EventKind::Alive,
        }
    }

    /// Returns the part of the event that is written to the spool: the name of the event, the
    /// session, the reason if it is a single word, the agent and the transcript. The daemon uses
    /// the agent and the transcript to recognise sessions that it does not follow.
    pub fn to_spool(&self) -> HookEvent {
        HookEvent {
            hook_event_name: self.hook_event_name.clone(),
            session_id: self.session_id.clone(),
            transcript_path: self.transcript_path.clone(),
            agent: self.agent.clone(),
            reason: self.reason.clone().filter(|reason| is_word(reason)),
            ..HookEvent::default()
        }
    }

    /// Returns the event without the user's prompt.
    pub fn without_prompt(&self) -> HookEvent {
        HookEvent { prompt: None, ..self.clone() }
    }

    /// Returns the reason for `session_tracking_close`: `pre_compact`, or `hook_` and the reason of
    /// the event. If this reason is missing or not a single word, returns `hook_other`.
    pub fn close_reason(&self) -> String {
        if self.kind() == EventKind::Compact {
            return "pre_compact".to_owned();
        }
        format!(
            "hook_{}",
            self.reason.as_deref().filter(|reason| is_word(reason)).unwrap_or("other")
        )
    }
}

/// Returns the first complete value in the input of a hook; see [`HookEvent::first`].
pub fn first_object<T: DeserializeOwned>(input: impl Read) -> Option<T> {
    let mut input = input.take(LONGEST_INPUT);
    let mut head = [0; BYTE_ORDER_MARK.len()];
    let mut length = 0;
    while length < head.len() && head[..length] == BYTE_ORDER_MARK[..length] {
        match input.read(&mut head[length..=length]).ok()? {
            0 => break,
            bytes => length += bytes,
        }
    }
    let head = if head == BYTE_ORDER_MARK { &[] } else { &head[..length] };
    T::deserialize(&mut serde_json::Deserializer::from_reader(head.chain(input))).ok()
}

/// Whether a reason is a single word, such as `prompt_input_exit`, rather than a text of the user.
fn is_word(reason: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    (1..=32).contains(&reason.len()) && reason.bytes().all(is_part)
}

impl EventKind {
    /// Whether the event closes the session. Such an event must be kept until a daemon accepts it.
    pub fn ends(self) -> bool {
        matches!(self, EventKind::End | EventKind::Compact)
    }
}

/// Returns the folder of the events that wait for the daemon of `home`: one file `*.json` for each
/// event. The order of the file names is the order of the events.
pub fn spool(home: &Path) -> PathBuf {
    home.join("spool")
}

/// Limits the size of the spool of `home`. The limit is stored in a separate file, because hooks do
/// not read the configuration.
pub fn limit_spool(home: &Path, bytes: u64) -> io::Result<()> {
    files::replace(&spool_limit(home), bytes.to_string().as_bytes())
}

/// Whether the spool of `home` has space for one more event. Each event counts as [`LONGEST_EVENT`]
/// bytes, because even a shorter file occupies 4 KiB on most file systems.
pub fn has_spool_space(home: &Path) -> io::Result<bool> {
    let limit = fs::read_to_string(spool_limit(home)).ok();
    let bytes: Option<usize> = limit.and_then(|text| text.trim().parse().ok());
    let events = bytes.map_or(SPOOLED_EVENTS, |bytes| bytes / LONGEST_EVENT);
    Ok(fs::read_dir(spool(home))?.count() < events)
}

/// Writes an event to `path`, the temporary name of a file in the spool. The content is on disk
/// when the function returns. If the caller then renames the file, the final name never appears
/// without the content.
pub fn write_unfinished(path: &Path, event: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(event)?;
    file.sync_all()
}

/// Sets whether the hooks of `home` forward prompts, by creating or removing a file: hooks do not
/// read the configuration.
pub fn set_prompts_requested(home: &Path, wanted: bool) -> io::Result<()> {
    match wanted {
        true => File::create(prompt_request_file(home)).map(drop),
        false => match fs::remove_file(prompt_request_file(home)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        },
    }
}

/// Whether the hooks of `home` forward prompts; see [`set_prompts_requested`].
pub fn are_prompts_requested(home: &Path) -> bool {
    prompt_request_file(home).exists()
}

fn prompt_request_file(home: &Path) -> PathBuf {
    home.join("hooks.recall")
}

fn spool_limit(home: &Path) -> PathBuf {
    home.join("spool.limit")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_event_determines_its_kind() {
        let rows = [
            (r#"{"hook_event_name":"SessionStart","source":"clear"}"#, EventKind::Start),
            (r#"{"hook_event_name":"SessionEnd","reason":"clear"}"#, EventKind::End),
            (r#"{"hook_event_name":"PreCompact","trigger":"auto"}"#, EventKind::Compact),
            (r#"{"hook_event_name":"PreCompress","trigger":"auto"}"#, EventKind::Alive),
            (r#"{"hook_event_name":"Stop","transcript_path":null}"#, EventKind::Alive),
            (r#"{"hook_event_name":"UserPromptSubmit","prompt":"Go on"}"#, EventKind::Prompt),
            (r#"{}"#, EventKind::Alive),
        ];
        for (text, kind) in rows {
            let event: HookEvent = serde_json::from_str(text).unwrap();
            assert_eq!(event.kind(), kind, "{text}");
        }
    }

    #[test]
    fn prompts_are_not_stored_in_the_spool() {
        let text = r#"{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"secret","reply":"secret"}"#;
        let event: HookEvent = serde_json::from_str(text).unwrap();
        assert!(!serde_json::to_string(&event.to_spool()).unwrap().contains("secret"));
        let event = event.without_prompt();
        assert!(!serde_json::to_string(&event).unwrap().contains("secret"));
    }

    #[test]
    fn free_text_is_not_stored_in_the_spool() {
        let event = HookEvent {
            hook_event_name: "SessionEnd".to_owned(),
            session_id: "s".to_owned(),
            transcript_path: Some("/home/ann/t.jsonl".to_owned()),
            cwd: Some("/home/ann".to_owned()),
            source: None,
            reason: Some("the password is hunter2".to_owned()),
            prompt: Some("hunter2".to_owned()),
            agent: Some("codex".to_owned()),
        };
        let waits = event.to_spool();
        assert_eq!(
            serde_json::to_string(&waits).unwrap(),
            r#"{"hook_event_name":"SessionEnd","session_id":"s","transcript_path":"/home/ann/t.jsonl","graphiti_agent":"codex"}"#
        );
        assert_eq!(waits.close_reason(), event.close_reason());
    }

    #[test]
    fn a_session_ends_for_a_reason_in_one_word() {
        let ended = |reason: Option<&str>| HookEvent {
            hook_event_name: "SessionEnd".to_owned(),
            reason: reason.map(str::to_owned),
            ..HookEvent::default()
        };
        for (reason, expected) in [
            (Some("clear"), "hook_clear"),
            (Some("prompt_input_exit"), "hook_prompt_input_exit"),
            (None, "hook_other"),
            (Some(""), "hook_other"),
            (Some("\u{1b}[2J"), "hook_other"),
        ] {
            assert_eq!(ended(reason).close_reason(), expected);
        }
    }
}
