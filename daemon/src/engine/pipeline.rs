//! Turns the lines of one transcript file into messages and evidence.
//!
//! [`SourceState`] is the state after a line. It is saved with the file's cursor, so that reading
//! can be interrupted and resumed with the same result. The texts of a record are redacted before
//! they are classified, stored or collected as evidence.

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
    /// Calls of tools that were unknown when they were read.
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
    /// When the line is read. A record cannot be later: its clock was wrong.
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

    /// Prepares the state for the first record of the file at `path`: reads the format's metadata
    /// of the file, and notes the version of the format's rules.
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

    /// Parses one line, and adds its stored messages to `messages`.
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
