//! Parses two texts of an agent about its session: the summary that it writes when the context is
//! compacted, and the note for a user who was away.
//!
//! The summary of a compaction has sections with known names. The sections are parsed separately,
//! so that the evidence can keep the useful ones.

use crate::text::{Block, blocks, one_line, pattern, sentences, without_code};

/// The sections, in descending order of usefulness. [`condensed`] returns them in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Intent,
    /// Open work.
    Pending,
    /// The work just before the compaction.
    Current,
    Next,
    /// Errors with their fixes.
    Errors,
    /// Problems with their solutions.
    Problems,
    /// Files with the changes made to them.
    Files,
    /// Technologies and concepts.
    Concepts,
    /// A section that is not kept, such as the agent's analysis or copies of the user's messages.
    Rest,
}

impl Section {
    const KEPT: [(Section, &'static str); 8] = [
        (Section::Intent, "Primary Request and Intent"),
        (Section::Pending, "Pending Tasks"),
        (Section::Current, "Current Work"),
        (Section::Next, "Optional Next Step"),
        (Section::Errors, "Errors and fixes"),
        (Section::Problems, "Problem Solving"),
        (Section::Files, "Files and Code Sections"),
        (Section::Concepts, "Key Technical Concepts"),
    ];

    fn of(heading: &str) -> Option<Section> {
        let heading = heading.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| heading.contains(word));
        Some(match () {
            () if has(&["primary request", "task overview", "user intent"]) => Section::Intent,
            () if has(&["pending task", "remaining work", "remaining task"]) => Section::Pending,
            () if has(&["current work", "current state"]) => Section::Current,
            () if has(&["next step"]) => Section::Next,
            () if has(&["errors and fix", "errors encountered", "errors & fix"]) => Section::Errors,
            () if has(&["problem solving"]) => Section::Problems,
            () if has(&["files and code", "files modified"]) => Section::Files,
            () if has(&["technical concept", "important discover"]) => Section::Concepts,
            () if has(&["user messages", "analysis", "context to preserve"]) => Section::Rest,
            () => return None,
        })
    }
}

/// The summary of a compaction, split into sections.
#[derive(Clone, Debug, Default)]
pub(super) struct Sections<'t> {
    found: Vec<(Section, Vec<&'t str>)>,
}

impl<'t> Sections<'t> {
    /// Finds the sections of `text`. If a section occurs twice, the later one takes precedence,
    /// because the agent's analysis before the summary uses the same names.
    pub(super) fn of(text: &'t str) -> Sections<'t> {
        let mut found: Vec<(Section, Vec<&str>)> = Vec::new();
        for line in text.lines() {
            match heading(line) {
                Some((section, rest)) => {
                    found.retain(|(known, _)| *known != section || section == Section::Rest);
                    found.push((section, Vec::from_iter((!rest.is_empty()).then_some(rest))));
                }
                None => {
                    if let Some((_, lines)) = found.last_mut() {
                        lines.push(line);
                    }
                }
            }
        }
        Sections { found }
    }

    /// Returns the text of a section; empty when the section is absent.
    pub(super) fn text(&self, section: Section) -> String {
        let found = self.found.iter().find(|(known, _)| *known == section);
        found.map_or(String::new(), |(_, lines)| lines.join("\n").trim().to_owned())
    }

    pub(super) fn sentences(&self, section: Section, limit: usize) -> Vec<String> {
        let line = one_line(&self.text(section));
        sentences(&line).into_iter().take(limit).map(str::to_owned).collect()
    }

    /// Returns the items of a section on one line each, without very short items. If no item is
    /// left, returns the first four sentences of the section.
    pub(super) fn items(&self, section: Section) -> Vec<String> {
        let text = self.text(section);
        let items = blocks(&text).into_iter().filter_map(|block| match block {
            Block::Item(item) => Some(one_line(&item)),
            Block::Heading(_) | Block::Paragraph(_) => None,
        });
        let items: Vec<String> = items.filter(|item| item.len() > 8).collect();
        if items.is_empty() { self.sentences(section, 4) } else { items }
    }
}

/// An error that the agent's summary describes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct DescribedError {
    pub(super) error: String,
    /// The cause of the error, or other text about it.
    pub(super) about: Option<String>,
    pub(super) fix: Option<String>,
}

impl Sections<'_> {
    /// Parses the section about errors: one error for each item. An item such as `Cause: ...` or
    /// `Fix: ...` belongs to the error before it. So does `Error: ...` below the name of an error
    /// without a fix; otherwise it is the next error.
    pub(super) fn errors(&self) -> Vec<DescribedError> {
        let mut errors: Vec<DescribedError> = Vec::new();
        let text = self.text(Section::Errors);
        let mut is_labelled = false;
        for block in blocks(&text) {
            let Block::Item(item) = block else { continue };
            let line = one_line(&item);
            let attribute = pattern!(
                r"(?i)^(error|issue|problem|(?:root )?cause|reason|fix(?:ed)?|solution|resolution)(?: \w+)?: (.+)$"
            );
            let numbered = pattern!(r"(?i)^(?:error|issue|problem) #?\d{1,2}: (.+)$");
            let labelled = pattern!(r"(?i)^(?:error|issue|problem): (.+)$");
            let names_next = errors.last().is_none_or(|last| is_labelled || last.fix.is_some());
            let named = labelled.captures(&line).filter(|_| names_next);
            if let Some(found) = numbered.captures(&line).or(named) {
                errors.push(DescribedError::of(&found[1]));
                is_labelled = labelled.is_match(&line);
                continue;
            }
            let is_error = pattern!(r"(?i)^(?:error|issue|problem)\b").is_match(&line);
            match (attribute.captures(&line), errors.last_mut()) {
                (Some(found), Some(error)) if !is_error || error.fix.is_none() => {
                    error.add(&found[1], &found[2]);
                }
                _ => {
                    errors.push(DescribedError::of(&line));
                    is_labelled = false;
                }
            }
        }
        errors
    }
}

impl DescribedError {
    /// Parses `Error: cause. Fixed by action.`
    fn of(line: &str) -> DescribedError {
        let (label, rest) = line.split_once(": ").unwrap_or((line.trim_end_matches(':'), ""));
        let mut error = DescribedError { error: label.to_owned(), ..DescribedError::default() };
        for sentence in sentences(rest) {
            let fixes = pattern!(
                r"(?i)^(?:(?:i |this was |was )?(?:fixed|resolved|solved)|fix:|solution:)\b"
            )
            .is_match(sentence);
            error.add(if fixes { "fix" } else { "cause" }, sentence);
        }
        error
    }

    /// Sets the part of the error that belongs to `kind`, such as the fix, unless it is already
    /// set.
    fn add(&mut self, kind: &str, text: &str) {
        let kind = kind.to_lowercase();
        let fixes = kind.starts_with("fix") || kind.contains("solution");
        let place = if fixes { &mut self.fix } else { &mut self.about };
        place.get_or_insert_with(|| text.to_owned());
    }
}

/// Returns the useful sections in the order of [`Section::KEPT`]. If there is no such section,
/// returns the text inside `<summary>`, or all of `text` if it has no such tag. Code blocks are
/// removed.
pub(super) fn condensed(text: &str) -> String {
    let text = match text.split_once("<summary>") {
        Some((_, summary)) => summary.split("</summary>").next().unwrap_or(summary),
        None => text,
    };
    let text = without_code(text);
    let sections = Sections::of(&text);
    let mut kept = String::new();
    for (section, name) in Section::KEPT {
        let body = sections.text(section);
        if !body.is_empty() {
            kept.push_str(&format!("## {name}\n{body}\n\n"));
        }
    }
    if kept.is_empty() { text } else { kept }
}

/// Returns the current state and the next step from the note for a user who was away.
pub(super) fn parse_away_note(text: &str) -> (String, Option<String>) {
    let text = one_line(text);
    let text = text.trim_end_matches("(disable recaps in /config)").trim();
    let next =
        pattern!(r"(?i)(?:^|[.;]\s+)next(?: action| step| up)?(?::| is|,)\s+(.+)$").captures(text);
    match next {
        Some(found) => {
            let at = found.get(0).map_or(text.len(), |whole| whole.start());
            let state = text[..at].trim_end_matches([';', '.', ' ']).to_owned();
            (state, Some(found[1].trim_end_matches('.').to_owned()))
        }
        None => (text.to_owned(), None),
    }
}

fn heading(line: &str) -> Option<(Section, &str)> {
    let found = pattern!(
        r"^\s{0,3}(?:#{1,4}\s*)?(?:\*\*)?(?:\d{1,2}[.)]\s*)?(?:\*\*)?([A-Z][A-Za-z &/]{3,40}?)(?:\*\*)?:(?:\*\*)?\s*(.*)$|^#{1,4}\s*(?:\d{1,2}[.)]\s*)?(.+)$"
    )
    .captures(line)?;
    let name = found.get(1).or(found.get(3))?.as_str();
    let rest = found.get(2).map_or("", |rest| rest.as_str().trim());
    Section::of(name).map(|section| (section, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECAP: &str = "This session is being continued.\n\nAnalysis:\nThe user said much.\n\nSummary:\n\
        1. Primary Request and Intent:\n   The user wants dates parsed. They also want tests.\n\n\
        2. Key Technical Concepts:\n   - RFC 3339\n\n4. Errors and fixes:\n   - **Wrong offset**: read as minutes\n\n\
        6. All user messages:\n   - \"fix it\"\n\n7. Pending Tasks:\n   - Add a test for leap days\n   - Update the changelog\n\n\
        8. Current Work:\n   Parsing offsets.\n\n9. Optional Next Step:\n   Run the tests.\n```rust\nfn main() {}\n```\n";

    #[test]
    fn only_useful_sections_are_kept() {
        let kept = condensed(RECAP);
        assert!(
            kept.starts_with("## Primary Request and Intent\nThe user wants dates parsed."),
            "{kept}"
        );
        assert!(
            !kept.contains("fix it") && !kept.contains("said much") && !kept.contains("fn main")
        );
        let sections = Sections::of(&kept);
        assert_eq!(
            sections.items(Section::Pending),
            ["Add a test for leap days", "Update the changelog"]
        );
        assert_eq!(sections.sentences(Section::Intent, 1), ["The user wants dates parsed."]);
        assert_eq!(sections.items(Section::Next), ["Run the tests."]);
    }

    #[test]
    fn errors_are_parsed_from_one_item_or_several() {
        let text = "## Errors and fixes\n- **Wrong offset**: It was read as minutes. Fixed by dividing by 60.\n\
                    - **Lost line**:\n  - Cause: no newline at the end\n  - Fix: keep the rest\n";
        let described = |error: &str, about: &str, fix: &str| DescribedError {
            error: error.to_owned(),
            about: Some(about.to_owned()),
            fix: Some(fix.to_owned()),
        };
        assert_eq!(
            Sections::of(text).errors(),
            [
                described("Wrong offset", "It was read as minutes.", "Fixed by dividing by 60."),
                described("Lost line", "no newline at the end", "keep the rest"),
            ]
        );
        let text = "## Errors and fixes\n- Error 1: wrong offset\n- Error 2: lost line\n- Error 404: the page\n";
        let errors = Sections::of(text).errors().into_iter();
        let errors: Vec<String> = errors.map(|one| one.error).collect();
        assert_eq!(errors[..2], ["wrong offset", "lost line"]);
        assert_ne!(errors.get(2).map(String::as_str), Some("the page"));
        let text = "## Errors and fixes\n- Error: wrong offset\n- Fix: divide by 60\n- Error: lost line\n\
                    - Issue: no newline\n- Cause: a cut file\n- **Slow start**\n  - Error: it took 9 s\n  - Fix: cache it\n\
                    - Error message: no such file\n";
        let found = |error: &str, about: Option<&str>, fix: Option<&str>| DescribedError {
            error: error.to_owned(),
            about: about.map(str::to_owned),
            fix: fix.map(str::to_owned),
        };
        assert_eq!(
            Sections::of(text).errors(),
            [
                found("wrong offset", None, Some("divide by 60")),
                found("lost line", None, None),
                found("no newline", Some("a cut file"), None),
                found("Slow start", Some("it took 9 s"), Some("cache it")),
                found("Error message", Some("no such file"), None),
            ]
        );
    }

    #[test]
    fn a_recap_without_known_sections_is_kept() {
        assert_eq!(condensed("They fixed the parser."), "They fixed the parser.\n");
    }

    #[test]
    fn the_note_for_an_absent_user_gives_the_state_and_the_next_step() {
        assert_eq!(
            parse_away_note(
                "Moved the parser; it is committed. Next: measure it again. (disable recaps in /config)"
            ),
            ("Moved the parser; it is committed".to_owned(), Some("measure it again".to_owned()))
        );
        assert_eq!(parse_away_note("All is done.").1, None);
    }
}
