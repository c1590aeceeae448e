//! Parses the outputs of tools: a header of Codex with the exit code, and the tool's own output.

use std::borrow::Cow;

use crate::{
    format::json::{self, Object},
    model::transcript::{LazyText, Outcome, without_middle},
};

/// Number of bytes in which the header of an output is searched for, unless the header contains a
/// long command.
const HEAD: usize = 6 * 1024;
/// Number of bytes that are searched if the header contains a long command.
const LONG_HEAD: usize = 64 * 1024;

/// Maximum length, in bytes, of the part of the tool's output that is examined for the outcome.
const PRINTED: usize = 2 * 1024;

/// The content of an output's header.
#[derive(Debug, Default, PartialEq)]
pub(super) struct OutputHeader {
    pub(super) exit_code: Option<i32>,
    /// The id of the process that is still running.
    pub(super) running: Option<String>,
    /// The start of the tool's output.
    pub(super) printed: String,
}

impl OutputHeader {
    /// Reads the header of a raw output.
    pub(super) fn of(raw: &str) -> OutputHeader {
        let text = whole_text(raw, HEAD);
        if let Some(wrapped) = json_output(raw, &text) {
            return wrapped;
        }
        match text.len() < raw.len() && needs_more(&text) {
            true => OutputHeader::of_text(&whole_text(raw, LONG_HEAD)),
            false => OutputHeader::of_text(&text),
        }
    }

    fn of_text(text: &str) -> OutputHeader {
        let mut header = OutputHeader::default();
        let printed = strip_headers(text, &mut |line| header.line(line));
        header.printed = printed[..printed.floor_char_boundary(PRINTED)].to_owned();
        header
    }

    fn line(&mut self, line: &str) {
        let exit = line.strip_prefix("Process exited with code ");
        if let Some(code) = exit.or_else(|| line.strip_prefix("Exit code: ")) {
            self.exit_code = code.trim().parse().ok();
        }
        if let Some(id) = line.strip_prefix("Process running with session ID ") {
            self.running = Some(id.trim().to_owned());
        }
    }

    /// Returns how the call ended, according to the output alone.
    pub(super) fn outcome(&self) -> Outcome {
        match self.exit_code {
            Some(0) => return Outcome::Succeeded,
            Some(code) => return Outcome::Failed(Some(code)),
            None => {}
        }
        let printed = self.printed.trim_start();
        if INTERRUPTIONS.iter().any(|text| printed.starts_with(text)) {
            return Outcome::Interrupted;
        }
        if REJECTIONS.iter().any(|text| printed.contains(text)) {
            return Outcome::Rejected;
        }
        let failed = FAILURE_STARTS.iter().any(|text| printed.starts_with(text))
            || printed.lines().next().is_some_and(|line| {
                FAILURES.iter().any(|text| line.contains(text)) && line.len() < 300
            });
        if failed { Outcome::Failed(code_within(printed)) } else { Outcome::Succeeded }
    }
}

const INTERRUPTIONS: &[&str] = &["aborted by user", "aborted"];
const REJECTIONS: &[&str] = &["rejected by user", "declined by user", "denied by user"];
/// Starts of outputs that report a failed call.
const FAILURE_STARTS: &[&str] = &[
    "exec_command failed",
    "write_stdin failed",
    "apply_patch verification failed",
    "collab spawn failed",
    "collab tool failed",
    "agent ids must ",
    "agent with id ",
    "failed to ",
    "unsupported call",
    "execution error",
    "tool call error",
    "Err(",
    "Script error:",
];
const FAILURES: &[&str] = &[" is unavailable in ", "unsupported custom tool call"];

/// Returns the exit code within the description of a failure.
fn code_within(text: &str) -> Option<i32> {
    let (_, rest) = text.split_once("exit_code: ")?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// Returns the tool's own output, without Codex's headers.
pub(super) fn printed(raw: &str) -> LazyText<'_> {
    LazyText::new(raw, |raw, limit| {
        let text = whole_text(raw, limit.max(LONG_HEAD));
        if let Some(inner) = inner_json(raw, &text) {
            return Cow::Owned(without_middle(&inner, limit).into_owned());
        }
        let printed = strip_headers(&text, &mut |_| ());
        Cow::Owned(without_middle(printed, limit).into_owned())
    })
}

/// Returns text that a record contains as a plain string.
pub(super) fn plain(raw: &str) -> LazyText<'_> {
    LazyText::new(raw, |raw, limit| json::string_within(raw, limit).unwrap_or_default())
}

/// Returns the whole text of an output: a string, a list of texts, or an object that contains a
/// string or a list.
pub(super) fn whole_text(raw: &str, limit: usize) -> Cow<'_, str> {
    match raw.as_bytes().first() {
        Some(b'"') => json::string_within(raw, limit).unwrap_or_default(),
        Some(b'[') => {
            let blocks = json::objects(raw);
            let texts = blocks.iter().filter_map(|block| block.string_within("text", limit));
            Cow::Owned(texts.collect::<Vec<_>>().join("\n"))
        }
        Some(b'{') => {
            let content = Object::parse(raw).and_then(|object| object.raw("content"));
            content
                .filter(|raw| !raw.starts_with('{'))
                .map_or(Cow::Borrowed(raw), |content| whole_text(content, limit))
        }
        _ => Cow::Borrowed(""),
    }
}

/// Reads an output that is itself JSON: `{"output": .., "metadata": {"exit_code": ..}}`.
fn json_output(raw: &str, text: &str) -> Option<OutputHeader> {
    if !text.starts_with(JSON_START) {
        return None;
    }
    let whole = json::string(raw)?;
    let object = Object::parse(&whole)?;
    let metadata = object.object("metadata");
    let printed = object.string_within("output", PRINTED).unwrap_or_default().into_owned();
    let exit_code = metadata.and_then(|metadata| metadata.raw("exit_code")?.parse().ok());
    Some(OutputHeader { exit_code, running: None, printed })
}

const JSON_START: &str = r#"{"output":"#;

fn inner_json(raw: &str, text: &str) -> Option<String> {
    let whole = text.starts_with(JSON_START).then(|| json::string(raw)).flatten()?;
    Object::parse(&whole)?.string("output").map(Cow::into_owned)
}

const HEADER_STARTS: &[&str] = &["Command: ", "Chunk ID: ", "Wall time: ", "Exit code: "];
/// The start of the text before an output that Codex shortened.
const LINES_START: &str = "Total output lines: ";
const OUTPUT_MARK: &str = "Output:";

/// Whether the end of a header is missing.
fn needs_more(text: &str) -> bool {
    HEADER_STARTS.iter().any(|start| text.starts_with(start)) && header_end(text).is_none()
}

/// Returns `text` without its headers, and calls `visit` for each header line. A nested output has
/// two headers.
fn strip_headers<'t>(text: &'t str, visit: &mut dyn FnMut(&str)) -> &'t str {
    let mut rest = text;
    for _ in 0..2 {
        if !HEADER_STARTS.iter().any(|start| rest.starts_with(start)) {
            break;
        }
        // The command may contain lines that look like lines of the header.
        let header_start =
            if rest.starts_with("Command: ") { wall_time(rest).unwrap_or(0) } else { 0 };
        let end = header_end(rest).or_else(|| first_line_end(rest)).unwrap_or(rest.len());
        rest[header_start.min(end)..end].lines().for_each(&mut *visit);
        rest = &rest[end..];
    }
    match rest.starts_with(LINES_START) {
        true => rest.split_once("\n\n").map_or(rest, |(_, rest)| rest),
        false => rest,
    }
}

/// Returns the end of a header that consists only of the line `Wall time: 0.1 seconds`.
fn first_line_end(text: &str) -> Option<usize> {
    text.starts_with("Wall time: ").then(|| text.find('\n').map(|at| at + 1)).flatten()
}

fn header_end(text: &str) -> Option<usize> {
    let from = wall_time(text)?;
    let mut at = from;
    for line in text[from..].split_inclusive('\n') {
        at += line.len();
        if line.trim_end() == OUTPUT_MARK {
            return Some(at);
        }
    }
    None
}

fn wall_time(text: &str) -> Option<usize> {
    match text.starts_with("Wall time: ") {
        true => Some(0),
        false => text.find("\nWall time: ").map(|at| at + 1),
    }
}
