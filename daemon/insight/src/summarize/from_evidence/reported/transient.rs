//! Recognises statements of the agent that are left out, such as praise of the result, plans, and
//! descriptions of a state that later work changed.

use crate::{
    model::{evidence::Evidence, transcript::Origin},
    report::{Topic, is_phrase, topic_of_sentence},
    summarize::from_evidence::checks::{self, test_results},
    text::pattern,
};

/// A text without code states what was done only if it has at least this number of words.
const DEED: usize = 12;

/// Whether a text praises the result without stating what was done.
pub(crate) fn is_boast(text: &str) -> bool {
    let names_deed = topic_of_sentence(text) == Some(Topic::Done)
        && (text.contains('`') || text.split_whitespace().count() >= DEED);
    is_phrase(Topic::Boast, text) && !names_deed
        || pattern!(r"(?i)^i(?:'ve| have) (?:successfully )?(?:created|built|implemented|designed|developed|found) (?:an?|the) (?:\w+ )?solution\b")
            .is_match(text)
}

/// Whether a text at `at` describes a state, and something was done or failed since then.
pub(crate) fn is_past_state(evidence: &Evidence, text: &str, at: Origin) -> bool {
    is_phrase(Topic::Status, text) && was_followed(evidence, at)
}

/// Rewords a problem in the report of a turn with changes: `The issue: …` becomes
/// `The issue before the change: …`.
pub(crate) fn as_it_was_before(sentence: &str) -> String {
    pattern!(r"^(?i:the |this )?(?:(?i:actual|real|main|core) )?((?i:issue|problem|bug))(?:(?i: is that| was that)|:) ")
        .replace(sentence, |found: &regex::Captures<'_>| {
            format!("The {} before the change: ", found[1].to_lowercase())
        })
        .into_owned()
}

/// Whether a sentence leaves a decision to the user, for example `either is fine, your call`. The
/// next prompt contains the decision.
pub(crate) fn leaves_decision(text: &str) -> bool {
    pattern!(r"(?i)\b(?:your (?:call|choice|decision)|up to you|you decide|let me know (?:which|whether|what|how|if))\b")
        .is_match(text)
}

/// Whether a text says what the agent would do next. If other reports follow, the user has already
/// decided about this plan.
pub(crate) fn plans_ahead(text: &str) -> bool {
    is_phrase(Topic::PlanAhead, text)
}

/// Whether a text states the next step or a possibility rather than a decision, for example
/// `Build the reader next` or `Can read the pages`.
pub(crate) fn is_next_step(decision: &str) -> bool {
    pattern!(r"(?i)^(?:do|build|start|tackle|write|add|use|using) .{3,60} next$|^using the next step\b|^adding .*\bbefore i (?:try|run|test)\b|^(?:can|could|might|may) [^?]*$")
        .is_match(decision)
}

/// Whether a text is a line from the head of a document, such as its date.
pub(crate) fn is_metadata(text: &str) -> bool {
    pattern!(r"(?i)^(?:date|logged|created|written|(?:last )?updated|author|version|branch): \S{1,16}(?: \S{1,8})?(?:; status: [\w ]{1,20})?$|^(?:assignee|priority|severity|labels?): [\w#@ /-]{1,24}(?:, \w+: [\w#@ /-]{1,24})*\.?$|^reporter: |^status: (?:in progress|done|completed?|draft|wip|open|active)\W*$")
        .is_match(text)
}

/// Whether a text claims that something works now or will work.
pub(crate) fn claims_success(text: &str) -> bool {
    pattern!(r"(?i)\b(?:successfully|correctly|resolves|(?:is|are|with|now|all|been) (?:now )?(?:fixed|resolved)|now (?:works?|loads?|serves?|passes)|(?:will|should|can) now|will (?:be able|load|work|serve))\b|^everything\b")
        .is_match(text)
}

/// Whether a text claims in general terms that the work succeeded, for example `I've solved the
/// problem of the sounds` or `Everything works`.
pub(crate) fn claims_general_success(text: &str) -> bool {
    pattern!(r"(?i)^everything\b.{0,40}\b(?:works?|done|in place|ready|working)\b|\b(?:i|we)(?:['\u{2019}]ve| have)? (?:now |just |finally |successfully )?solved\b|\b(?:problem|issue|bug)s?(?: is| are| has been| have been)?(?: now)? (?:solved|fixed|resolved)\b|\bnow \w+ (?:completely|dramatically|truly|entirely|distinctly) |\b(?:works?|working)(?: now| fine| well| great| as (?:expected|intended|requested|you (?:asked|wanted)))\W*$")
        .is_match(text)
}

/// Whether a text says what should or will happen, for example `The build will install the
/// browsers`.
pub(crate) fn promises(text: &str) -> bool {
    let says_otherwise = pattern!(
        r"(?i)\b(?:should|will) (?:not|have|need|stop|fail|break|lose)\b|\b(?:should|will)n['\u{2019}]t\b"
    );
    !says_otherwise.is_match(text)
        && pattern!(r"(?i)^(?:the|this|it|they|everything|users?|`?[\w.]+`?['\u{2019}]s)\b[^.,;:()\u{2013}\u{2014}]{0,60}\b(?:should|will) (?:now |also |then |automatically )*[a-z]+")
        .is_match(text)
}

/// Whether a text praises finished work although the last build or test run of the session failed.
pub(crate) fn is_refuted_success(evidence: &Evidence, text: &str) -> bool {
    pattern!(r"(?i)\b(?:successfully|fully[- ](?:functional|working|implemented)|production[- ]ready|everything (?:works|is working))\b")
        .is_match(text)
        && (checks::failing_build(evidence).is_some()
            || !test_results::failing_runs(evidence).is_empty())
}

/// Whether a text claims an effect in numbers, such as `reduces the tokens from 500 to 3`, in a
/// session that measured nothing.
pub(crate) fn is_unmeasured_effect(evidence: &Evidence, text: &str) -> bool {
    claims_effect(text) && !measures(evidence)
}

/// Whether a text claims an effect in numbers.
pub(crate) fn claims_effect(text: &str) -> bool {
    pattern!(r"(?i)\b(?:reduc(?:es|ed|ing)|cut(?:s|ting)|sav(?:es|ed|ing)|improv(?:es|ed|ing)|shrinks|shrank|speeds|sped) .{0,60}?(?:\bfrom ~?\d[\d.,]*\S* .{0,24}?\bto ~?\d|\bby ~?\d[\d.,]* ?(?:%|x\b|×)|~?\d[\d.,]* ?(?:%|×))|\b\d[\d.,]* ?(?:%|x|×) (?:faster|slower|smaller|less|fewer|cheaper|reduction|speed-?up|improvement)\b")
        .is_match(text)
}

/// Whether a command of the session measures something.
fn measures(evidence: &Evidence) -> bool {
    evidence.commands.iter().any(|run| {
        pattern!(r"(?i)bench|hyperfine|\btime \S|\bwc\b|\bdu -|\bperf\b|lighthouse|measur|profil|tokens?\b|k6\b|\bab -|wrk\b|coverage|size")
            .is_match(&run.command)
    })
}

/// Whether a text says only that tests or other checks ran, passed or were not run. The summary
/// lists the runs anyway.
pub(crate) fn is_run_of_checks(part: &str) -> bool {
    pattern!(r"(?i)^(?:all )?\d+(?:/\d+)? (?:[\w-]+ ){0,2}tests? (?:now )?pass|^no (?:\w+ ){0,2}(?:tests?|suite) (?:(?:was|were) )?run\b(?:[;.] ?[^`.;:]{0,24})?\.?$")
        .is_match(part)
        || pattern!(r"(?i)^all (?:the )?(?:tests?|lint(?:ing|er)?|checks?|formatting)\b[^`:]{0,50}\b(?:pass(?:es|ed|ing)?|clean(?:ly)?)\b[^`:]{0,12}$")
            .is_match(part)
        || pattern!(r"(?i)^(?:i )?(?:verif(?:ied|ication)|validat(?:ed|ion))\b[^:]{0,24}:? (?:run:? |with )?`[^`]+`(?:,? (?:and )?`[^`]+`)* (?:pass(?:es|ed)?|succe\w+|ran|is|are) ?(?:clean|green|cleanly|successfully|now)?\.?$")
            .is_match(part)
        || pattern!(r"(?i)^(?:i )?(?:verification(?: run)?:|verified:?|verified with|(?:re)?ran):?(?: with)? `[^`]+`(?:`[^`]+`|[^`.;:])*\.?$")
            .is_match(part)
        || pattern!(r"(?i)^(?:and )?`[^`]+` (?:now )?(?:pass(?:es|ed)?|succeed(?:s|ed)|is (?:clean|green))(?: (?:cleanly|now|locally))?\.?$").is_match(part)
        || pattern!(r"(?i)^(?:the )?(?:build|tests?|lint|vet|fmt|typecheck|checks|unit tests)(?:`[^`]+`|[^`.;:])*\ball (?:now )?pass(?:es|ed)?\b[^`.;:]{0,16}\.?$")
            .is_match(part)
}

/// Whether, after `at`, a file was changed, a commit was made, a git step failed or an error was
/// seen.
fn was_followed(evidence: &Evidence, at: Origin) -> bool {
    evidence.changed_files().any(|(_, work)| work.last.follows(at))
        || evidence.commits.iter().any(|commit| commit.origin.follows(at))
        || evidence.git_events.iter().any(|event| !event.succeeded && event.origin.follows(at))
        || evidence.errors.iter().any(|error| error.origin.follows(at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::evidence::TestRun;

    #[test]
    fn success_is_claimed_in_general_terms() {
        for text in [
            "I've solved the \"all pages look the same\" problem.",
            "Everything works with zero build tools",
            "Different pages now produce completely different colours",
            "The import works as expected.",
            "The issue is now resolved.",
        ] {
            assert!(claims_general_success(text), "{text}");
        }
        for text in [
            "Everything below `src/` was formatted again",
            "The solver is now called once a page",
            "The page now shows the totals in a footer",
            "The import works on the first row only",
            "The issue before the change: the page loads all rows",
        ] {
            assert!(!claims_general_success(text), "{text}");
        }
    }

    #[test]
    fn the_head_of_a_document_is_no_fact() {
        assert!(is_metadata("Date: 2026-01-30") && is_metadata("Status: In Progress"));
        assert!(is_metadata("Date: 2026-01-30; Status: In Progress"));
        assert!(is_metadata("Reporter: Ada Byron (@ada), opened against `acme/app`."));
        assert!(is_metadata("Severity: high"));
        assert!(!is_metadata("Severity: high. The writer loses the rows of the last day."));
        assert!(!is_metadata("Status: parked, because it cannot be reproduced"));
    }

    #[test]
    fn the_next_step_is_no_decision() {
        for decision in [
            "Build `plan` next",
            "Can read the pages and keep the list",
            "Adding tests of the reader before I try it",
        ] {
            assert!(is_next_step(decision), "{decision}");
        }
        assert!(!is_next_step("Build the site with Astro"));
    }

    #[test]
    fn the_next_step_of_an_earlier_report_is_no_fact() {
        for text in [
            "What I would pick next: the reader of archives",
            "After that, I'd revisit the size of the pages.",
            "The reader is direct now, so the next high-value step is to stream the writer.",
        ] {
            assert!(plans_ahead(text), "{text}");
        }
        assert!(!plans_ahead("The next step of the reader is skipped for empty rows."));
    }

    #[test]
    fn a_decision_of_the_user_is_no_fact() {
        assert!(leaves_decision(
            "It can go into this release or into the next \u{2014} your call."
        ));
        assert!(!leaves_decision("Each call of the reader is counted."));
    }

    #[test]
    fn praise_of_finished_work_is_refuted_by_the_last_run() {
        let run = |failed| TestRun {
            framework: "jest".to_owned(),
            failed,
            passed: 3,
            ..TestRun::default()
        };
        let after = |failed| Evidence { tests: vec![run(failed)], ..Evidence::default() };
        let praise = "I've successfully created a fully functional list with two columns.";
        assert!(is_refuted_success(&after(1), praise));
        assert!(!is_refuted_success(&after(0), praise));
        assert!(!is_refuted_success(&after(1), "The list has two columns."));
    }

    #[test]
    fn what_should_work_is_a_claim_of_success() {
        assert!(claims_success("Updated the pointer to the commit with fixed paths"));
        assert!(claims_success("The page will be able to load its styles."));
        assert!(!claims_success("Added a redirect to `next.config.js`"));
    }

    #[test]
    fn what_will_happen_is_promised() {
        for text in [
            "The build will install dependencies and then run the test.",
            "LangChain's `ChatOpenAI` should handle it automatically",
            "The filter should now properly collapse the group",
        ] {
            assert!(promises(text), "{text}");
        }
        for text in [
            "Updated the test descriptions (\"should pick last\")",
            "The notes name both documents — later sessions will read them",
            "You will need to run `migrate` before the first start.",
            "The old tokens will stop working.",
            "The lock should have been taken before the read.",
            "This should not be enabled in production.",
        ] {
            assert!(!promises(text), "{text}");
        }
    }

    #[test]
    fn runs_of_checks_say_nothing_new() {
        for line in [
            "All 12 tests pass",
            "Verification run: `cargo test` passed, and `git diff --check` passed.",
            "Ran `go test ./...`, `git diff --check`, and a `snapshot` smoke test.",
            "Build, lint, the full `core` suite, and `clippy` all pass clean.",
            "`go test ./...` passes",
            "No full test suite run; docs-only change.",
        ] {
            assert!(is_run_of_checks(line), "{line}");
        }
        for line in [
            "Verified with `tool status`: the tool is enabled and sees two sessions.",
            "Build, lint and tests run in one job.",
            "No tests are run in CI, because the filter is wrong.",
        ] {
            assert!(!is_run_of_checks(line), "{line}");
        }
    }
}
