//! Finds the pull request that the session continued, and the pull requests that were merged.

use crate::{
    model::evidence::{Evidence, GitEvent, GitStep, Quote},
    text::{one_line, pattern, sentences, spoken_sentences},
};

/// Maximum length, in bytes, of a prompt in which the user says that a pull request is merged.
const TYPED: usize = 300;

/// Whether the pull request at the index `at` of the evidence was merged: the output of git or of
/// the forge shows the merge, or the user or a report states it.
pub(crate) fn is_merged(evidence: &Evidence, at: usize) -> bool {
    let number = evidence.pull_requests.get(at).and_then(|request| request.number);
    number.is_some_and(|number| {
        evidence.checkout.merged.contains(&number)
            || evidence.reports.iter().any(|report| says_merged(&one_line(&report.text), number))
    }) || evidence.prompts.iter().any(|prompt| is_merged_by_user(evidence, prompt, at, number))
}

/// Whether the session closed the pull request at the index `at` without a merge.
pub(crate) fn is_closed(evidence: &Evidence, at: usize) -> bool {
    let number = evidence.pull_requests.get(at).and_then(|request| request.number);
    number.is_some_and(|number| evidence.checkout.closed.contains(&number))
}

/// Whether all pull requests that a line names were closed by the session without a merge, and the
/// line does not say so.
pub(crate) fn names_closed(evidence: &Evidence, line: &str) -> bool {
    let closed = &evidence.checkout.closed;
    let number = pattern!(r"(?:#|!|/pull/|/merge_requests/)([0-9]{1,7})\b");
    if closed.is_empty() || pattern!(r"(?i)\b(?:re-?open|closed)").is_match(line) {
        return false;
    }
    let mut named = number.captures_iter(line).peekable();
    named.peek().is_some()
        && named.all(|found| found[1].parse().is_ok_and(|number| closed.contains(&number)))
}

/// Whether a text says in one sentence that the pull request with this number is merged.
fn says_merged(text: &str, number: u64) -> bool {
    let named = format!("#{number}");
    let says = |sentence: &str| {
        // In `#12 is open, #1 is merged`, the first occurrence of `#1` belongs to another number.
        let mut behind =
            sentence.match_indices(&named).map(|(at, _)| &sentence[at + named.len()..]);
        let merged = pattern!(
            r"(?i)^\W{0,4}(?:\([^()]{1,80}\) )?(?:(?:is|was|has|have|been|got|just|already|now|also) )*merged\b"
        );
        behind.any(|behind| merged.is_match(behind))
            && !pattern!(
                r"(?i)\b(?:once|when|after|if|until|unless|before|not|isn.t|will|yet|to be)\b"
            )
            .is_match(sentence)
    };
    text.contains(&named) && sentences(text).into_iter().any(says)
}

/// Whether a prompt says that the pull request is merged. The prompt must contain the number, or
/// the pull request must be the last one before the prompt.
fn is_merged_by_user(evidence: &Evidence, prompt: &Quote, at: usize, number: Option<u64>) -> bool {
    if prompt.text.len() > TYPED {
        return false;
    }
    let is_opened = |event: &&GitEvent| event.step == GitStep::OpenPullRequest && event.succeeded;
    let opened = evidence.git_events.iter().filter(is_opened);
    let known_before = evidence.pull_requests.len().saturating_sub(opened.clone().count());
    let is_before = |event: &&GitEvent| prompt.origin.is_after(prompt.at, event.origin, event.at);
    let before = opened.filter(is_before).count();
    let is_last = known_before + before == at + 1;
    spoken_sentences(&one_line(&prompt.text)).iter().any(|sentence| {
        let named = number.is_some_and(|number| says_merged(sentence, number));
        named || is_last && sentence_states_merge(sentence)
    })
}

/// Whether the user says in a short prompt that the work is merged.
pub(crate) fn states_merge(prompt: &str) -> bool {
    prompt.len() <= TYPED
        && spoken_sentences(&one_line(prompt)).iter().any(|one| sentence_states_merge(one))
}

fn sentence_states_merge(sentence: &str) -> bool {
    pattern!(
        r"(?i)^(?:(?:ok(?:ay)?|done|great|cool|nice|yes|yep|alright|right|thanks|so|and|now|just|i|i.ve|have|it|it.s|its|that|that.s|the|pr|pr.s|pull request|is|was|has|been|got|both|all|already)[,.!:]* )*merged(?:$|\W*[,.;:!)–—-]| (?:#[0-9]|(?:it|that|this|them|and|but|so|(?:the|my|your|our|that|this) (?:other |first |last |new )?(?:prs?|pull requests?|branch|mr|changes?|fix)|pr|pull|to|into|in|already|now|by|both|all|manually|myself|yesterday|today|just|via|from|on|at|with|as|you|please|can)\b))[^?]*$"
    )
    .is_match(sentence)
        // `I merged main into it` brings in the commits of another branch.
        && !pattern!(r"(?i)\bmerged (?:(?:in )?(?:the )?(?:main|master|develop|trunk|upstream)\b|\S+ in(?:to)?\b)")
            .is_match(sentence)
}

/// Whether finished work is merged into a branch with this name.
pub(crate) fn is_main_branch(name: &str) -> bool {
    matches!(name, "main" | "master" | "develop" | "trunk")
}

/// Returns the number of an earlier pull request for the work on `branch`: the only number in the
/// `gh` commands of the session, if the session pushed and opened no pull request.
pub(crate) fn of_branch(evidence: &Evidence, branch: &str) -> Option<String> {
    let has_pushed =
        evidence.git_events.iter().any(|event| event.step == GitStep::Push && event.succeeded);
    if is_main_branch(branch) || !has_pushed || !evidence.pull_requests.is_empty() {
        return None;
    }
    let named = pattern!(
        r"\bgh (?:pr (?:checks|view|merge|edit|ready|comment) #?|api \S*/pulls/)([0-9]+)\b"
    );
    let own = evidence.commands.iter().filter(|run| run.origin.source == 0);
    let mut numbers = own.filter_map(|run| Some(named.captures(&run.command)?[1].to_owned()));
    let first = numbers.next()?;
    numbers.all(|number| number == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::transcript::{Origin, Outcome},
        summarize::evidence::scenarios::Script,
    };

    #[test]
    fn a_number_within_a_longer_number_is_another_pull_request() {
        assert!(says_merged("#12 is open, #1 is merged.", 1));
        assert!(!says_merged("#12 is merged, #1 is open.", 1));
    }

    #[test]
    fn a_merge_of_the_main_branch_is_not_the_end_of_the_work() {
        for prompt in [
            "ok, merged",
            "its merged, pull main",
            "merged #12, go on",
            "the PR is merged now",
            "I merged it yesterday. next one",
            "I've merged the other PR but we now have some merge issues.",
        ] {
            assert!(states_merge(prompt), "{prompt}");
        }
        for prompt in [
            "I merged main into it",
            "merged main in, please fix the conflicts",
            "the merged cells lose their border in the export",
            "it merged the wrong rows",
            "the merged file is empty",
        ] {
            assert!(!states_merge(prompt), "{prompt}");
        }
    }

    #[test]
    fn the_history_the_user_or_a_report_shows_a_merge() {
        let merged = |prompt: &str, reply: &str, history: &'static str| {
            let mut script = Script::default();
            script.prompt("Sort the list and open a pull request");
            script.run(
                "a",
                "gh pr create --fill",
                Outcome::Succeeded,
                "https://x.org/a/b/pull/12\n",
            );
            script.reply("m1", "Opened #12.");
            script.at += 10;
            script.prompt(prompt);
            script.run("b", "git log --oneline -1", Outcome::Succeeded, history);
            script.reply("m2", reply);
            let mut evidence = script.collect();
            let is_merged_by_own = is_merged(&evidence, 0);
            // A sub-agent may open the pull request, and its transcript may be longer.
            evidence.git_events[0].origin = Origin { source: 1, line: 90 };
            assert_eq!(is_merged(&evidence, 0), is_merged_by_own);
            is_merged_by_own
        };
        assert!(merged("ok, merged. can we tag it please?", "Tagged.", ""));
        assert!(merged("tag it", "PR #12 is already merged, so I tagged it.", ""));
        assert!(merged("tag it", "Tagged.", "1a2b3c4 Merge pull request #12 from a/b\n"));
        assert!(!merged("is it merged?", "No. Once #12 is merged, I tag it.", "1a2b3c4 Sort\n"));
        assert!(!merged("tag it once merged", "#12 is not merged yet.", ""));
    }
}
