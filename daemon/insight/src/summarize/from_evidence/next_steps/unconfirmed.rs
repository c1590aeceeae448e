//! Finds what the user still waits for at the end of a session that the agent calls done: a merge
//! that nobody made, checks of the forge that failed, and a problem that the user reported last.

use crate::{
    model::{
        evidence::{Evidence, GitStep, Quote},
        time::Timestamp,
        transcript::Origin,
    },
    report::{Topic, is_phrase},
    summarize::from_evidence::{
        entries::{Entries, push},
        errors::refuted::says_it_still_fails,
        repository::{
            branch,
            failed_checks::failed_checks,
            pull_request::{is_closed, is_main_branch, of_branch},
        },
        request::{Request, Weight},
    },
    text::{one_line, pattern, sentences, spoken_sentences},
};

/// Maximum length, in bytes, of a prompt that asks for a merge or says that something still fails.
const SHORT: usize = 300;

/// Whether the user asked to merge commits or a pull request, and the session shows no later merge.
pub(crate) fn is_unmerged(evidence: &Evidence) -> bool {
    let Some(asked) = evidence.prompts.iter().rfind(|prompt| asks_for_merge(&prompt.text)) else {
        return false;
    };
    let later = |origin: Origin, at: Option<Timestamp>| origin.is_after(at, asked.origin, asked.at);
    let merges = |step| matches!(step, GitStep::MergePullRequest | GitStep::Merge);
    let mut events = evidence.git_events.iter();
    let mut reports = evidence.reports.iter().filter(|report| later(report.origin, report.at));
    let mut prompts = evidence.prompts.iter().filter(|prompt| later(prompt.origin, prompt.at));
    let is_published = !evidence.commits.is_empty() || !evidence.pull_requests.is_empty();
    let requests = evidence.pull_requests.len();
    let are_closed = requests > 0 && (0..requests).all(|at| is_closed(evidence, at));
    is_published
        && !are_closed
        && !events
            .any(|event| event.succeeded && merges(event.step) && later(event.origin, event.at))
        && !reports.any(|report| says_merged(&report.text))
        && !prompts.any(|prompt| says_merged(&prompt.text))
}

/// Whether a text says that something was merged, and not only that it cannot or will not be
/// merged.
fn says_merged(text: &str) -> bool {
    let unmerged = pattern!(
        r"(?i)(?:\b(?:not|cannot|never|to be|(?:can|will|must|should|could|would|may) be|until|once|before|if|unless|when)\b|n['’]t\b)[^,.;]{0,40}\bmerged\b"
    );
    text.lines()
        .flat_map(sentences)
        .any(|sentence| pattern!(r"(?i)\bmerged\b").is_match(&unmerged.replace_all(sentence, "")))
}

/// Adds the merge that the user asked for, if the session shows no merge.
pub(crate) fn asked_merge(entries: &Entries<'_>, list: &mut Vec<String>) {
    let evidence = entries.evidence;
    if !is_unmerged(evidence) {
        return;
    }
    let branch = branch(evidence).filter(|branch| !is_main_branch(branch));
    let opened = evidence.pull_requests.last().and_then(|request| request.number);
    let number = opened.map(|number| number.to_string());
    let number = number.or_else(|| of_branch(evidence, branch?));
    let what = match (number, branch) {
        (Some(number), _) => format!("pull request #{number}"),
        (None, Some(branch)) => format!("`{branch}`"),
        (None, None) => return,
    };
    push(list, format!("Merge {what}, as the user asked: no merge was seen"));
}

/// Whether a short prompt asks the agent to merge the work.
fn asks_for_merge(prompt: &str) -> bool {
    let asks = |sentence: &String| {
        pattern!(
            r"(?i)(?:^|\b(?:and|then|please|you|lets|let.s|to)[, ]+)(?:merge (?:it|this|that|them|now|to (?:main|master)|(?:the |this |that )?(?:pr|pull request|branch|mr)\b|#[0-9])|get (?:it|this|that|them|all|everything)(?: all)? merged)\b|^merge[.!]*$|\band merge[.!]*$"
        )
        .is_match(sentence)
            // `Merge them into one` is about code.
            && !pattern!(r"(?i)\bmerge (?:it|this|that|them)\b[^,.;]{0,20}? (?:into (?:one|an?)\b|(?:into|with) (?:(?:the )?(?:same|first|second|other|existing)|each other)\b|(?:in|into|with) `?[\w/-]+\.[a-z]{1,5}\b)")
                .is_match(sentence)
            && !pattern!(r"(?i)\b(?:don.t|do not|not|before|after|when|once|if|until|conflicts?|squash into|main into|master into)\b|\?$")
                .is_match(sentence)
    };
    prompt.len() <= SHORT && spoken_sentences(&one_line(prompt)).iter().any(asks)
}

/// Whether it is doubtful that the work has the wanted effect: the checks of the forge failed when
/// they were last seen, or the user reported last that something still fails.
pub(crate) fn is_doubtful(evidence: &Evidence) -> bool {
    failed_checks(evidence).is_some() || still_failed(evidence)
}

/// Whether the user's last prompt about the work says that something still fails, and since then no
/// test passed and no check of the forge was seen.
fn still_failed(evidence: &Evidence) -> bool {
    let speaks = |prompt: &&Quote| {
        Request::of(&prompt.text).is_some_and(|request| request.weight != Weight::Routine)
            || says_it_still_fails(&prompt.text)
    };
    let Some(last) = evidence.prompts.iter().rfind(speaks) else { return false };
    let passed =
        evidence.tests.iter().any(|run| run.failed == 0 && run.origin.follows(last.origin));
    let seen =
        evidence.checkout.checks.as_ref().is_some_and(|checks| checks.origin.follows(last.origin));
    complains(&last.text) && !passed && !seen
}

fn complains(prompt: &str) -> bool {
    let first = spoken_sentences(&one_line(prompt));
    prompt.len() <= SHORT
        && (says_it_still_fails(prompt)
            || first.iter().any(|sentence| {
                is_phrase(Topic::StillFails, sentence)
                    && pattern!(r"(?i)\bstill\b").is_match(sentence)
                    && !sentence.ends_with('?')
            }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::{evidence::PullRequest, transcript::Outcome},
        report::Reports,
        summarize::evidence::scenarios::Script,
    };

    #[test]
    fn a_requested_merge_that_was_not_made_is_found() {
        for (prompt, wanted) in [
            ("ok push all this up and lets get it merged.", true),
            ("merge it", true),
            ("please merge the PR", true),
            ("push it and merge", true),
            ("don't merge it yet", false),
            ("resolve merge conflicts and if no issues merge", false),
            ("should we merge it?", false),
            ("there are two helpers for dates in login.rs, please merge them into one", false),
            ("merge this into utils.rs", false),
            ("please merge them with the existing helper", false),
            ("merge it into main", true),
            ("merge this into release/1.2", true),
            ("merge it with a squash commit", true),
        ] {
            assert_eq!(asks_for_merge(prompt), wanted, "{prompt}");
        }
        for (text, wanted) in [
            ("The pull request cannot be merged yet, because a review is required.", false),
            ("#12 is not merged.", false),
            ("It isn’t merged yet.", false),
            ("Once it is merged, I tag it.", false),
            ("It can be merged.", false),
            ("Merged #12. The release is not tagged yet.", true),
            ("The pull request is merged.", true),
            ("I merged it, but the branch is not deleted.", true),
        ] {
            assert_eq!(says_merged(text), wanted, "{text}");
        }
        let mut script = Script::default();
        script.prompt("Add a guide");
        script.run("a", "git commit -qam Guide", Outcome::Succeeded, "[guide 1a2b3c4] Guide\n");
        script.reply("m1", "The guide is there.");
        script.prompt("ok push all this up and lets get it merged.");
        script.reply("m2", "The commit is in the pull request.");
        assert!(is_unmerged(&script.collect()));
        let evidence = script.collect();
        let reports = Reports::default();
        let mut open = Vec::new();
        asked_merge(&Entries { evidence: &evidence, reports: &reports, project: None }, &mut open);
        assert_eq!(open, ["Merge `guide`, as the user asked: no merge was seen"]);
        script.run("c", "gh pr close 6", Outcome::Succeeded, "✓ Closed pull request #6\n");
        assert!(is_unmerged(&script.collect()), "another pull request was closed");
        let mut closed = script.collect();
        closed.pull_requests = vec![PullRequest { url: "x/6".to_owned(), number: Some(6) }];
        assert!(!is_unmerged(&closed));
        script.run("b", "gh pr merge 7", Outcome::Succeeded, "✓ Merged pull request #7\n");
        let mut evidence = script.collect();
        assert!(!is_unmerged(&evidence));
        let merge = evidence.git_events.last_mut().unwrap();
        (merge.origin.source, merge.at) = (1, Some(Timestamp::from_seconds(2_000_000_000)));
        assert!(!is_unmerged(&evidence), "a sub-agent merged");
    }

    #[test]
    fn a_problem_that_the_user_reported_last_is_open_until_something_passes() {
        let mut script = Script::default();
        script.prompt("Mend the browser tests");
        script.reply("m1", "Mended.");
        script.prompt("still failing e2e");
        script.edit("a", "/app/a.ts", "a", "b");
        script.reply("m2", "Fixed the selector.");
        assert!(still_failed(&script.collect()));
        script.run(
            "b",
            "cargo test",
            Outcome::Succeeded,
            "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n",
        );
        assert!(!still_failed(&script.collect()));
    }
}
