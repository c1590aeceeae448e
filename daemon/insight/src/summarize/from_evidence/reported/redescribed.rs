//! Recognises descriptions of a state, such as those below `How it works`, that a later report of
//! a turn with changes replaces.

use std::collections::BTreeSet;

use crate::{
    report::{Passage, Report},
    summarize::from_evidence::entries::Entries,
    text::pattern,
};

/// Number of bytes at the start of a passage. A part that contains them is from this passage.
const START: usize = 24;

/// Whether `part` of a report is below a heading that announces a state, and a later report
/// describes that state again. The later report contains the same name in back quotes below a
/// heading of this kind, or an item with the same label.
pub(crate) fn is_redescribed(entries: &Entries<'_>, report: &Report, part: &str) -> bool {
    let is_it = |passage: &&Passage| {
        describes_state(passage) && {
            let text = entries.tidy_line(&passage.text);
            !text.is_empty() && part.contains(&text[..text.floor_char_boundary(START)])
        }
    };
    let Some(passage) = report.passages.iter().find(is_it) else { return false };
    let (known, label) = (names(&passage.text), labels(passage));
    let later = entries
        .reports
        .reports
        .iter()
        .filter(|later| later.changed && later.origin.follows(report.origin));
    later.flat_map(|later| &later.passages).any(|other| {
        describes_state(other) && !known.is_disjoint(&names(&other.text))
            || !label.is_disjoint(&labels(other))
    })
}

/// Whether a heading of a passage announces how something works.
fn describes_state(passage: &Passage) -> bool {
    passage.headings.iter().any(|heading| {
        pattern!(r"(?i)^\W*(?:how (?:it|this|that) (?:now )?works\b|what you (?:now )?have\b|(?:new |current )behaviou?r\b)")
            .is_match(heading)
    })
}

/// Returns the texts in back quotes, in lower case.
fn names(text: &str) -> BTreeSet<String> {
    let quoted = text.split('`').skip(1).step_by(2).filter(|name| name.len() >= 5);
    quoted.map(str::to_lowercase).collect()
}

/// Returns the names of at least five bytes before the colon of an item, for example `start` and
/// `finish` for ``**`Start`/`Finish`**: …``.
fn labels(passage: &Passage) -> BTreeSet<String> {
    let start = passage.text.split_once(": ").map(|(start, _)| start);
    let label = passage.label.as_deref().or(start).filter(|label| label.len() <= 60);
    let parts = label.unwrap_or_default().split(['/', ',']);
    let parts = parts.map(|name| name.trim_matches([' ', '`', '*']).to_lowercase());
    parts.filter(|name| name.len() >= 5).collect()
}

#[cfg(test)]
mod tests {
    use crate::summarize::{
        evidence::scenarios::Script, from_evidence::request::wording_scenarios::summary,
    };

    #[test]
    fn a_state_is_described_by_the_last_report() {
        let mut script = Script::default();
        script.prompt("Let the hooks be switched");
        script.edit("a", "/app/hooks.go", "a", "b");
        script.reply("m1", "The hooks can be switched.\n\n## How it works\n\n- Hooks of developers are written into `settings.local.json`\n- Everybody else keeps the hooks of `settings.json` as before\n\n## Changes\n\n- Added a switch to `hooks.go` for all of the hooks\n");
        let shown = |script: &Script| {
            let found = summary(script);
            format!("{:?} {:?}", found.completed_tasks, found.discoveries)
        };
        script.prompt("now the guide");
        script.edit("b", "/app/guide.md", "a", "b");
        script.reply("m2", "The guide has a part on the hooks, with an example for each of the shells that we support.");
        assert!(
            shown(&script).contains("written into `settings.local.json`"),
            "{}",
            shown(&script)
        );
        script.prompt("both files are read, so hooks would run twice");
        script.edit("c", "/app/hooks.go", "b", "c");
        script.reply("m3", "All of it is in one file.\n\n## What you have now\n\n- Both kinds of hooks stand in `settings.json`, `settings.local.json` is not written any more\n");
        assert!(!shown(&script).contains("written into"), "{}", shown(&script));
        assert!(shown(&script).contains("Added a switch"), "{}", shown(&script));
    }
}
