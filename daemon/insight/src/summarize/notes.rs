//! Facts from the evidence that precede the messages in a prompt, so that a model knows what the
//! messages that fit do not show: commits, the state of the repository, results of tests, the
//! user's decisions and open steps.

use crate::{
    llm::tokens,
    model::{
        EnhancedSessionSummary, Evidence,
        evidence::{TestRun, latest_of_suites},
        summary::DecisionRecord,
        wording::{BY_THE_USER, NOT_STATED, USERS_WORDS},
    },
    text::{cut, one_line},
};

/// The first line of the notes.
pub const HEADING: &str = "[Facts that a program read from the whole session]";
/// Maximum length, in characters, of a fact.
const MAX_FACT_CHARS: usize = 300;
/// Maximum number of commits; the latest are kept.
const COMMITS: usize = 12;
/// Maximum number of entries of other kinds.
const ENTRIES: usize = 8;

/// Returns the facts, one a line, in at most `budget` tokens; empty if nothing fits. `summary` is
/// the summary that was derived from `evidence`.
pub fn notes(summary: &EnhancedSessionSummary, evidence: &Evidence, budget: u32) -> String {
    let mut text = HEADING.to_owned();
    let mut left = budget.saturating_sub(tokens::estimate(HEADING));
    for fact in facts(summary, evidence) {
        let line = format!("\n- {}", cut(&one_line(&fact), MAX_FACT_CHARS));
        let needed = tokens::estimate(&line);
        if needed <= left {
            left -= needed;
            text.push_str(&line);
        }
    }
    if text.len() == HEADING.len() { String::new() } else { text }
}

/// Returns the facts, the most important first.
fn facts(summary: &EnhancedSessionSummary, evidence: &Evidence) -> Vec<String> {
    let mut facts = Vec::new();
    facts.extend(summary.repository.as_ref().map(|state| format!("Repository: {state}")));
    let runs: Vec<&TestRun> = evidence.tests.iter().collect();
    facts.extend(latest_of_suites(&runs).into_iter().rev().take(ENTRIES).map(test_run));
    let decisions = summary.key_decisions.iter().flatten().filter(|one| is_of_user(one));
    facts.extend(decisions.take(ENTRIES).map(decision));
    let wishes = summary.preferences.iter().flatten().take(ENTRIES);
    facts.extend(wishes.map(|wish| format!("Wish of the user: {wish}")));
    let steps = summary.next_steps.iter().flatten().take(ENTRIES);
    facts.extend(steps.map(|step| format!("Open: {step}")));
    let first = evidence.commits.len().saturating_sub(COMMITS);
    let commits = evidence.commits[first..].iter().rev().filter(|commit| !commit.hash.is_empty());
    facts.extend(commits.map(|commit| format!("Commit {}: {}", commit.hash, commit.subject)));
    let changes = evidence.outside_changes.iter().rev().take(ENTRIES);
    facts.extend(
        changes.map(|change| format!("Changed outside of the repository: {}", change.text)),
    );
    let errors = summary.errors_resolved.iter().flatten().take(ENTRIES);
    facts.extend(errors.map(|error| match error.fix.as_str() {
        NOT_STATED => format!("Error: {}", error.error),
        fix => format!("Error: {}; fix: {fix}; check: {}", error.error, error.verification),
    }));
    let failures = summary.known_failures.iter().flatten().take(ENTRIES);
    facts.extend(failures.map(|failure| format!("Known failure: {failure}")));
    facts
}

/// Whether the user made a decision, by the rationale that summaries from evidence have.
fn is_of_user(decision: &DecisionRecord) -> bool {
    decision.rationale.starts_with(USERS_WORDS) || decision.rationale.contains(BY_THE_USER)
}

fn decision(record: &DecisionRecord) -> String {
    match record.rationale.starts_with(USERS_WORDS) {
        true => format!("Decision: {}", record.decision),
        false => format!("Decision: {} ({})", record.decision, record.rationale),
    }
}

fn test_run(run: &TestRun) -> String {
    let failed = match run.failed_tests.as_slice() {
        [] => String::new(),
        names => format!(": {}", names.join(", ")),
    };
    format!("Last run of {}: {} passed, {} failed{failed}", run.label(), run.passed, run.failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::{ActivityVector, transcript::Outcome},
        summarize::{Context, evidence::scenarios::Script, summarize},
    };

    fn session() -> Script {
        let mut script = Script::default();
        script.prompt("Make the checkout retry.");
        script.edit("a", "/app/client.py", "slots = 1", "slots = 8");
        script.reply("m1", "The checkout retries.");
        script.prompt("Let's stick to eight slots, because the gateway refuses more.");
        let failed = "FAILED tests/test_a.py::test_slots - AssertionError\n=== 1 failed, 4 passed in 0.03s ===\n";
        script.run("b", "python -m pytest", Outcome::Failed(Some(1)), failed);
        let committed = "[main 1a2b3c4] Retry the checkout\n 1 file changed\n";
        script.run("c", "git commit -qam 'Retry the checkout'", Outcome::Succeeded, committed);
        script.reply("m2", "Committed.\n\n## Still open\n- Ask about the limit of the gateway");
        script
    }

    fn notes_of(script: &Script, budget: u32) -> String {
        let evidence = script.collect();
        let summary = summarize(&evidence, &Context::default(), ActivityVector::default());
        notes(&summary, &evidence, budget)
    }

    #[test]
    fn the_notes_contain_what_messages_may_not_show() {
        let found = notes_of(&session(), 1_000);
        for fact in [
            HEADING,
            "\n- Repository: branch `main`; last commit `1a2b3c4` Retry the checkout; not pushed",
            "\n- Last run of pytest: 4 passed, 1 failed: tests/test_a.py::test_slots",
            "\n- Decision: User: \"Let's stick to eight slots, because the gateway refuses more.\"",
            "\n- Open: Ask about the limit of the gateway",
            "\n- Commit 1a2b3c4: Retry the checkout",
        ] {
            assert!(found.contains(fact), "{fact}: {found}");
        }
    }

    #[test]
    fn the_notes_stay_within_their_budget_and_have_no_heading_alone() {
        for budget in 0..400 {
            let found = notes_of(&session(), budget);
            assert!(tokens::estimate(&found) <= budget, "{budget}: {found}");
            assert_ne!(found, HEADING);
        }
        assert_eq!(notes_of(&Script::default(), 1_000), "");
    }

    #[test]
    fn a_fact_that_does_not_fit_leaves_space_for_shorter_facts() {
        let mut script = session();
        let committed = "[main 5a5b5c5] word word word word word word word word word word word word word\n 1 file changed\n";
        script.run("d", "git commit -qam x", Outcome::Succeeded, committed);
        let (long, short) = ("\n- Commit 5a5b5c5: word", "\n- Commit 1a2b3c4: Retry the checkout");
        let whole = notes_of(&script, 1_000);
        let (before, _) = whole.split_once(long).unwrap();
        let tokens_before: u32 = tokens::estimate(HEADING)
            + before
                .lines()
                .skip(1)
                .map(|line| tokens::estimate(&format!("\n{line}")))
                .sum::<u32>();
        let found = notes_of(&script, tokens_before + tokens::estimate(short));
        assert_eq!(found, format!("{before}{short}"));
    }
}
