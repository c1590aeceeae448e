//! Quotes the problems that the user reported after the first prompt, for example `we lost the
//! sidebar`. The report of the fix often does not repeat them.

use crate::{
    model::{
        evidence::{Evidence, Quote, StatementKind},
        transcript::Origin,
        wording::USER_REPORTED,
    },
    summarize::{
        evidence::FIRST_PROMPTS,
        from_evidence::{
            entries::{Entries, is_outside_project, push},
            request::{
                typed_text::{arguments, unquoted},
                wording::begins_as_order,
            },
            turns::turn_of,
        },
        lists::keep_latest,
    },
    text::{pattern, spoken_sentences, without_full_stop},
};

/// Maximum number of reported problems. If there are more, the latest are kept.
const PROBLEMS: usize = 4;
/// Number of sentences at the start of a prompt that are read.
const SENTENCES: usize = 2;
/// Maximum number of files that are listed as changed after a problem.
const FIXED_FILES: usize = 2;
/// Maximum length, in bytes, of a quoted sentence.
const SENTENCE: usize = 200;

/// Returns the problems that the user reported in later prompts, each with the last commit of the
/// turn before it, and with its cause and the changed files if the agent stated a cause.
pub(super) fn reported_problems(entries: &Entries<'_>) -> Vec<String> {
    let evidence = entries.evidence;
    let mut list = Vec::new();
    if evidence.is_instructed {
        return list;
    }
    for prompt in evidence.prompts.iter().skip(1) {
        let Some(problem) = problem(entries, prompt) else { continue };
        let after = commit_before(evidence, prompt.origin)
            .map_or(String::new(), |hash| format!(" (after commit `{hash}`)"));
        let quote = entries.tidy_line(&problem);
        let answer = answer(entries, prompt.origin);
        push(&mut list, format!("{USER_REPORTED}\"{}\"{after}{answer}", without_full_stop(&quote)));
    }
    keep_latest(&mut list, PROBLEMS);
    list
}

/// Whether a prompt reports a problem.
pub(super) fn is_complaint(entries: &Entries<'_>, prompt: &Quote) -> bool {
    problem(entries, prompt).is_some()
}

/// Returns the first sentence of a prompt that reports a problem. After the agent reported changes,
/// a sentence that only finds fault with something counts, too.
fn problem(entries: &Entries<'_>, prompt: &Quote) -> Option<String> {
    let own_text = unquoted(entries, prompt);
    let spoken = spoken_sentences(arguments(&own_text));
    let mut reports = entries.reports.reports.iter();
    let is_after_work =
        reports.any(|report| report.changed && prompt.origin.follows(report.origin));
    spoken.into_iter().take(SENTENCES).find(|one| {
        one.len() <= SENTENCE && (reports_problem(one) || is_after_work && finds_fault(one))
    })
}

/// Returns the cause that the agent stated in the turn of a problem before it changed a file, and
/// the files that it changed last, as ` (cause: …; changed after it: …)`. Empty if no cause was
/// stated.
fn answer(entries: &Entries<'_>, at: Origin) -> String {
    let evidence = entries.evidence;
    let Some(turn) = turn_of(evidence, at) else { return String::new() };
    let changed = evidence
        .changed_files()
        .filter(|(path, work)| turn.holds(work.last) && !is_outside_project(evidence, path));
    let mut changed: Vec<_> = changed.collect();
    changed.sort_by_key(|(_, work)| std::cmp::Reverse(work.last.line));
    let last = changed.first().map_or(0, |(_, work)| work.last.line);
    let causes = entries.statements(StatementKind::Cause);
    let cause = causes.filter(|one| turn.holds(one.origin) && one.origin.line < last).last();
    let Some(cause) = cause.map(|one| entries.cause(&one.text)) else { return String::new() };
    let names = changed.iter().take(FIXED_FILES).map(|(path, _)| entries.path(path));
    let names: Vec<String> = names.map(|path| format!("`{path}`")).collect();
    format!(" (cause: {cause}; changed after it: {})", names.join(", "))
}

/// Returns the short hash of the last commit of the previous turn.
fn commit_before(evidence: &Evidence, at: Origin) -> Option<&str> {
    let previous = evidence.prompts.iter().rposition(|prompt| at.follows(prompt.origin))?;
    // The prompts after the first ones may be left out, so the previous turn is not known.
    if evidence.prompts_left_out > 0 && previous + 1 == FIRST_PROMPTS {
        return None;
    }
    let previous = evidence.prompts[previous].origin;
    let of_turn = |origin: Origin| at.follows(origin) && origin.follows(previous);
    let commit = evidence.commits.iter().rfind(|commit| of_turn(commit.origin))?;
    Some(&commit.hash)
}

/// Whether the user says in a sentence that something does not work. Questions, orders and
/// conditions do not count.
fn reports_problem(sentence: &str) -> bool {
    let opener = pattern!(
        r"(?i)^(?:(?:hm+|oh no|oh|nope|no|ok|okay|so|and|but|well|ah|uh+m*|hey|ugh|wait|sorry|unfortunately|now)\b[,.!:]* *)*"
    );
    let start = opener.find(sentence).map_or(0, |found| found.end());
    let text = &sentence[start..];
    let fails = pattern!(
        r"(?i)^(?:(?:we|i) lost\b|something (?:broke|is broken)\b|(?:i.?m |i am |we.re )?still (?:seeing|getting|fail(?:ing|s|ed)|broken|not \w+ing)\b|(?:i|we) (?:still )?(?:do ?n.?t|can ?.?t|can ?not) (?:see|find) (?:(?:it|them|the|my|our|any|anything (?:in|on|at))\b|`)|(?:i|we) (?:can ?.?t|can ?not|still do ?n.?t|still can ?.?t|still can ?not) (?:open|load|start|run|close|click|scroll|hear|play)\b|(?:it )?turns out (?:that )?[^,;:?]{2,60}? (?:did|does|do|is|was)(?: ?n.?t| not) (?:work|help|supported|exist)\b)"
    );
    let is_broken = pattern!(
        r"(?i)(?:^|\band )(?:it|this|that|(?:the|my|our|all|some|those|these|pr|ci) [^,;:?]{2,60}?) (?:(?:is|are) (?:still |somehow |now |again )*(?:(?:failing|broken|crashing|hanging|gone|missing)\b|(?:still|not) there\b)|(?:still )?(?:do(?:es)?n.?t|do(?:es)? not|isn.?t|is not|aren.?t|are not) (?:work|show|load|appear|start|updat|render|open|build|compil)(?:s|ed|ing)?(?: \w+)?(?: (?:anymore|any more|again|now|either|at all))?(?: (?:in|on|with|after) [\w .-]{2,30})?\W*$)"
    );
    let is_about_else = pattern!(
        r"(?i)\?\W*$|\b(?:if|unless|until|when|whenever|should|would|want|need|let.s|please|why|reason|point|anyway)\b|\b(?:see|find) any ?more\b|\bin (?:theory|practice|that case|this case)\b|\b(?:see|find) (?:how|what|where|(?:a|any|much) (?:need|use|value|way|benefit)\b)|\b(?:see|find) (?:any|anything) (?:\w+ )?(?:problem|issue|error|bug|mistake|harm|risk|wrong)s?\b|\b(?:see|find) the (?:problem|issue|error|bug|harm|risk)s?(?:\W*$| (?:with|in|here|there)\b)|\blost (?:nothing|no)\b|\blost (?:\w+ ){0,2}(?:time|minutes?|hours?|days?|weeks?)\b(?: (?:on|with|to|already|because)\b|\W*$)"
    );
    // The user says that a problem is solved.
    let is_success = pattern!(
        r"(?i)\b(?:error|exception|bug|warning|flicker|issue|problem|crash|delay|noise|duplicate)(?:s|es)? (?:(?:\w+ ){0,6}gone\b|(?:(?:is|are) not|(?:is|are)n.t) (?:there|visible|shown) any ?more\b)|\bgone (?:now|finally)\b|\bthank(?:s| you)\b"
    );
    // `I don't see it anymore` may say that a problem is solved, too.
    let is_no_longer_seen = pattern!(
        r"(?i)\b(?:see|find|get|hear) (?:(?:it|them|that|this)|(?:the|an?|any|that|this|those|these|my) (?:[\w-]+ ){0,3}(?:error|exception|bug|warning|flicker|issue|problem|crash|delay|noise|duplicate)(?:s|es)?) any ?more\b|\b(?:it|(?:error|exception|bug|warning|flicker|issue|problem|crash|delay|noise|duplicate)(?:s|es)?) (?:does ?n.?t|do ?n.?t|does not|do not) (?:appear|show|happen|occur)(?: up)? any ?more\b"
    );
    (fails.is_match(text) || is_broken.is_match(text))
        && !begins_as_order(text)
        && !is_about_else.is_match(text)
        && !is_success.is_match(text)
        && !is_no_longer_seen.is_match(text)
        && text.split_whitespace().count() >= 3
}

/// Whether the user finds fault with a result, for example `The pictures are not relevant to the
/// recipes` or `all rows now look the same`. Before any work, such a sentence describes the present
/// state or a wish.
fn finds_fault(sentence: &str) -> bool {
    let text = pattern!(
        r"(?i)^(?:(?:hm+|oh no|oh|nope|no|ok|okay|so|and|but|well|wait|unfortunately|now)\b[,.!:]* *)*"
    )
    .replace(sentence, "");
    let is_fault = pattern!(
        r"(?i)^(?:the|my|our|these|those|some|all)(?: [\w'’-]+){1,4} (?:is|are|was|were)(?: ?n.?t| not) (?:quite |really )?(?:relevant|related|readable|visible|aligned|clickable|cent(?:er|r)ed|supported)\b|^(?:all|every|both)(?: of)?(?: [\w'’-]+){1,4} (?:now )?(?:looks?|sounds?|reads?|behaves?)(?: now)?(?: exactly| all)? the same\W*$|^(?:it|this|that)(?: still)? (?:does ?n.?t|does not) (?:look|sound|feel) (?:quite |really |very )*(?:like|right|good)\b|^[\w'’ -]{3,60} (?:was|were)(?: ?n.?t| not) supported\b"
    );
    let is_about_else = pattern!(
        r"(?i)\?\W*$|\b(?:if|unless|until|when|whenever|should|would|because|so that|anyway|fine|ok|okay)\b"
    );
    is_fault.is_match(&text) && !is_about_else.is_match(&text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::transcript::Outcome, report::Reports, summarize::evidence::scenarios::Script,
    };

    #[test]
    fn a_sentence_that_says_that_something_fails_reports_a_problem() {
        for sentence in [
            "Oh no, we lost the sidebar of the list somehow :(",
            "still failing e2e",
            "nope I don't see it in the editor.",
            "hmmm, still seeing the old name in the top bar.",
            "I just ran it and the warnings are still there.",
            "The redirect doesn't work :(",
            "hmm, the docs branch is somehow failing",
            "the sidebar of the list is gone",
            "the page is still not there",
            "I can't find any rows in the new list",
            "we still can't open the page of the shop",
            "we lost two days of rows in the list",
            "I cannot close the page of a row.",
            "turns out http2 didnt work.",
            "turns out the cache does not help",
            "The search doesn't work anymore.",
            "The search doesn't work any more.",
            "The search does not work in Safari.",
            "The login doesn't work on mobile",
            "I don't see the list anymore",
            "The list does not show any more.",
            "I can't find the button anymore",
        ] {
            assert!(reports_problem(sentence), "{sentence}");
        }
        for sentence in [
            "I don't see why we need it",
            "I can't find a reason to keep it",
            "does the list not load?",
            "fix the test that is still failing",
            "if the build is failing, stop",
            "the list should not load all rows",
            "The rows are not sorted, please sort them",
            "we lost nothing, so no need to restore it",
            "it does not work that way, I want one row",
            "The error is gone.",
            "ok the flicker is gone now, thanks",
            "it is there now",
            "All the pieces are there.",
            "I don't see any problem with that.",
            "I can't see anything wrong here, merge it",
            "We don't run migrations in CI.",
            "We don't load plugins at startup.",
            "We lost two days on this already.",
            "turns out the cache works",
            "it turns out we do not need the cache",
            "I can't close the issue until the release is out",
            "we don't need the search anymore",
            "The warning is not there anymore.",
            "We can't find any more places for it",
            "I don't see the error anymore.",
            "I don't see it anymore.",
            "The error doesn't appear anymore.",
            "The warning does not show any more.",
            "I can't find the bug anymore",
            "it doesn't work for me to use the old name",
            "The cache does not work in theory only, look at the figures",
        ] {
            assert!(!reports_problem(sentence), "{sentence}");
        }
    }

    #[test]
    fn a_fault_of_a_result_is_distinguished_from_wishes() {
        for sentence in [
            "The pictures are not relevant to the recipes.",
            "all of the rows now look the same",
            "it doesn't sound quite like music.",
            "http version parameter wasnt supported on our client.",
        ] {
            assert!(finds_fault(sentence), "{sentence}");
        }
        for sentence in [
            "The pictures are not relevant for now, so skip them if they fail.",
            "all rows should look the same",
            "are the rows the same?",
            "it doesn't look like we need it, that is fine",
            "The old rows are not visible because the filter hides them",
            "all of the files have the same header",
        ] {
            assert!(!finds_fault(sentence), "{sentence}");
        }
    }

    #[test]
    fn a_reported_problem_has_its_cause_and_the_changed_files() {
        let problems = |complaint: &str| {
            let mut script = Script::default();
            script.prompt("Write a page with recipes");
            script.edit("a", "/app/list.js", "a", "b");
            script.reply("m1", "The page is written, with a dialog for each recipe.");
            script.prompt(complaint);
            script.reply(
                "m2",
                "The close button exists in the HTML but has no click listener. I need to add it.",
            );
            script.edit("b", "/app/dialog.js", "a", "b");
            script.reply("m3", "Fixed. The button closes the dialog now.");
            let (evidence, reports) = (script.collect(), Reports::default());
            let entries = Entries { evidence: &evidence, reports: &reports, project: None };
            reported_problems(&entries)
        };
        assert_eq!(
            problems("I cannot close the dialog."),
            [
                "User reported: \"I cannot close the dialog\" (cause: The close button exists in the HTML but has no click listener; changed after it: `/app/dialog.js`)"
            ]
        );
        assert_eq!(problems("Close the dialog with a key."), Vec::<String>::new());
    }

    #[test]
    fn a_reported_problem_is_quoted_with_the_commit_before_it() {
        let mut script = Script::default();
        script.prompt("The list does not load. Fix it.");
        script.edit("a", "/app/list.ts", "a", "b");
        script.run("b", "git commit -qam Load", Outcome::Succeeded, "[main 1a2b3c4] Load\n");
        script.reply("m1", "Fixed the list.");
        script.prompt("we lost the sidebar :(");
        script.reply("m2", "Restored the sidebar.");
        let (evidence, reports) = (script.collect(), Reports::default());
        let entries = Entries { evidence: &evidence, reports: &reports, project: None };
        assert_eq!(
            reported_problems(&entries),
            ["User reported: \"we lost the sidebar :(\" (after commit `1a2b3c4`)"]
        );
    }

    #[test]
    fn a_commit_of_a_prompt_that_was_left_out_is_not_named() {
        let mut script = Script::default();
        let kept_first = 16;
        for turn in 0..30 {
            script.prompt(&match turn == kept_first {
                true => "we lost the sidebar :(".to_owned(),
                false => format!("Add the list number {turn}"),
            });
            if turn == 12 {
                script.run(
                    "b",
                    "git commit -qam Load",
                    Outcome::Succeeded,
                    "[main 1a2b3c4] Load\n",
                );
            }
            script.reply(&format!("m{turn}"), "Done.");
        }
        let (evidence, reports) = (script.collect(), Reports::default());
        assert_eq!((evidence.prompts.len(), evidence.commits.len()), (24, 1));
        let entries = Entries { evidence: &evidence, reports: &reports, project: None };
        assert_eq!(reported_problems(&entries), ["User reported: \"we lost the sidebar :(\""]);
    }
}
