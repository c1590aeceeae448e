//! Quotes the problems that the user reported after the first prompt, for example `we lost the
//! sidebar`. The report of the fix often does not repeat them.

use crate::{
    model::{
        evidence::{Evidence, Quote},
        transcript::Origin,
        wording::USER_REPORTED,
    },
    summarize::{
        evidence::FIRST_PROMPTS,
        from_evidence::{
            entries::{Entries, push},
            request::{
                typed_text::{arguments, unquoted},
                wording::begins_as_order,
            },
        },
        lists::keep_latest,
    },
    text::{pattern, spoken_sentences, without_full_stop},
};

/// Maximum number of reported problems. If there are more, the latest are kept.
const PROBLEMS: usize = 4;
/// Number of sentences at the start of a prompt that are read.
const SENTENCES: usize = 2;
/// Maximum length, in bytes, of a quoted sentence.
const SENTENCE: usize = 200;

/// Returns the problems that the user reported in later prompts, with the commit before each.
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
        push(&mut list, format!("{USER_REPORTED}\"{}\"{after}", without_full_stop(&quote)));
    }
    keep_latest(&mut list, PROBLEMS);
    list
}

/// Returns the first sentence of a prompt that reports a problem.
fn problem(entries: &Entries<'_>, prompt: &Quote) -> Option<String> {
    let own_text = unquoted(entries, prompt);
    let spoken = spoken_sentences(arguments(&own_text));
    spoken.into_iter().take(SENTENCES).find(|one| one.len() <= SENTENCE && reports_problem(one))
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
        r"(?i)^(?:(?:we|i) lost\b|something (?:broke|is broken)\b|(?:i.?m |i am |we.re )?still (?:seeing|getting|fail(?:ing|s|ed)|broken|not \w+ing)\b|(?:i|we) (?:still )?(?:do ?n.?t|can ?.?t|can ?not) (?:see|find) (?:(?:it|them|the|my|our|any|anything (?:in|on|at))\b|`)|(?:i|we) (?:can ?.?t|can ?not|still do ?n.?t|still can ?.?t|still can ?not) (?:open|load|start|run)\b)"
    );
    let is_broken = pattern!(
        r"(?i)(?:^|\band )(?:it|this|that|(?:the|my|our|all|some|those|these|pr|ci) [^,;:?]{2,60}?) (?:(?:is|are) (?:still |somehow |now |again )*(?:(?:failing|broken|crashing|hanging|gone|missing)\b|(?:still|not) there\b)|(?:still )?(?:do(?:es)?n.?t|do(?:es)? not|isn.?t|is not|aren.?t|are not) (?:work|show|load|appear|start|updat|render|open|build|compil)(?:s|ed|ing)?(?: \w+)?\W*$)"
    );
    let is_about_else = pattern!(
        r"(?i)\?\W*$|\b(?:if|unless|until|when|whenever|should|would|want|need|let.s|please|why|reason|point|anyway|any ?more)\b|\b(?:see|find) (?:how|what|where|(?:a|any|much) (?:need|use|value|way|benefit)\b)|\b(?:see|find) (?:any|anything) (?:\w+ )?(?:problem|issue|error|bug|mistake|harm|risk|wrong)s?\b|\b(?:see|find) the (?:problem|issue|error|bug|harm|risk)s?(?:\W*$| (?:with|in|here|there)\b)|\blost (?:nothing|no)\b|\blost (?:\w+ ){0,2}(?:time|minutes?|hours?|days?|weeks?)\b(?: (?:on|with|to|already|because)\b|\W*$)"
    );
    // The user says that a problem is solved.
    let is_success = pattern!(
        r"(?i)\b(?:error|exception|bug|warning|flicker|issue|problem|crash|delay|noise|duplicate)(?:s|es)? (?:\w+ ){0,6}gone\b|\bgone (?:now|finally)\b|\bthank(?:s| you)\b"
    );
    (fails.is_match(text) || is_broken.is_match(text))
        && !begins_as_order(text)
        && !is_about_else.is_match(text)
        && !is_success.is_match(text)
        && text.split_whitespace().count() >= 3
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
        ] {
            assert!(!reports_problem(sentence), "{sentence}");
        }
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
