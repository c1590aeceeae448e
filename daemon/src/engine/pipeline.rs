//! Turns the lines of one transcript file into messages and evidence.
//!
//! [`SourceState`] is the state of reading after a line. It contains the file's cursor and is
//! saved, so that reading can be interrupted and resumed with the same result. The texts of a
//! record are redacted before they are classified, stored or collected as evidence.

use std::{collections::VecDeque, path::Path};

use serde::{Deserialize, Serialize, Serializer, ser};

use crate::{
    activity::{Detector, classify::Unknowns},
    capture::{
        content_hash::Hasher,
        filter::{FilteredMessage, Keep, PendingCalls},
        format::{Format, Memory},
        omit::SpeechCalls,
        salvage,
        tail::FileCursor,
    },
    engine::{
        parse_context::{OUTPUT, ParseContext, redact},
        redaction::StoredRedactor,
        truncated_messages::{
            KeptText, MessagePosition, Relevance, TruncatedMessage, TruncatedMessages,
        },
    },
    model::{
        Evidence, Message, Timestamp,
        transcript::{Action, Call, Entry, Item, LazyText, Origin, RecordUuid, ToolResult},
    },
    redact::KnownSecrets,
    store::Tally,
    summarize::evidence::Collector,
};

/// The state of reading a file up to its cursor.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SourceState {
    pub cursor: FileCursor,
    /// The content hash so far.
    pub hasher: Hasher,
    /// The number of the next message.
    pub next_seq: u32,
    /// The latest time in the file. A message without a time resets it to `None`.
    pub last_at: Option<Timestamp>,
    pub collector: Collector,
    pub detector: Detector,
    /// The calls whose tool was unknown when the call was read.
    #[serde(default)]
    pub unknowns: Unknowns,
    /// The id of the file's first record.
    #[serde(default)]
    pub first_record: Option<RecordUuid>,
    /// The number of lines at the start that were copied from another session or file.
    #[serde(default)]
    pub shared: u64,
    /// The version of the format's rules by which the file is read.
    #[serde(default = "first_rules")]
    pub rules: u64,
    /// If the file was truncated after it was read: where reading continues if the agent restores
    /// the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_truncation: Option<BeforeTruncation>,
    /// The ids of the records at which a fork of the session may start; only records that were read
    /// since the last batch.
    #[serde(skip)]
    pub fork_keys: Vec<RecordUuid>,
    /// Messages of which only a part is stored.
    #[serde(default, rename = "longs")]
    pub truncated: TruncatedMessages,
    /// The secrets that were recognised in the session. They are saved for all files of the session
    /// ([`known`](super::redaction::known)).
    #[serde(skip)]
    pub known_secrets: KnownSecrets,
    #[serde(serialize_with = "without_secrets")]
    memory: Memory,
    waiting: PendingCalls,
    #[serde(default)]
    speech: SpeechCalls,
    /// Whether the last records report the end of the session.
    #[serde(default)]
    pub is_ended: bool,
    /// The ids of calls whose output is skipped if they succeed.
    silent: VecDeque<String>,
    branch: Option<String>,
}

/// The position in a file before it was truncated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BeforeTruncation {
    pub cursor: FileCursor,
    /// See [`SourceState::shared`].
    pub shared: u64,
}

/// The position of a line in its file.
#[derive(Clone, Copy, Debug)]
pub struct LinePosition {
    /// The file and the line's number in it.
    pub origin: Origin,
    /// The offset of the line's first byte.
    pub at: u64,
}

/// The context for parsing a line.
#[derive(Clone, Copy)]
pub struct LineContext<'c> {
    pub format: &'c dyn Format,
    pub parse_context: &'c ParseContext,
    /// The time at which the line is read. It replaces the time of a record that is later, because
    /// the clock was wrong when that record was written.
    pub now: Timestamp,
}

/// Maximum number of silent calls that are remembered; the output of older calls is read anyway.
const MAX_SILENT_CALLS: usize = 256;
/// Maximum length, in bytes, of a call's id.
const MAX_CALL_ID_BYTES: usize = 256;

/// Serializes the memory of a format without its secrets. The memory contains texts that are not
/// redacted yet, such as prompts that wait for the agent.
fn without_secrets<S: Serializer>(memory: &Memory, to: S) -> Result<S::Ok, S::Error> {
    let mut memory = serde_json::to_value(memory).map_err(ser::Error::custom)?;
    StoredRedactor::default().value(&mut memory);
    memory.serialize(to)
}

impl SourceState {
    /// Returns the state at the start of file number `source` of its session.
    pub fn new(source: u32) -> SourceState {
        SourceState {
            cursor: FileCursor::default(),
            hasher: Hasher::default(),
            next_seq: 0,
            last_at: None,
            collector: Collector::new(source),
            detector: Detector::default(),
            unknowns: Unknowns::default(),
            first_record: None,
            shared: 0,
            rules: first_rules(),
            before_truncation: None,
            fork_keys: Vec::new(),
            truncated: TruncatedMessages::default(),
            known_secrets: KnownSecrets::default(),
            memory: Memory::default(),
            waiting: PendingCalls::default(),
            speech: SpeechCalls::default(),
            is_ended: false,
            silent: VecDeque::new(),
            branch: None,
        }
    }

    /// Prepares the state for the first record of the file at `path`: sets the format's memory from
    /// the path and from files near it, and records the version of the format's rules.
    pub(in crate::engine) fn begin(&mut self, format: &dyn Format, path: &Path) {
        self.memory = format.memory_of(path);
        self.rules = format.rules_version();
    }

    pub fn evidence(&self) -> &Evidence {
        self.collector.evidence()
    }

    /// Redacts every text in the state again. Returns whether a text changed.
    pub(in crate::engine) fn redact_again(&mut self, again: &mut StoredRedactor) -> bool {
        let SourceState {
            cursor: _,
            hasher: _,
            next_seq: _,
            last_at: _,
            collector,
            detector,
            unknowns,
            first_record: _,
            shared: _,
            rules: _,
            before_truncation: _,
            fork_keys: _,
            truncated,
            known_secrets: _,
            memory,
            waiting,
            speech: _,
            is_ended: _,
            silent,
            branch,
        } = self;
        let mut is_changed = again.part(collector) | again.part(detector);
        is_changed |= unknowns.change_calls(&mut |call| again.arguments(call));
        is_changed |= again.part(unknowns) | again.part(truncated) | again.part(memory);
        is_changed | again.part(waiting) | again.part(silent) | again.part(branch)
    }

    /// Parses one line. Adds the messages that have to be stored to `messages`.
    pub fn take_line(
        &mut self,
        context: LineContext<'_>,
        line: &[u8],
        position: LinePosition,
        tally: &mut Tally,
        messages: &mut Vec<Message>,
    ) {
        let mut memory = std::mem::take(&mut self.memory);
        salvage::read_line(context.format, line, &mut memory, tally, &mut |entry| {
            let at = entry.at.map(|at| at.min(context.now));
            self.take_entry(context.parse_context, Entry { at, ..entry }, position, messages);
        });
        self.memory = memory;
    }

    fn take_entry(
        &mut self,
        parse_context: &ParseContext,
        mut entry: Entry<'_>,
        position: LinePosition,
        messages: &mut Vec<Message>,
    ) {
        self.note_fork_key(&entry);
        if position.origin.line <= self.shared {
            // The session may repeat the secrets of the copied lines, so they are remembered.
            if self.output_of(&entry.item, parse_context).is_none() {
                redact(&mut entry.item, &parse_context.redactor, &mut self.known_secrets);
            }
            // From a copied line, only metadata such as the working directory is used.
            if let Item::Context(_) = &entry.item {
                self.observe(
                    parse_context,
                    &Entry { at: None, ..entry },
                    position,
                    Relevance::Low,
                    messages,
                );
            }
            return;
        }
        self.last_at = self.last_at.max(entry.at);
        let output = self.output_of(&entry.item, parse_context);
        if let (Item::Result(result), Some(output)) = (&mut entry.item, &output) {
            let ToolResult { call, outcome, .. } = result;
            let (call, outcome) = (std::mem::take(call), *outcome);
            let content = LazyText::plain(output);
            let mut entry =
                Entry { item: Item::Result(ToolResult { call, outcome, content }), ..entry };
            parse_context.filter.omit(&mut entry.item, &mut self.speech);
            self.observe(parse_context, &entry, position, Relevance::Normal, messages);
        } else {
            redact(&mut entry.item, &parse_context.redactor, &mut self.known_secrets);
            parse_context.filter.omit(&mut entry.item, &mut self.speech);
            let is_silent = matches!(entry.item, Item::Result(_));
            let relevance = if is_silent { Relevance::Low } else { Relevance::Normal };
            self.observe(parse_context, &entry, position, relevance, messages);
        }
    }

    fn observe(
        &mut self,
        parse_context: &ParseContext,
        entry: &Entry<'_>,
        position: LinePosition,
        relevance: Relevance,
        messages: &mut Vec<Message>,
    ) {
        let LinePosition { origin, at } = position;
        self.note_state(&entry.item);
        self.collector.observe(entry, origin.line);
        if entry.sub_agent.is_some() {
            return;
        }
        let classified = match &entry.item {
            Item::Call(call) => Some(parse_context.classify(call)),
            _ => None,
        };
        if let Some(classified) = &classified {
            self.unknowns.note_call(classified);
        }
        self.detector.observe(entry, origin.line, classified.as_ref());
        let Some(kept) = parse_context.filter.keep(&entry.item, &mut self.waiting) else {
            return;
        };
        self.hasher.add(kept.role, &kept.text);
        let text = kept.full_text().into_owned();
        let FilteredMessage { role, tool, files, .. } = kept;
        if parse_context.filter.shortens(&entry.item) {
            let position = MessagePosition { seq: self.next_seq, at };
            let message = TruncatedMessage::new(
                position,
                &entry.item,
                relevance,
                KeptText { role, text: &text },
            );
            self.truncated.note(message);
        }
        if entry.at.is_none() {
            self.last_at = None;
        }
        messages.push(Message {
            seq: self.next_seq,
            origin,
            uuid: entry.uuid,
            role,
            at: entry.at,
            text,
            tool,
            files,
            branch: self.branch.clone(),
        });
        self.next_seq += 1;
    }

    /// Notes the branch, and whether the session has ended.
    fn note_state(&mut self, item: &Item<'_>) {
        if let Item::Context(context) = item
            && let Some(branch) = &context.branch
        {
            self.branch = Some(branch.to_string());
        }
        self.is_ended = match item {
            Item::SessionEnded => true,
            Item::Prompt(_) | Item::Command { .. } | Item::Reply { .. } | Item::Call(_) => false,
            _ => self.is_ended,
        };
    }

    fn note_fork_key(&mut self, entry: &Entry<'_>) {
        let Some(record) = entry.uuid else { return };
        let is_first = self.first_record.is_none();
        if is_first {
            self.first_record = Some(record);
        }
        // A fork starts at the first record of the session, or at a compaction.
        if is_first || matches!(entry.item, Item::Boundary | Item::Recap { .. }) {
            self.fork_keys.push(record);
        }
    }

    /// Returns the redacted output of a result; `None` for other items. Also returns `None` for a
    /// successful read or search, unless the filter keeps the output of tools in full. Records the
    /// ids of reads and searches, so that their results are recognised.
    fn output_of(&mut self, item: &Item<'_>, parse_context: &ParseContext) -> Option<String> {
        match item {
            Item::Call(Call {
                id, action: Action::Read { .. } | Action::Search { .. }, ..
            }) => {
                self.silent.push_back(id[..id.floor_char_boundary(MAX_CALL_ID_BYTES)].to_owned());
                if self.silent.len() > MAX_SILENT_CALLS {
                    self.silent.pop_front();
                }
                None
            }
            Item::Result(result) => {
                let call = &result.call[..result.call.floor_char_boundary(MAX_CALL_ID_BYTES)];
                let silent = self.silent.iter().position(|id| id == call);
                let silent = silent.and_then(|at| self.silent.remove(at)).is_some();
                if silent
                    && result.outcome.succeeded()
                    && parse_context.filter.tool_content != Keep::Full
                {
                    return None;
                }
                let output = result.content.decode(OUTPUT);
                let known = &mut self.known_secrets;
                let redacted = parse_context.redactor.redact_of_session(&output, known);
                Some(redacted.text.into_owned())
            }
            _ => None,
        }
    }
}

/// Returns the version of the rules for saved states without a version.
pub(super) fn first_rules() -> u64 {
    1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::transcript::{Outcome, RecapKind, SessionContext};

    /// Takes an entry, and returns the texts of its messages.
    fn take(state: &mut SourceState, line: u64, entry: Entry<'_>) -> Vec<String> {
        let (origin, mut messages) = (Origin { source: 0, line }, Vec::new());
        let position = LinePosition { origin, at: 0 };
        state.take_entry(&ParseContext::of_defaults(), entry, position, &mut messages);
        messages.into_iter().map(|message| message.text).collect()
    }

    fn entry(item: Item<'_>) -> Entry<'_> {
        Entry { at: None, uuid: None, sub_agent: None, caller: None, item }
    }

    fn prompt(text: &str) -> Entry<'_> {
        entry(Item::Prompt(text.into()))
    }

    fn context<'a>(cwd: &'a str, branch: &'a str) -> Entry<'a> {
        let (cwd, branch) = (Some(cwd.into()), Some(branch.into()));
        entry(Item::Context(SessionContext { cwd, branch, ..SessionContext::default() }))
    }

    #[test]
    fn copied_lines_add_only_the_directory_and_the_branch() {
        let mut state = SourceState { shared: 2, ..SourceState::new(0) };
        assert!(take(&mut state, 1, context("/app", "fix")).is_empty());
        assert!(take(&mut state, 2, prompt("a copy")).is_empty());
        assert_eq!(state.hasher.hash(), None);
        assert!(state.evidence().prompts.is_empty());
        assert_eq!(state.evidence().directories, ["/app"]);
        assert_eq!(state.branch.as_deref(), Some("fix"));
        assert_eq!(take(&mut state, 3, prompt("an own prompt")), ["an own prompt"]);
        assert_eq!(state.next_seq, 1);
    }

    #[test]
    fn a_session_has_ended_until_the_user_or_the_agent_goes_on() {
        let mut state = SourceState::new(0);
        let reply = || Item::Reply { message: None, text: "done".into() };
        for (item, is_ended) in [
            (Item::Prompt("begin".into()), false),
            (Item::SessionEnded, true),
            (Item::ShellOutput("bye".into()), true),
            (Item::Boundary, true),
            (reply(), false),
            (Item::SessionEnded, true),
            (Item::Prompt("go on".into()), false),
        ] {
            take(&mut state, 1, entry(item.clone()));
            assert_eq!(state.is_ended, is_ended, "{item:?}");
        }
    }

    #[test]
    fn a_fork_may_start_at_the_first_record_and_at_compactions() {
        let mut state = SourceState::new(0);
        let reply = Item::Reply { message: None, text: "done".into() };
        let recap = Item::Recap { kind: RecapKind::Compaction, text: "so far".into() };
        take(&mut state, 1, prompt("without an id"));
        assert_eq!(state.first_record, None);
        for (number, item) in
            [(1, Item::Prompt("one".into())), (2, reply), (3, Item::Boundary), (4, recap)]
        {
            take(&mut state, 2, Entry { uuid: Some([number; 16]), ..entry(item) });
        }
        assert_eq!(state.first_record, Some([1; 16]));
        assert_eq!(state.fork_keys, [[1; 16], [3; 16], [4; 16]]);
    }

    #[test]
    fn a_message_without_a_time_removes_the_latest_time() {
        let mut state = SourceState::new(0);
        let at = |seconds, entry| Entry { at: Some(Timestamp::from_seconds(seconds)), ..entry };
        take(&mut state, 1, at(9, prompt("one")));
        take(&mut state, 2, at(5, prompt("two")));
        assert_eq!(state.last_at, Some(Timestamp::from_seconds(9)));
        // A record that is not a message.
        take(&mut state, 3, context("/app", "fix"));
        assert_eq!(state.last_at, Some(Timestamp::from_seconds(9)));
        take(&mut state, 4, prompt("three"));
        assert_eq!(state.last_at, None);
        take(&mut state, 5, at(7, prompt("four")));
        assert_eq!(state.last_at, Some(Timestamp::from_seconds(7)));
    }

    #[test]
    fn the_output_of_a_read_is_skipped_unless_it_failed_or_all_output_is_kept() {
        let call = |id: &str, action| {
            let (id, tool, input) = (id.to_owned().into(), "Tool".into(), serde_json::Value::Null);
            Item::Call(Call { id, message: None, tool, input, action })
        };
        let read = || Action::Read { path: "/app/a.rs".to_owned() };
        let result = |id: &str, outcome| {
            let (call, content) = (id.to_owned().into(), LazyText::plain("the output"));
            Item::Result(ToolResult { call, outcome, content })
        };
        let some = Some("the output".to_owned());
        let mut settings = ParseContext::of_defaults();
        let mut state = SourceState::new(0);
        let mut output = |item, settings: &ParseContext| state.output_of(&item, settings);
        for (id, outcome, wanted) in [
            ("a", Outcome::Succeeded, None),
            ("b", Outcome::Failed(None), some.clone()),
            ("c", Outcome::Rejected, some.clone()),
        ] {
            assert_eq!(output(call(id, read()), &settings), None);
            assert_eq!(output(result(id, outcome), &settings), wanted, "{id}");
            // A second result of the same call is not known to be silent.
            assert_eq!(output(result(id, outcome), &settings), some, "{id}");
        }
        assert_eq!(output(result("unknown", Outcome::Succeeded), &settings), some);
        for number in 0..=MAX_SILENT_CALLS {
            output(call(&format!("read-{number}"), read()), &settings);
        }
        assert_eq!(output(result("read-0", Outcome::Succeeded), &settings), some);
        assert_eq!(output(result("read-1", Outcome::Succeeded), &settings), None);
        settings.filter.tool_content = Keep::Full;
        assert_eq!(output(result("read-2", Outcome::Succeeded), &settings), some);
    }
}
