//! Reads what the agent notes in its own memory for later sessions.

use std::collections::HashSet;

use crate::{
    model::{
        evidence::{Evidence, Statement, StatementKind},
        transcript::FileChange,
    },
    summarize::evidence::{bounds, moment::EntryPosition, statements},
    text::{kept, pattern},
};

/// Maximum number of lessons of one change. The first ones are kept.
const LESSONS: usize = 4;
/// Minimum number of words of a lesson.
const WORDS: usize = 7;

/// Whether the absolute path `path` is a file in the memory of an agent. A skill or a command about
/// memory, such as `.claude/skills/memory/SKILL.md`, is not.
pub(super) fn is_memory(path: &str) -> bool {
    pattern!(r"[/\\]\.(?:claude|codex|gemini|copilot|qwen)[/\\](?:projects[/\\][^/\\]+[/\\])?memor(?:y|ies)[/\\][^/\\]+\.md$")
        .is_match(path)
}

/// Returns the lessons that a change adds to a file of the memory, one in each line: the
/// description in the front matter, or else the new items of lists. `None` if there are no lessons.
pub(super) fn lessons(change: &FileChange) -> Option<String> {
    let described = change.edits.iter().find_map(|edit| description(&edit.new));
    let lessons = described.map_or_else(
        || {
            // A file that is written as a whole has no old text, so its items may be old.
            let edits = change.edits.iter().filter(|edit| !edit.old.is_empty());
            let added = edits.flat_map(|edit| {
                let old: HashSet<&str> = edit.old.lines().map(str::trim).collect();
                edit.new.lines().filter(move |line| !old.contains(line.trim()))
            });
            added.filter_map(lesson).take(LESSONS).collect()
        },
        |described| vec![described],
    );
    (!lessons.is_empty()).then(|| lessons.join("\n"))
}

/// Records lessons, one in each line of `text`, as statements.
pub(super) fn keep(evidence: &mut Evidence, text: &str, moment: EntryPosition) {
    for lesson in text.lines() {
        let (kind, text) = (StatementKind::Remembered, lesson.to_owned());
        let statement = Statement { kind, text, origin: moment.origin, reported: false };
        statements::add(&mut evidence.statements, statement);
    }
}

/// Returns the description in the front matter of a note.
fn description(text: &str) -> Option<String> {
    let (head, _) = text.strip_prefix("---\n")?.split_once("\n---\n")?;
    let mut lines = head.lines().skip_while(|line| !line.starts_with("description:"));
    let described = lines.next()?.strip_prefix("description:")?.trim();
    // The text of a block follows in indented lines.
    let block = lines.take_while(|line| line.starts_with(' ')).map(str::trim);
    match described.starts_with(['>', '|']) {
        true => plain(&block.collect::<Vec<_>>().join(" ")),
        false => plain(described),
    }
}

/// Returns the lesson in an item of a list. An item that is a task, that only links to another note
/// of the memory, or that refers to the items above it, is no lesson.
fn lesson(line: &str) -> Option<String> {
    let item = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "))?;
    if pattern!(r"(?i)^\[[ x]\] |^\[[^\]]*\]\([^)]*\.md\)|\b(?:these|those) (?:docs|documents|files|notes|rules|steps|sections)\b")
        .is_match(item)
    {
        return None;
    }
    plain(item)
}

/// Returns a text without bold marks and quotation marks around it, if it has enough words.
fn plain(text: &str) -> Option<String> {
    let text = text.replace("**", "");
    let text = text.trim();
    let unquoted = |mark: char| text.strip_prefix(mark)?.strip_suffix(mark);
    let text = unquoted('"').or_else(|| unquoted('\'')).unwrap_or(text).trim();
    (text.split_whitespace().count() >= WORDS).then(|| kept(text, bounds::STATEMENT))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::transcript::{ChangeKind, Replacement};

    const FOLDER: &str = "/home/ada/.claude/projects/-app/memory";

    fn lessons_of(file: &str, old: &str, new: &str) -> Option<String> {
        let edits = vec![Replacement { old: old.to_owned(), new: new.to_owned() }];
        let kind = if old.is_empty() { ChangeKind::Written } else { ChangeKind::Edited };
        lessons(&FileChange { path: file.to_owned(), kind, edits })
    }

    #[test]
    fn the_description_of_a_note_is_its_lesson() {
        let note = "---\nname: no-cached-clock\ndescription: \"Do not cache the clock of a store, because the tests replace it.\"\n---\n\n- The clock was cached in one place.\n";
        assert_eq!(
            lessons_of(&format!("{FOLDER}/feedback_clock.md"), "", note).as_deref(),
            Some("Do not cache the clock of a store, because the tests replace it.")
        );
        let folded = note.replace("\"Do not", ">-\n  Do not").replace("store, ", "store,\n  ");
        let quoted = note.replace('"', "'");
        for other in [folded.replace('"', ""), quoted] {
            assert_eq!(
                lessons_of(&format!("{FOLDER}/feedback_clock.md"), "", &other).as_deref(),
                Some("Do not cache the clock of a store, because the tests replace it.")
            );
        }
    }

    #[test]
    fn only_a_folder_directly_below_the_folder_of_an_agent_is_its_memory() {
        for path in [
            &format!("{FOLDER}/MEMORY.md"),
            "/home/ada/.codex/memories/progress.md",
            "/app/.gemini/memory/plan.md",
            r"C:\Users\ada\.claude\projects\app\memory\MEMORY.md",
        ] {
            assert!(is_memory(path), "{path}");
        }
        for path in [
            "/app/.claude/skills/memory/SKILL.md",
            "/app/.claude/commands/memory/save.md",
            "/app/docs/memory/clock.md",
            "/home/ada/.claude/projects/-app/memory/clock.json",
        ] {
            assert!(!is_memory(path), "{path}");
        }
    }

    #[test]
    fn the_new_items_of_the_index_are_lessons() {
        let old = "## Rows\n- **Rows are sorted** by the day, never by the name\n";
        let new = "## Rows\n- **Rows are sorted** by the day, never by the name\n- **Empty rows are kept**, because the totals count them\n- See `docs/rows.md`\n- [ ] Ask Ada for the key of the shop tomorrow\n- [x] Asked Ada for the key of the old shop\n- Always read these docs before a change of the format\n- [Clock](feedback_clock.md) \u{2014} do not cache the clock of a store at all\n";
        assert_eq!(
            lessons_of(&format!("{FOLDER}/MEMORY.md"), old, new).as_deref(),
            Some("Empty rows are kept, because the totals count them")
        );
        assert_eq!(lessons_of(&format!("{FOLDER}/MEMORY.md"), new, old), None);
        // Items that only move are not new.
        let indented = old.replace("- **", "  - **");
        assert_eq!(lessons_of(&format!("{FOLDER}/MEMORY.md"), &indented, old), None);
    }
}
