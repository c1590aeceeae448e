//! Formats the changes of files, the fixes of errors, and the log.

use graphiti_proto::tools::{
    blame_file::{BlameAnswer, BlameRow},
    errors::ErrorRow,
    find_fix::{FixAnswer, SIMILAR_HEADING},
    get_log::{LogAnswer, LogRow},
};

use super::{
    Lines, ModelText, code, day, graph::fact_line, line, listed, quote, sessions::session_line,
};
use crate::api::tools::zero_limit;

/// Returns lines that begin with the message of an answer, unless the message is empty.
fn with_message(message: &str) -> Lines {
    let mut lines = Lines::default();
    if !message.is_empty() {
        lines.add(&line(message));
    }
    lines
}

impl ModelText for BlameAnswer {
    fn text(&self) -> String {
        let mut lines = with_message(&self.message);
        if !self.files.is_empty() {
            let files: Vec<String> = self.files.iter().map(|file| code(file)).collect();
            lines.add(&format!("Several files have this name: {}.", files.join(", ")));
        }
        self.changes.iter().for_each(|change| add_change(&mut lines, change));
        if zero_limit::is_explained(&self.message) {
            return lines.text;
        }
        if self.changes.is_empty() {
            lines.add(&format!(
                "No known session changed {}. search_sessions with `file` may find more.",
                code(&self.file)
            ));
            return lines.text;
        }
        lines.gap();
        lines.add(
            "To read more: get_session with the id, view `messages`, and `source` and `from` as shown.",
        );
        lines.text
    }
}

fn add_change(lines: &mut Lines, change: &BlameRow) {
    lines.add(&format!("- {}", session_line(&change.session)));
    let message = change.message.map(|seq| format!("from {seq}")).unwrap_or_default();
    let source =
        if change.source > 0 { format!("source {}", change.source) } else { String::new() };
    let place = listed(&[&source, &message]);
    let place = if place.is_empty() { place } else { format!(" ({place})") };
    lines.add(&format!("  {}{place}", quote(&change.change)));
    change.lines.iter().for_each(|text| lines.add(&format!("  {}", code(text))));
    change.why.iter().for_each(|text| lines.add(&format!("  Why: {}", quote(text))));
}

impl ModelText for FixAnswer {
    fn text(&self) -> String {
        let mut lines = with_message(&self.message);
        self.errors.iter().for_each(|error| add_error(&mut lines, error));
        if !self.similar.is_empty() {
            lines.add(SIMILAR_HEADING);
            self.similar.iter().for_each(|fact| lines.add(&fact_line(fact)));
        }
        let is_empty = self.errors.is_empty() && self.similar.is_empty();
        if is_empty && !zero_limit::is_explained(&self.message) {
            lines
                .add("This error is not known. search_sessions may find sessions that mention it.");
        }
        lines.text
    }
}

fn add_error(lines: &mut Lines, error: &ErrorRow) {
    let certainty = if error.certainty == "verified" { "" } else { error.certainty.as_str() };
    let seen = format!("last seen {}", day(&error.last_at));
    let state = listed(&[&line(&error.state), &line(certainty), &seen]);
    lines.add(&format!("- {}: {state}", quote(&error.error)));
    let parts = [("Cause", &error.cause), ("Fix", &error.fix), ("Verified by", &error.verified_by)];
    for (label, text) in parts {
        let Some(text) = text else { continue };
        lines.add(&format!("  {label}: {}", quote(text)));
    }
    let ids: Vec<String> = error.sessions.iter().map(|session| code(&session.short_id)).collect();
    lines.add(&format!("  Sessions: {}", ids.join(", ")));
}

impl ModelText for LogAnswer {
    fn text(&self) -> String {
        let mut lines = with_message(&self.message);
        let mut previous_date = String::new();
        for row in &self.sessions {
            let date = day(row.ended_at());
            if date != previous_date {
                lines.gap();
                lines.add(&format!("## {date}"));
                previous_date = date;
            }
            add_row(&mut lines, row);
        }
        if self.sessions.is_empty() && !zero_limit::is_explained(&self.message) {
            lines.add("No sessions.");
        }
        if let Some(next) = &self.next {
            lines.gap();
            lines.add(&format!("More: `before` {}.", line(next)));
        }
        lines.text
    }
}

/// Returns how many of the rows of a log fit into a text of `budget` bytes, at least one.
pub(in crate::api::tools) fn fitting(rows: &[LogRow], budget: usize) -> usize {
    let mut lines = Lines::default();
    let fitting = rows.iter().take_while(|row| {
        lines.add(&format!("## {}", day(row.ended_at())));
        add_row(&mut lines, row);
        lines.text.len() <= budget
    });
    fitting.count().max(1)
}

fn add_row(lines: &mut Lines, row: &LogRow) {
    lines.add(&format!("- {}", session_line(&row.session)));
    let parts = [
        ("Done", &row.done),
        ("Decided", &row.decided),
        ("Fixed", &row.fixed),
        ("Left", &row.left),
    ];
    for (label, texts) in parts {
        texts.iter().for_each(|text| lines.add(&format!("  {label}: {}", quote(text))));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::of_value, *};

    #[test]
    fn texts_from_sessions_are_quoted_on_our_own_lines() {
        let session = json!({
            "session_id": "aaaa-1", "title": "Fix\n# it", "project": "/w", "state": "indexed",
            "last_activity": "2026-03-01T10:02:33Z", "episode": { "outcome": "completed" },
        });
        let line = "- `aaaa-1` “Fix # it”, `/w`, 2026-03-01, completed";
        let blame = json!({ "file": "a.rs", "changes": [{
            "session": session, "change": "`a.rs` was changed\n- x", "why": ["be”cause"],
            "lines": ["+let `a`;"], "message": 4,
        }] });
        assert_eq!(
            of_value::<BlameAnswer>(blame),
            format!(
                "{line}\n  “`a.rs` was changed - x” (from 4)\n  `+let 'a';`\n  Why: “be\"cause”\n\nTo read more: \
                 get_session with the id, view `messages`, and `source` and `from` as shown."
            )
        );
        let several = json!({ "file": "a.rs", "files": ["src/a.rs", "lib/a.rs"] });
        let text = of_value::<BlameAnswer>(several);
        assert!(
            text.starts_with("Several files have this name: `src/a.rs`, `lib/a.rs`.\n"),
            "{text}"
        );
        let continued = json!({ "session": session, "ended_at": "2026-02-27T10:00:00Z" });
        let day = of_value::<LogAnswer>(json!({ "sessions": [continued] }));
        assert_eq!(day, format!("## 2026-02-27\n{line}"));
        let log = json!({ "sessions": [{ "session": session, "done": ["x\ny"] }], "next": "n" });
        assert_eq!(
            of_value::<LogAnswer>(log.clone()),
            format!("## 2026-03-01\n{line}\n  Done: “x y”\n\nMore: `before` n.")
        );
        let rows: LogAnswer = serde_json::from_value(log.clone()).unwrap();
        let rows = [rows.sessions.clone(), rows.sessions].concat();
        let size = "## 2026-03-01\n  Done: “x y”\n\n".len() + line.len();
        assert_eq!([size * 3, size, 0].map(|budget| fitting(&rows, budget)), [2, 1, 1]);
        assert_eq!(of_value::<LogAnswer>(json!({})), "No sessions.");
        let late = json!({ "message": "1 session is still being indexed." });
        assert_eq!(of_value::<LogAnswer>(late), "1 session is still being indexed.\nNo sessions.");
    }

    #[test]
    fn a_fix_is_shown_with_its_cause_and_its_verification() {
        let fix = json!({ "errors": [{
            "error": "no pool", "cause": "too small", "fix": "made larger", "verified_by": "make",
            "state": "fixed", "certainty": "verified", "last_at": "2026-03-01T10:02:33Z",
            "sessions": [{ "short_id": "aaaa" }],
        }] });
        assert_eq!(
            of_value::<FixAnswer>(fix),
            "- “no pool”: fixed, last seen 2026-03-01\n  Cause: “too small”\n  Fix: “made larger”\n  \
             Verified by: “make”\n  Sessions: `aaaa`"
        );
        assert!(of_value::<FixAnswer>(json!({})).starts_with("This error is not known."));
    }
}
