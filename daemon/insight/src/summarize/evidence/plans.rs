//! Shortens a plan of the agent: keeps its title, approach, background, steps and files.

use crate::{
    report::{Form, Passage, passages},
    summarize::evidence::bounds,
    text::{Block, blocks, cut, kept, one_line, pattern, sentences, without_full_stop},
};

/// Maximum length, in characters, of a plan's approach or background.
const APPROACH: usize = 300;
/// Maximum number of steps kept of a plan.
const STEPS: usize = 8;
/// Maximum length, in bytes, of the sentences that are kept with a step.
const STEP_TEXT: usize = 160;
const FILES: usize = 16;
/// Maximum number of files shown with a step.
const STEP_FILES: usize = 4;

/// The prefixes of the lines with the background, with a step and with a file.
pub(super) const BACKGROUND: &str = "= ";
pub(super) const STEP: &str = "- ";
pub(super) const FILE: &str = "+ ";

/// Returns the short form of a plan. Its first line is the first heading of the plan, or else the
/// plan's first line. Its second line is the approach, which may be empty. The other lines begin
/// with a prefix: the background, the steps, and the files that the plan changes.
pub(super) fn shorten_plan(plan: &str) -> String {
    let mut lines = plan.lines().map(str::trim).filter(|line| !line.is_empty());
    let heading = lines.clone().find(|line| line.starts_with('#'));
    let title = kept(&one_line(heading.or(lines.next()).unwrap_or_default()), bounds::QUESTION);
    let approach = approach(plan).map(|text| kept(&text, bounds::TYPED_ANSWER));
    let background = background(plan);
    let passages = passages(plan);
    let mut short = format!("{title}\n{}", approach.unwrap_or_default());
    if let Some(text) = background {
        short.extend(["\n", BACKGROUND, &kept(&text, bounds::TYPED_ANSWER)]);
    }
    for step in steps(&passages) {
        short.extend(["\n", STEP, &kept(&step, bounds::QUESTION)]);
    }
    for file in files(plan) {
        short.extend(["\n", FILE, &kept(&file, bounds::PATH)]);
    }
    short.trim_end().to_owned()
}

/// Returns the first sentences under a heading such as `What to create` or `Approach`.
fn approach(plan: &str) -> Option<String> {
    let is_approach = |heading: &str| {
        pattern!(r"(?i)^(?:\d+[.)] )?(?:what to \w+|(?:the |proposed |recommended |chosen |implementation )?(?:approach|solution|fix|decision|change|strategy|design)|ansatz|lösung|enfoque|solución|approche|solution|方案|方针|方針)s?$")
            .is_match(heading)
    };
    first_below(plan, is_approach, APPROACH)
}

/// Returns the first sentences under a heading such as `Root cause` or `Context`. They describe the
/// state before the plan.
fn background(plan: &str) -> Option<String> {
    let is_background = |heading: &str| {
        pattern!(r"(?i)^(?:\d+[.)] )?(?:the )?(?:root causes?|causes?|problems?|diagnosis|context|background|summary|overview|kontext|hintergrund|problema|causa|contexto|contexte|cause|背景|问题|原因|問題)$")
            .is_match(heading)
    };
    let text = first_below(plan, is_background, 2 * APPROACH)?;
    Some(cut(from_the_reason(&text), APPROACH))
}

/// If a background is longer than [`APPROACH`] and begins with a sentence about the present state,
/// returns the text from the first sentence that gives a reason for the plan. Otherwise returns the
/// whole text.
fn from_the_reason(text: &str) -> &str {
    let all = sentences(text);
    let states_present = |sentence: &str| pattern!(r"(?i)\bcurrently\b").is_match(sentence);
    let gives_reason = |sentence: &str| {
        pattern!(r"(?i)\b(?:but|because|incorrect|wrong|blocks?|prevents?|breaks?|fails?|causes?|leads? to|problem)\b")
            .is_match(sentence)
    };
    let reason = all.iter().position(|one| gives_reason(one)).filter(|at| *at > 0);
    match (all.first().filter(|one| states_present(one)), reason) {
        (Some(_), Some(at)) if text.chars().count() > APPROACH => {
            text.find(all[at]).map_or(text, |start| &text[start..])
        }
        _ => text,
    }
}

/// Returns the first paragraph or item of at least 30 bytes below a heading for which `is_named`
/// holds, cut to `longest` characters. Texts such as `File: a.rs` and texts that end with a colon
/// are skipped.
fn first_below(plan: &str, is_named: impl Fn(&str) -> bool, longest: usize) -> Option<String> {
    let mut is_below = false;
    for block in blocks(plan) {
        match block {
            Block::Heading(heading) => {
                is_below = is_named(one_line(&heading).trim_end_matches(':'));
            }
            Block::Paragraph(text) | Block::Item(text) if is_below => {
                let line = one_line(&text);
                let names_a_file = pattern!(r"(?i)^(?:new )?files?(?: to \w+)?:").is_match(&line);
                if names_a_file || line.ends_with(':') || line.len() < 30 {
                    continue;
                }
                return Some(cut(&line, longest));
            }
            Block::Paragraph(_) | Block::Item(_) => {}
        }
    }
    None
}

/// Returns the steps of a plan, if there are at least two: its numbered headings, or else the
/// numbered items below a heading that announces steps.
fn steps(passages: &[Passage]) -> Vec<String> {
    let number =
        pattern!(r"(?i)^(?:(?:step|phase|part|task) )?\d{1,2}[.):—–-]*\s+(?:[:—–-]\s*)?(\S.{5,})$");
    let mut headings: Vec<&str> = Vec::new();
    let mut steps: Vec<String> = Vec::new();
    for (at, heading) in passages
        .iter()
        .enumerate()
        .flat_map(|(at, passage)| passage.headings.iter().map(move |heading| (at, heading)))
    {
        let below_checks = pattern!(r"(?i)\b(?:verif|test plan|checks?\b)").is_match(heading);
        let Some(step) = number.captures(heading).filter(|_| !below_checks) else { continue };
        if !headings.contains(&heading.as_str()) {
            headings.push(heading);
            let line = one_line(&step[1]);
            let below = passages[at..].iter().take_while(|one| one.headings.contains(heading));
            let below = below.count();
            steps.push(with_first_words(without_full_stop(&line), &passages[at..at + below]));
        }
    }
    if steps.len() < 2 {
        let is_step = |passage: &&Passage| {
            let heading = passage.headings.last().map(String::as_str).unwrap_or_default();
            passage.mark.is_some()
                && matches!(passage.form, Form::Item { depth: 1, .. })
                && pattern!(
                    r"(?i)\b(?:steps?|changes?|implementation|plan|tasks?|approach|design)\b"
                )
                .is_match(heading)
        };
        let listed = passages.iter().filter(is_step).map(|passage| {
            let text = passage.label.as_deref().unwrap_or(&passage.text);
            without_full_stop(&one_line(text)).to_owned()
        });
        steps = listed.collect();
    }
    steps.truncate(STEPS);
    if steps.len() < 2 { Vec::new() } else { steps }
}

/// Adds to a step the first sentence of each passage below it. Stops before a sentence that ends
/// with a colon or does not fit into [`STEP_TEXT`] bytes. Adds no sentences if the first sentence
/// is shorter than 20 bytes. Then adds the files of [`files_of_step`].
fn with_first_words(step: &str, below: &[Passage]) -> String {
    let lines = below.iter().filter(|passage| file_of_line(passage).is_none());
    let lines: Vec<String> = lines.map(|passage| one_line(&passage.text)).collect();
    let mut added = String::new();
    for first in lines.iter().filter_map(|line| sentences(line).first().copied()) {
        let says_more = !added.is_empty() || first.len() >= 20;
        if !says_more || first.ends_with(':') || added.len() + first.len() > STEP_TEXT {
            break;
        }
        added.extend([if added.is_empty() { ": " } else { "; " }, without_full_stop(first)]);
    }
    let files = files_of_step(step, below);
    let files = files.map_or(String::new(), |files| format!(" ({files})"));
    format!("{step}{added}{files}")
}

/// Returns the files below a step, without their folders: each heading that is only a path, and the
/// path of each line such as `File: src/list.ts`.
fn files_of_step(step: &str, below: &[Passage]) -> Option<String> {
    let file = pattern!(
        r"^`?(?:[\w@.-]+/)*([\w@.-]+\.[A-Za-z][A-Za-z0-9_]{0,9}(?::[0-9]{1,6}(?:-[0-9]{1,6})?)?)`?$"
    );
    let mut files: Vec<String> = Vec::new();
    let headings = below.iter().flat_map(|passage| &passage.headings).map(String::as_str);
    for line in headings.chain(below.iter().filter_map(file_of_line)) {
        let Some(found) = file.captures(line) else { continue };
        let name = format!("`{}`", &found[1]);
        if !step.contains(&found[1]) && !files.contains(&name) && files.len() < STEP_FILES {
            files.push(name);
        }
    }
    (!files.is_empty()).then(|| format!("in {}", files.join(", ")))
}

/// Returns the path in a passage such as `File: src/list.ts`, if the passage has no other text.
fn file_of_line(passage: &Passage) -> Option<&str> {
    let label = passage.label.as_deref()?.trim_end_matches(':');
    let is_path = |text: &str| !text.contains(char::is_whitespace) && text.contains(['.', '/']);
    let text = passage.text.trim();
    (matches!(label, "File" | "Files" | "Location" | "Path") && is_path(text)).then_some(text)
}

/// Returns the files that a plan lists below a heading such as `Files to modify`, without the files
/// that the plan removes.
fn files(plan: &str) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    let mut is_below = false;
    for line in plan.lines().map(str::trim) {
        let plain = line.trim_matches(['#', '*', ' ', ':']);
        if line.starts_with('#') || line.starts_with("**") && line.ends_with("**") {
            is_below = pattern!(r"(?i)^(?:\d+[.)] )?(?:critical |key |all )?files(?: to (?:be )?(?:modify|modified|change|changed|create|created|edit|touch|update)| (?:modified|changed|affected|touched))?\b")
                .is_match(plain);
            continue;
        }
        let names = line.split('`').skip(1).step_by(2);
        let is_file =
            |name: &&str| pattern!(r"^[\w@./~-]+\.[A-Za-z][A-Za-z0-9_]{0,9}$").is_match(name);
        let is_removed = pattern!(r"(?i)\b(?:delete|remove)\b").is_match(line);
        for name in names.filter(is_file).take(1).filter(|_| is_below && !is_removed) {
            if !files.iter().any(|known| known == name) && files.len() < FILES {
                files.push(name.to_owned());
            }
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_contains_the_change_and_its_file() {
        let plan = "# Plan: Sort the list\n\n## Changes\n\n### 1. Fix the user in `create()`\n**File:** `src/fuse/ops.rs:945-946`\n\nChange `req.uid()` to `getuid()`, like the root.\n\n### 2. Sort by it\n**File:** `src/list.rs`\n\nThe column decides.\n\nMore.\n";
        assert_eq!(
            shorten_plan(plan),
            "Plan: Sort the list\n\n- Fix the user in `create()`: Change `req.uid()` to `getuid()`, like the root (in `ops.rs:945-946`)\n- Sort by it (in `list.rs`)"
        );
    }

    #[test]
    fn a_plan_keeps_its_steps_and_files() {
        let plan = "# Plan: Sort the list\n\n## Changes\n\n### 1. Add a column\nText.\n\n### 2. Sort by it\nMore text.\n\n## Files to modify\n\n1. **`src/list.rs`** - the column\n2. `README.md` - say so\n\n## Verification\n\n1. Run `cargo test`\n";
        assert_eq!(
            shorten_plan(plan),
            "Plan: Sort the list\n\n- Add a column\n- Sort by it\n+ src/list.rs\n+ README.md"
        );
    }

    #[test]
    fn a_plan_is_kept_with_its_approach() {
        let plan = "# Plan: Add a plugin\n\n## Context\n\nThe old one of the shop is missing.\n\n## What to Create\n\n**File:** `a.js`\n\nA minimal plugin that registers the folder. No bootstrap needed — just the path.\n\n### Implementation\n\nMore.";
        assert_eq!(
            shorten_plan(plan),
            "Plan: Add a plugin\nA minimal plugin that registers the folder. No bootstrap needed — just the path.\n= The old one of the shop is missing."
        );
        let plan = "# Plan: Show all rows\n\n## Context\n\nThe list ends after fifty rows because the page is never asked for.\n\n## Steps\n\n1. Ask\n";
        assert_eq!(
            shorten_plan(plan),
            "Plan: Show all rows\n\n= The list ends after fifty rows because the page is never asked for."
        );
        assert_eq!(shorten_plan("# Plan: Use sled\n\n1. x"), "Plan: Use sled");
    }

    #[test]
    fn a_step_contains_the_items_below_it() {
        let plan = "# Plan: Sort\n\n## Step 1: Add a column\n- Add the column to the table of rows\n- Fill it\n- Test it\n\n## Step 2: Sort by it\n- Sort\n";
        assert_eq!(
            shorten_plan(plan),
            "Plan: Sort\n\n- Add a column: Add the column to the table of rows; Fill it; Test it\n- Sort by it"
        );
    }

    #[test]
    fn a_step_lists_the_files_in_its_headings() {
        let plan = "# Plan: Sort\n\n## Step 1: Services\n\n### `web/src/list.ts`\n- Sort the list of all the rows\n\n### `web/src/rows.ts`\n- Fill it\n\n## Step 2: Protocol checklist\n- Tick\n";
        assert_eq!(
            shorten_plan(plan),
            "Plan: Sort\n\n- Services: Sort the list of all the rows; Fill it (in `list.ts`, `rows.ts`)\n- Protocol checklist"
        );
    }

    #[test]
    fn a_long_background_begins_with_the_reason() {
        let state =
            format!("Keys are currently derived{}.", " from the name of the file".repeat(9));
        let plan = format!(
            "# Plan\n\n## Context\n\n{state} The rule was meant for recovery, but that reads the folder. It also blocks sharing.\n"
        );
        assert_eq!(
            shorten_plan(&plan),
            "Plan\n\n= The rule was meant for recovery, but that reads the folder. It also blocks sharing."
        );
    }

    #[test]
    fn steps_may_be_a_numbered_list() {
        let plan = "# Sort\n\n## Steps\n\n1. **Add a column**: to the table\n2. Sort by it.\n\n## Verification\n1. Look at it\n";
        assert_eq!(shorten_plan(plan), "Sort\n\n- Add a column\n- Sort by it");
    }
}
