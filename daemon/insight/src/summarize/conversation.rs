//! A short form of the summary (overview, topics, decisions, code references and key points), and
//! its plain-text format. Models may also answer in this format.

use crate::{
    model::{
        summary::{EnhancedSessionSummary, Outcome},
        wording::DELETED,
    },
    text::pattern,
};

/// Maximum number of entries in one section. Code references may be twice as many.
const ENTRIES: usize = 12;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConversationSummary {
    /// Two or three sentences about the whole session.
    pub overview: String,
    pub topics: Vec<String>,
    pub decisions: Vec<String>,
    /// Changed files, and code that the summary mentions.
    pub code_references: Vec<String>,
    pub key_points: Vec<String>,
}

impl ConversationSummary {
    pub fn of(summary: &EnhancedSessionSummary) -> ConversationSummary {
        ConversationSummary {
            overview: overview(summary),
            topics: topics(summary),
            decisions: decisions(summary),
            code_references: code_references(summary),
            key_points: key_points(summary),
        }
    }

    /// Formats the summary as `OVERVIEW:` with its text, then each list under its heading.
    pub fn to_text(&self) -> String {
        let mut text = format!("OVERVIEW: {}\n", self.overview);
        for (name, entries) in self.sections() {
            text.push_str(&format!("\n{name}:\n"));
            for entry in entries {
                text.push_str(&format!("- {entry}\n"));
            }
        }
        text
    }

    /// Parses [`ConversationSummary::to_text`] and the variations that models produce: any letter
    /// case, Markdown headings, other list marks, names with spaces. Text outside of any
    /// section is ignored, and so are lines without a list mark in a section that is a list.
    pub fn parse(text: &str) -> ConversationSummary {
        let mut summary = ConversationSummary::default();
        let mut section = None;
        for line in text.lines().map(str::trim) {
            if let Some((name, rest)) = heading(line) {
                section = Some(name);
                summary.add(name, rest);
            } else if let Some(name) = section {
                summary.add(name, line);
            }
        }
        summary
    }

    fn sections(&self) -> [(&'static str, &[String]); 4] {
        [
            ("TOPICS", &self.topics),
            ("DECISIONS", &self.decisions),
            ("CODE_REFERENCES", &self.code_references),
            ("KEY_POINTS", &self.key_points),
        ]
    }

    fn add(&mut self, section: ConversationSection, line: &str) {
        let marked = pattern!(r"^(?:[-*•+]|\d{1,2}[.)])\s+").find(line);
        let text = marked.map_or(line, |mark| &line[mark.end()..]).trim();
        if text.is_empty() || text.eq_ignore_ascii_case("none") {
            return;
        }
        let list = match section {
            ConversationSection::Overview => {
                if !self.overview.is_empty() {
                    self.overview.push(' ');
                }
                self.overview.push_str(text);
                return;
            }
            ConversationSection::Topics => &mut self.topics,
            ConversationSection::Decisions => &mut self.decisions,
            ConversationSection::CodeReferences => &mut self.code_references,
            ConversationSection::KeyPoints => &mut self.key_points,
        };
        if marked.is_some() {
            list.push(text.to_owned());
        }
    }
}

#[derive(Clone, Copy)]
enum ConversationSection {
    Overview,
    Topics,
    Decisions,
    CodeReferences,
    KeyPoints,
}

/// Returns the section whose name is at the start of the line, and the text after the name.
fn heading(line: &str) -> Option<(ConversationSection, &str)> {
    let found = pattern!(
        r"(?i)^(?:#{1,4}\s*)?(?:\*\*)?(overview|topics|decisions|code[_ ]references|key[_ ]points)(?:\*\*)?\s*(:)?(?:\*\*)?\s*(.*)$"
    )
    .captures(line)?;
    let rest = found.get(3).map_or("", |rest| rest.as_str());
    // "Decisions were few: two" is a sentence, not a heading.
    let is_heading = rest.is_empty() || found.get(2).is_some();
    let section = match found[1].to_lowercase().replace(' ', "_").as_str() {
        "overview" => ConversationSection::Overview,
        "topics" => ConversationSection::Topics,
        "decisions" => ConversationSection::Decisions,
        "code_references" => ConversationSection::CodeReferences,
        _ => ConversationSection::KeyPoints,
    };
    is_heading.then_some((section, rest))
}

/// Joins the objective, the outcome and the first completed task.
fn overview(summary: &EnhancedSessionSummary) -> String {
    let ended = match summary.outcome {
        Outcome::Completed => "It was completed.",
        Outcome::Blocked => "It was blocked when the session ended.",
        Outcome::InProgress => "It is still in progress.",
        Outcome::Abandoned => "It was abandoned.",
    };
    let objective = summary.objective.trim();
    let stop = if objective.ends_with(['.', '!', '?', '…']) { "" } else { "." };
    let done = summary.completed_tasks.as_deref().and_then(<[String]>::first);
    let done = done.map_or(String::new(), |task| {
        format!(" {}{}", task, if task.ends_with(['.', '!', '?', '…']) { "" } else { "." })
    });
    format!("{objective}{stop} {ended}{done}")
}

/// Returns the topics from a model, up to three dominant activities, the folders of changed files,
/// and the test framework.
fn topics(summary: &EnhancedSessionSummary) -> Vec<String> {
    let mut topics: Vec<String> = summary.topics.clone().unwrap_or_default();
    let activities = summary
        .activity_vector
        .dominant_activities()
        .into_iter()
        .take(3)
        .map(|activity| activity.as_str().to_owned());
    topics.extend(activities);
    for file in summary.files_modified.iter().flatten() {
        let part = part_of_project(file);
        if !topics.iter().any(|topic| topic == part) {
            topics.push(part.to_owned());
        }
    }
    if let Some(tests) = &summary.test_results {
        topics.push(tests.framework.clone());
    }
    topics.truncate(ENTRIES);
    topics
}

/// Returns the folder of a file. For the folders `src`, `lib`, `app` and `.`, returns the file name
/// without its extension. Without a folder, returns the name. Ignores [`DELETED`] after the name.
fn part_of_project(file: &str) -> &str {
    let file = file.strip_suffix(DELETED).unwrap_or(file);
    match file.rsplit_once('/') {
        Some((folder, _)) if !["src", "lib", "app", "."].contains(&folder) => folder,
        Some((_, name)) => {
            // The name of a hidden file begins with a full stop.
            let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
            if stem.is_empty() { name } else { stem }
        }
        None => file,
    }
}

fn decisions(summary: &EnhancedSessionSummary) -> Vec<String> {
    let records = summary.key_decisions.iter().flatten();
    records
        .take(ENTRIES)
        .map(|record| format!("{}: {}", record.decision, record.rationale))
        .collect()
}

/// Returns the files that were changed and not deleted, then the code in back quotes in the
/// discoveries, completed tasks and next steps.
fn code_references(summary: &EnhancedSessionSummary) -> Vec<String> {
    let files = summary.files_modified.iter().flatten();
    let files = files.filter(|file| !file.ends_with(DELETED));
    let mut references: Vec<String> = files.cloned().collect();
    let texts = [&summary.discoveries, &summary.completed_tasks, &summary.next_steps];
    for text in texts.into_iter().flatten().flatten() {
        for quoted in text.split('`').skip(1).step_by(2).filter(|quoted| quoted.len() >= 3) {
            if !references.iter().any(|known| ends_with_name(known, quoted)) {
                references.push(quoted.to_owned());
            }
        }
    }
    references.truncate(ENTRIES * 2);
    references
}

/// Whether a reference is `name`, or ends with it as a whole name: `src/domain` does not end with
/// `main`.
fn ends_with_name(reference: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    reference
        .strip_suffix(name)
        .is_some_and(|rest| !(rest.ends_with(is_part) && name.starts_with(is_part)))
}

fn key_points(summary: &EnhancedSessionSummary) -> Vec<String> {
    let mut points: Vec<String> = summary.completed_tasks.iter().flatten().cloned().collect();
    points.extend(summary.discoveries.iter().flatten().cloned());
    let errors = summary.errors_resolved.iter().flatten();
    points.extend(errors.map(|error| format!("Resolved: {} ({})", error.error, error.fix)));
    points.extend(summary.next_steps.iter().flatten().map(|step| format!("Next: {step}")));
    points.truncate(ENTRIES);
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        activity::ActivityVector,
        summary::{DecisionRecord, TestSummary},
    };

    #[test]
    fn the_text_is_read_back_as_it_was_written() {
        let written = ConversationSummary {
            overview: "The parser was fixed. It was completed.".to_owned(),
            topics: vec!["fixing".to_owned(), "src/parser".to_owned()],
            decisions: vec!["Keep the old field: clients read it".to_owned()],
            code_references: vec!["src/parser.rs".to_owned()],
            key_points: vec!["Next: add a test".to_owned()],
        };
        assert_eq!(ConversationSummary::parse(&written.to_text()), written);
        let empty = ConversationSummary::default();
        assert_eq!(ConversationSummary::parse(&empty.to_text()), empty);
    }

    #[test]
    fn variations_of_the_format_are_parsed() {
        let text = "Sure! Here it is:\n\n## Overview\nThey fixed it.\nIt works.\n\n**Topics:**\n* parser\n1. dates\n\n\
                    Decisions: \n• Keep it\nnot an entry\n\nCode References:\n- None\n\nkey points:\n+ one\n";
        let parsed = ConversationSummary::parse(text);
        assert_eq!(parsed.overview, "They fixed it. It works.");
        assert_eq!(parsed.topics, ["parser", "dates"]);
        assert_eq!(parsed.decisions, ["Keep it"]);
        assert!(parsed.code_references.is_empty());
        assert!(heading("Decisions were few: two").is_none());
        assert_eq!(parsed.key_points, ["one"]);
    }

    #[test]
    fn a_reference_repeats_a_file_only_by_its_whole_name() {
        for (name, wanted) in [("main", false), ("domain", true), ("src/domain", true)] {
            assert_eq!(ends_with_name("src/domain", name), wanted, "{name}");
        }
    }

    #[test]
    fn a_topic_is_the_folder_or_the_name_of_a_file() {
        for (file, wanted) in [
            ("src/parse/line.rs", "src/parse"),
            ("src/main.rs", "main"),
            ("src/.env", ".env"),
            ("Makefile", "Makefile"),
            (&format!("notes.md{DELETED}"), "notes.md"),
            (&format!("src/old{DELETED}"), "old"),
        ] {
            assert_eq!(part_of_project(file), wanted, "{file}");
        }
    }

    #[test]
    fn a_summary_is_converted_to_a_conversation_summary() {
        let summary = EnhancedSessionSummary {
            activity_vector: ActivityVector { fixing: 1.0, ..ActivityVector::default() },
            objective: "Fix the parser".to_owned(),
            outcome: Outcome::Completed,
            phases: None,
            completed_tasks: Some(vec!["Fixed `read_line` for the last line".to_owned()]),
            key_decisions: Some(vec![DecisionRecord {
                decision: "Keep the buffer".to_owned(),
                rationale: "it is reused".to_owned(),
                alternatives: None,
            }]),
            next_steps: Some(vec!["Add a benchmark".to_owned()]),
            errors_resolved: None,
            root_cause_analysis: None,
            config_changes: None,
            discoveries: None,
            topics: None,
            relations: None,
            outcome_reason: None,
            last_words: None,
            repository: None,
            preferences: None,
            known_failures: None,
            test_results: Some(TestSummary {
                framework: "cargo test".to_owned(),
                total: 1,
                passed: 1,
                failed: 0,
                skipped: 0,
                coverage_pct: None,
                failed_tests: None,
                ..TestSummary::default()
            }),
            files_modified: Some(vec!["src/parse/line.rs".to_owned()]),
            mcp_tools_used: None,
            session_file: None,
            message_count: None,
            duration_minutes: None,
        };
        let seen = ConversationSummary::of(&summary);
        assert_eq!(
            seen.overview,
            "Fix the parser. It was completed. Fixed `read_line` for the last line."
        );
        assert_eq!(seen.topics, ["fixing", "src/parse", "cargo test"]);
        assert_eq!(seen.decisions, ["Keep the buffer: it is reused"]);
        assert_eq!(seen.code_references, ["src/parse/line.rs", "read_line"]);
        assert_eq!(
            seen.key_points,
            ["Fixed `read_line` for the last line", "Next: Add a benchmark"]
        );
    }
}
