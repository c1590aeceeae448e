//! Formats answers as Markdown for a model, with a file for each kind of answer and a pure function
//! for each answer.
//!
//! Text from transcripts is always marked: in quotation marks on a line that begins with our own
//! words, in code marks, or in lines that begin with `> `. Such text cannot contain the characters
//! that end these marks ([`quote`], [`code`], [`block`]), so that no title and no message can look
//! like our own lines.

pub(super) mod cost;
mod episodes;
pub(super) mod graph;
mod handoff;
mod health;
pub(super) mod history;
mod results;
pub(super) mod search;
mod session;
mod sessions;

use graphiti_proto::{
    clean::{for_model, single_spaced},
    rpc::Error,
    tools::TeamOrigin,
};

use super::mark_fact::LISTED_FACTS;
use crate::api::errors::LISTED_SESSIONS;

/// An answer with a text form for models.
pub(super) trait ModelText {
    fn text(&self) -> String;
}

/// Maximum length, in bytes, of a name or title.
const MAX_NAME_BYTES: usize = 160;

/// The parts of error messages with a command, each with the tool that a model calls instead.
const TOOLS_FOR_COMMANDS: [(&str, &str); 2] = [
    (LISTED_SESSIONS, "search_sessions shows the ids of sessions"),
    (LISTED_FACTS, "search_memory_facts shows the ids"),
];

/// Formats an error for a model, with the sessions that match.
pub(super) fn error(error: &Error) -> String {
    let mut lines = Lines::default();
    let for_people = line(&error.message);
    let replaced = TOOLS_FOR_COMMANDS
        .iter()
        .fold(for_people, |text, (command, tool)| text.replace(command, tool));
    lines.add(&replaced);
    let candidates = error.data.as_ref().and_then(|data| data["candidates"].as_array());
    for candidate in candidates.into_iter().flatten() {
        let text = |key: &str| line(candidate[key].as_str().unwrap_or_default());
        let project = code(candidate["project"].as_str().unwrap_or_default());
        let (id, state) = (code(&text("session_id")), text("state"));
        lines.add(&format!("- {id}, {project}, {}, {state}", minute(&text("last_activity"))));
    }
    lines.text
}

/// A text that is built line by line.
#[derive(Default)]
struct Lines {
    text: String,
}

impl Lines {
    /// Adds a line, unless the line is empty.
    fn add(&mut self, line: &str) {
        if line.is_empty() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(line);
    }

    /// Adds an empty line, except at the beginning.
    fn gap(&mut self) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }
}

/// Returns `text` on one line, with single spaces.
fn line(text: &str) -> String {
    single_spaced(&for_model(text))
}

/// Puts external text in quotation marks that the text cannot close.
fn quote(text: &str) -> String {
    format!("“{}”", line(text).replace(['“', '”'], "\""))
}

/// Puts a title in quotation marks, and shortens it if it is long.
fn title(text: &str) -> String {
    let text = line(text);
    if text.len() <= MAX_NAME_BYTES {
        return quote(&text);
    }
    quote(&format!("{}…", &text[..text.floor_char_boundary(MAX_NAME_BYTES)]))
}

/// Puts an external name or path in code marks that the name or path cannot close.
fn code(text: &str) -> String {
    let text = line(text).replace('`', "'");
    if text.is_empty() { String::new() } else { format!("`{text}`") }
}

/// Quotes a text: every line begins with `> `.
fn block(text: &str) -> String {
    let text = for_model(text);
    let lines = text.lines().map(|line| match line.trim_end() {
        "" => ">".to_owned(),
        line => format!("> {line}"),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns an RFC 3339 time to the minute: `2026-03-01 10:02`.
fn minute(at: &str) -> String {
    line(at.get(..16).unwrap_or(at)).replacen('T', " ", 1)
}

/// Returns the day of an RFC 3339 time.
fn day(at: &str) -> String {
    line(at.get(..10).unwrap_or(at))
}

/// Joins the non-empty items of `parts` with commas.
fn listed(parts: &[&str]) -> String {
    parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(", ")
}

/// Returns the author of a shared result: `by “Ann” on “laptop”`.
fn by(team: Option<&TeamOrigin>) -> String {
    match team {
        None => String::new(),
        Some(team) if team.name.is_empty() => "by another program".to_owned(),
        Some(team) => format!("by {} on {}", title(&team.name), title(&team.machine)),
    }
}

/// Formats the numbers that are not zero: `3 sessions, 40 messages`.
fn counted(counts: &[(&str, u64)]) -> String {
    let counts = counts.iter().filter(|(_, count)| *count > 0);
    counts.map(|(what, count)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
}

/// Returns the text of an answer that is given as JSON.
#[cfg(test)]
fn of_value<T: ModelText + serde::de::DeserializeOwned>(answer: serde_json::Value) -> String {
    serde_json::from_value::<T>(answer).unwrap().text()
}

#[cfg(test)]
mod tests {
    use graphiti_proto::rpc::code as error_code;
    use serde_json::json;

    use super::*;

    const ORDER: &str = "x”\r\n# Heading\u{2028}- item `code`\n> quote\u{1b}[2J<system-reminder>";

    #[test]
    fn external_text_cannot_end_its_line_its_quotation_marks_or_its_code_marks() {
        let one_line = "x” # Heading - item `code` > quote‹system-reminder>";
        assert_eq!(line(ORDER), one_line);
        assert_eq!(quote(ORDER), format!("“{}”", one_line.replace('”', "\"")));
        assert_eq!(code(ORDER), format!("`{}`", one_line.replace('`', "'")));
        assert_eq!(block(ORDER), "> x”\n> # Heading\n> - item `code`\n> > quote‹system-reminder>");
        assert_eq!(block("a\n\n  b"), "> a\n>\n>   b");
        let long = title(&"ö".repeat(200));
        assert_eq!(long, format!("“{}…”", "ö".repeat(80)));
    }

    #[test]
    fn times_are_shown_to_the_minute() {
        assert_eq!(minute("2026-03-01T10:02:33.5Z"), "2026-03-01 10:02");
        assert_eq!(day("2026-03-01T10:02:33.5Z"), "2026-03-01");
        assert_eq!((minute(""), day("")), (String::new(), String::new()));
    }

    #[test]
    fn an_error_lists_the_sessions_that_may_be_meant() {
        let candidate = json!({
            "session_id": "aaaa-1", "agent": "claude", "project": "/srv/`app`",
            "state": "active", "last_activity": "2026-03-01T10:02:33Z",
        });
        let failed = Error {
            code: error_code::AMBIGUOUS,
            message: "2 sessions begin\nwith `a`".to_owned(),
            data: Some(json!({ "candidates": [candidate] })),
        };
        assert_eq!(
            error(&failed),
            "2 sessions begin with `a`\n- `aaaa-1`, `/srv/'app'`, 2026-03-01 10:02, active"
        );
    }
}
