//! Keeps texts that describe the work and its open parts: todo and plan files, tickets, the checks
//! of plans, and errors that the user pasted.

use std::borrow::Cow;

use crate::{
    lang::paths,
    model::{
        evidence::{Evidence, NotePurpose, Ticket, WorkNote},
        transcript::{ChangeKind, FileChange},
    },
    report::{Form, passages},
    summarize::{
        evidence::{bounds, errors, moment::EntryPosition},
        lists::push_latest,
    },
    text::{kept, kept_lines, pattern, with_short_code},
};

/// Whether a file is in the agent's own folder. Claude Code creates worktrees in this folder, whose
/// files are those of the project.
fn is_of_agent(path: &str) -> bool {
    let path = paths::inside_worktree(path);
    path.starts_with(".claude/") || path.contains("/.claude/")
}

/// Returns the purpose of a file with notes about open work; `None` for other files.
pub(super) fn purpose(path: &str) -> Option<NotePurpose> {
    if !path.ends_with(".md") || is_of_agent(path) {
        return None;
    }
    let is_done = pattern!(r"(?i)/(?:done|completed|archived?|closed)/").is_match(path);
    if pattern!(
        r"(?i)(?:^|/)(?:todos?|backlog|deferred)/.*\.md$|(?:^|/|-)(?:todo|backlog|deferred)\.md$"
    )
    .is_match(path)
    {
        return (!is_done).then_some(NotePurpose::Todo);
    }
    let plans = pattern!(r"(?i)(?:^|[/-])plan\.md$|/plans/[^/]+\.md$").is_match(path);
    (plans && !is_done).then_some(NotePurpose::Plan)
}

/// Returns the shortened text of a file that `change` writes as a whole, if the file is a todo or
/// plan file, or describes the progress according to its name or `prompt`; `None` for other
/// changes.
pub(super) fn text_of(change: &FileChange, prompt: &str) -> Option<String> {
    let is_whole = matches!(change.kind, ChangeKind::Written);
    let text = &change.edits.first().filter(|_| is_whole)?.new;
    if purpose(&change.path).is_some() {
        return Some(kept(&without_front_matter(text), bounds::WORK_NOTE));
    }
    // Code is shortened first, so that no code block is cut in two.
    describes_progress(&change.path, prompt)
        .then(|| kept_lines(&with_short_code(&without_front_matter(text)), bounds::DOCUMENT))
}

/// Whether the file at `path`, which was written after `prompt`, describes the progress of the
/// work: the prompt asks for such a file, or the name of the file shows it.
fn describes_progress(path: &str, prompt: &str) -> bool {
    let is_asked = || {
        pattern!(r"(?i)\b(?:write|put|save|dump|capture|record|document) (?:(?:this|that|it|everything|all of (?:this|that|it)) (?:down\b|(?:in)?to an? (?:new |separate )?(?:markdown|md|text|notes?)\b)|(?:down )?(?:your|the|our|this) (?:whole |current )*(?:findings|notes|progress|status|state|discussion)\b|(?:down )?what (?:we|you)(?: have)? (?:have|found|did|know|learned|so far)\b)")
            .is_match(prompt)
    };
    let is_guide =
        pattern!(r"(?i)(?:^|/)(?:readme|changelog|contributing|claude|agents|guide)[^/]*\.md$");
    let is_named = pattern!(
        r"(?i)(?:^|[/_.-])(?:wip|hand-?(?:off|over)|investigation|session-(?:notes|summary))(?:[_.-][^/]*)?\.md$|(?:^|/)(?:progress|findings)(?:[_.-][0-9][^/]*)?\.md$|/(?:debug|hand-?offs?|investigations?)/[^/]+\.md$"
    );
    path.ends_with(".md")
        && !is_of_agent(path)
        && !is_guide.is_match(path)
        && (is_named.is_match(path) || prompt.len() <= 600 && is_asked())
}

/// Removes the front matter of a text except the title, because long lists in the front matter
/// would displace the text.
fn without_front_matter(text: &str) -> Cow<'_, str> {
    let Some((head, body)) = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"))
    else {
        return Cow::Borrowed(text);
    };
    let title = head.lines().find(|line| line.starts_with("title:"));
    title.map_or(Cow::Borrowed(body), |title| Cow::Owned(format!("---\n{title}\n---\n{body}")))
}

/// Records the text of the todo or plan file at `path`, in place of an earlier text of this file.
pub(super) fn keep(evidence: &mut Evidence, path: &str, text: &str, moment: EntryPosition) {
    let Some(purpose) = purpose(path) else { return };
    evidence.work_notes.retain(|known| known.path != path);
    let note =
        WorkNote { path: path.to_owned(), purpose, text: text.to_owned(), origin: moment.origin };
    push_latest(&mut evidence.work_notes, note, bounds::WORK_NOTES);
}

/// Keeps the error message in a prompt of several lines, which probably quotes terminal output.
pub(super) fn pasted_error(evidence: &mut Evidence, prompt: &str, moment: EntryPosition) {
    if prompt.lines().nth(1).is_none() || prompt.starts_with(['<', '#']) {
        return;
    }
    // Build tools print the number of the step and the time before each line.
    let plain = pattern!(r"(?m)^\s*(?:#\d+ )?\d+\.\d+s? +").replace_all(prompt, "");
    if let Some(message) = errors::message_of_prompt(&plain) {
        let error = moment.quote(&message, bounds::ERROR_TEXT);
        push_latest(&mut evidence.pasted_errors, error, bounds::PASTED_ERRORS);
    }
}

/// Records the verification steps of a plan in a prompt.
pub(super) fn planned_checks(evidence: &mut Evidence, prompt: &str, moment: EntryPosition) {
    if !pattern!(
        r"(?im)^(?:please )?(?:implement|execute) (?:the|this) (?:following )?plan\b|^# .*\bplan\b"
    )
    .is_match(prompt)
    {
        return;
    }
    let is_check = |heading: &String| {
        pattern!(r"(?i)^\W*(?:\d+\W+)?(?:(?:manual )?verification|verify|test plan|how to verify|manual test(?:s|ing)?)\b")
            .is_match(heading)
    };
    let items = passages(prompt).into_iter().filter(|passage| {
        matches!(passage.form, Form::Item { depth: 1, .. })
            && passage.headings.last().is_some_and(is_check)
    });
    for item in items.take(bounds::PLANNED_CHECKS) {
        let label = item.label.map_or(String::new(), |label| format!("{label}: "));
        let text = format!("{label}{}", item.text);
        evidence.planned_checks.push(moment.quote(&text, bounds::TASK));
    }
    evidence.planned_checks.truncate(bounds::PLANNED_CHECKS);
}

/// Whether fewer than [`bounds::TICKETS`] tickets are recorded, and a prompt contains a word with
/// the form of a ticket's key.
pub(super) fn awaits_ticket(evidence: &Evidence) -> bool {
    evidence.tickets.len() < bounds::TICKETS
        && evidence.prompts.iter().any(|prompt| ticket_id().is_match(&prompt.text))
}

/// Keeps the ticket that an issue tracker's answer describes, if a prompt contains its key.
pub(super) fn ticket(evidence: &mut Evidence, answer: &str) {
    let text = |key: &regex::Regex| {
        let quoted = key.captures(answer)?.get(1)?.as_str();
        serde_json::from_str::<String>(&format!("\"{quoted}\"")).ok()
    };
    let key = text(&*pattern!(r#""(?:identifier|key)"\s*:\s*"([A-Z][A-Z0-9]+-\d+)""#));
    let title = text(&*pattern!(r#""(?:title|summary)"\s*:\s*"((?:[^"\\]|\\.)*)""#));
    let (Some(key), Some(title)) = (key, title) else { return };
    let is_known = evidence.tickets.iter().any(|known| known.key == key);
    let is_named = evidence.prompts.iter().any(|prompt| {
        ticket_id().find_iter(&prompt.text).any(|id| id.as_str().eq_ignore_ascii_case(&key))
    });
    if is_known || !is_named || title.is_empty() {
        return;
    }
    let description = text(&*pattern!(r#""description"\s*:\s*"((?:[^"\\]|\\.)*)""#));
    evidence.tickets.push(Ticket {
        key,
        title: kept(&title, bounds::SUBJECT),
        description: kept(&description.unwrap_or_default(), bounds::TICKET),
    });
}

fn ticket_id() -> std::sync::Arc<regex::Regex> {
    pattern!(r"\b[A-Za-z][A-Za-z0-9]+-\d+\b")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_determine_the_purpose_of_notes() {
        use NotePurpose::{Plan, Todo};
        for (path, wanted) in [
            ("/app/.planning/todos/pending/2026-02-21-review-deferred.md", Some(Todo)),
            ("/app/TODO.md", Some(Todo)),
            ("/app/.planning/quick/013-move-bar/013-PLAN.md", Some(Plan)),
            ("/app/docs/plans/2026-01-02-cache.md", Some(Plan)),
            ("/app/.planning/todos/done/2026-02-21-review.md", None),
            ("/home/a/.claude/plans/lucky-fox.md", None),
            ("/app/.claude/worktrees/rows/TODO.md", Some(Todo)),
            ("/app/.claude/worktrees/rows/docs/plans/cache.md", Some(Plan)),
            ("/app/.claude/worktrees/rows/.claude/plans/lucky-fox.md", None),
            ("/app/.claude/TODO.md", None),
            ("/app/src/todos/list.rs", None),
            ("/app/README.md", None),
        ] {
            assert_eq!(purpose(path), wanted, "{path}");
        }
    }

    #[test]
    fn a_file_about_the_progress_is_recognised_by_its_name_or_the_prompt() {
        for (path, prompt, wanted) in [
            ("/app/docs/wip-list.md", "go on", true),
            ("/app/.planning/debug/list-is-empty.md", "", true),
            ("/app/docs/list.md", "can you write this into a markdown file for now?", true),
            ("/app/docs/list.md", "document the current state in a file", true),
            ("/app/docs/geese.md", "write a file about geese in docs", false),
            ("/app/docs/progress-bar.md", "write the page of the bar", false),
            ("/app/docs/debug/README.md", "", false),
            ("/app/docs/list.md", "write a user guide and save it as docs/list.md", false),
            ("/app/docs/cache.md", "add a cache and document it in the manual", false),
            ("/app/progress-2.md", "", true),
            ("/app/README.md", "fill in the readme", false),
            ("/app/src/wip.rs", "write this down", false),
            ("/home/a/.claude/plans/wip-list.md", "", false),
            ("/app/.claude/worktrees/rows/docs/wip-list.md", "", true),
            ("/app/.claude/worktrees/rows/.claude/wip-list.md", "", false),
        ] {
            assert_eq!(describes_progress(path, prompt), wanted, "{path} {prompt}");
        }
    }

    #[test]
    fn long_front_matter_does_not_replace_the_text_of_a_note() {
        let plan = "---\nphase: quick\nfiles:\n  - a.ts\n---\n\n<objective>\nMove it.\n";
        assert_eq!(without_front_matter(plan), "\n<objective>\nMove it.\n");
        let todo = "---\ncreated: 2026-02-22\ntitle: Move it\n---\n## Problem\n";
        assert_eq!(without_front_matter(todo), "---\ntitle: Move it\n---\n## Problem\n");
        assert_eq!(without_front_matter("# Todo\n\n---\n"), "# Todo\n\n---\n");
    }

    #[test]
    fn the_error_in_pasted_output_is_kept() {
        let moment =
            EntryPosition { origin: crate::model::transcript::Origin::default(), at: None };
        let mut evidence = Evidence::default();
        let pasted = "❯ ./run.sh\n => ERROR [3/7] RUN npm ci  158.6s\n158.5 npm error Exit handler never called!\n";
        pasted_error(&mut evidence, pasted, moment);
        pasted_error(&mut evidence, "The error: is it known?", moment);
        assert_eq!(evidence.pasted_errors.len(), 1);
        assert!(evidence.pasted_errors[0].text.ends_with("Exit handler never called!"));
    }

    #[test]
    fn a_repeated_instruction_is_not_a_pasted_error() {
        let moment =
            EntryPosition { origin: crate::model::transcript::Origin::default(), at: None };
        for (prompt, wanted) in [
            ("Sort the carts by day.\nStop if the lint failed, and do not commit.", None),
            ("Rename the page.\n- Please fix the failed test, too.", None),
            ("Rename the page.\nThe form must show an error if the name is missing.", None),
            ("Rename the page.\n2. Return an error for an invalid name", None),
            (
                "It is back:\nConnection refused, please try again.",
                Some("Connection refused, please try again."),
            ),
            ("It is back:\ncheck failed: name must be set", Some("check failed: name must be set")),
            (
                "Stop if the lint failed.\nerror: name should be set if port is set",
                Some("error: name should be set if port is set"),
            ),
            (
                "Stop if the lint failed.\nthe upload was rejected by the server",
                Some("the upload was rejected by the server"),
            ),
        ] {
            let mut evidence = Evidence::default();
            pasted_error(&mut evidence, prompt, moment);
            let found = evidence.pasted_errors.first().map(|error| error.text.as_str());
            assert_eq!(found, wanted, "{prompt}");
        }
    }

    #[test]
    fn the_checks_of_a_plan_are_kept() {
        let moment =
            EntryPosition { origin: crate::model::transcript::Origin::default(), at: None };
        let mut evidence = Evidence::default();
        let plan = "Implement the following plan:\n\n# Show the address\n\n1. Edit it\n\n## Verification\n\n1. Run an evaluation\n2. Run `bun test`\n";
        planned_checks(&mut evidence, plan, moment);
        planned_checks(&mut evidence, "## Verification\n\n1. Look", moment);
        let checks: Vec<&str> =
            evidence.planned_checks.iter().map(|check| check.text.as_str()).collect();
        assert_eq!(checks, ["Run an evaluation", "Run `bun test`"]);
    }

    #[test]
    fn a_ticket_is_kept_if_a_prompt_contains_its_key() {
        let moment =
            EntryPosition { origin: crate::model::transcript::Origin::default(), at: None };
        let prompts = vec![moment.quote("I'm working on ent-98.", 100)];
        let mut evidence = Evidence { prompts, ..Evidence::default() };
        assert!(awaits_ticket(&evidence));
        let answer = |key: &str| {
            format!(
                r#"{{"identifier":"{key}","title":"move \"help\" back","description":"Too fraught."}}"#
            )
        };
        ticket(&mut evidence, &answer("ENT-12"));
        ticket(&mut evidence, &answer("ENT-98"));
        assert_eq!(evidence.tickets.len(), 1);
        assert_eq!(evidence.tickets[0].title, "move \"help\" back");
    }
}
