//! Derives a summary from evidence alone, without a model.
//!
//! The summary contains only what the transcript shows: a field without evidence stays empty, and
//! an unknown cause is "not stated". Each text becomes one clean line of limited length, and
//! appears once. [`summarize`] shows which module fills which field.

mod checks;
mod decisions;
mod done;
mod entries;
mod errors;
mod files;
mod findings;
#[cfg(test)]
mod language_scenarios;
mod next_steps;
mod outcome;
mod problems;
mod repeated;
mod reported;
mod repository;
mod request;
#[cfg(test)]
mod scenarios;
mod settings;
#[cfg(test)]
mod story_scenarios;
mod turns;

pub(super) use self::decisions::refusals::PLAN_NOT_CARRIED_OUT;
pub(super) use self::next_steps::postponed::NOT_ANSWERED;
pub(super) use self::settings::unrepeated_settings;
pub use self::{
    decisions::wishes::{remembered_wish, states_wish},
    request::objective::title_of as title,
};
use crate::{
    model::{
        activity::ActivityVector,
        evidence::Evidence,
        project::Project,
        summary::EnhancedSessionSummary,
        wording::{REMEMBERED, USER_REPORTED},
    },
    report::Reports,
    summarize::{
        from_evidence::{
            checks::test_results, decisions::wishes, entries::Entries, errors::refuted,
            outcome::ending, reported::ReportQuotes, request::objective,
        },
        priority::{EXTRACTION_THRESHOLD, Field, priority},
    },
};

/// The project and the transcript of a session, and the threshold for fields of its summary.
#[derive(Clone, Copy, Debug)]
pub struct Context<'c> {
    /// Paths in this project are shown relative to its folder.
    pub project: Option<&'c Project>,
    /// The transcript's path.
    pub session_file: Option<&'c str>,
    /// A field is shown in full if its priority, from 0 to 1, is at least this number.
    pub threshold: f64,
}

impl Default for Context<'_> {
    fn default() -> Self {
        Context { project: None, session_file: None, threshold: EXTRACTION_THRESHOLD }
    }
}

/// Derives the summary of a session. The evidence of its sub-agents must already be
/// [absorbed](crate::summarize::evidence::absorb).
pub fn summarize(
    evidence: &Evidence,
    context: &Context<'_>,
    activity: ActivityVector,
) -> EnhancedSessionSummary {
    let evidence = &*refuted::without_refuted_statements(evidence);
    let reports = Reports::of(evidence);
    let entries = Entries { evidence, reports: &reports, project: context.project };
    let quotes = ReportQuotes::of(&entries);
    let verdict = outcome::verdict(evidence);
    let mut summary = EnhancedSessionSummary {
        activity_vector: activity,
        objective: entries.tidy_line(&objective::objective(evidence)),
        outcome: verdict.outcome,
        outcome_reason: verdict.reason,
        phases: None,
        last_words: ending::last_words(&entries),
        repository: repository::line(&entries),
        preferences: some(wishes::wishes(&entries)),
        known_failures: some(findings::known_failures(&entries)),
        completed_tasks: some(done::completed_tasks(&entries, &quotes)),
        key_decisions: some(decisions::key_decisions(&entries)),
        next_steps: some(next_steps::next_steps(&entries)),
        errors_resolved: some(errors::errors_resolved(&entries)),
        root_cause_analysis: findings::root_cause(&entries),
        config_changes: some(settings::config_changes(&entries)),
        discoveries: some(findings::discoveries(&entries, &quotes)),
        topics: None,
        relations: None,
        test_results: test_results::test_results(&entries),
        files_modified: files::files_modified(&entries, &activity),
        mcp_tools_used: some(entries.mcp_tools()),
        session_file: context.session_file.map(str::to_owned),
        message_count: Some(evidence.counts.messages).filter(|count| *count > 0),
        duration_minutes: entries.minutes(),
    };
    decisions::remove_requests(&mut summary);
    repeated::remove_causes(&mut summary);
    repeated::remove_texts(&mut summary);
    repeated::remove_items(&mut summary);
    trim(&mut summary, context.threshold);
    summary
}

/// Returns a short title for lists, of at most 80 characters.
pub fn name(evidence: &Evidence, context: &Context<'_>) -> String {
    let reports = Reports::default();
    let entries = Entries { evidence, reports: &reports, project: context.project };
    entries.tidy_line(&objective::name(evidence))
}

/// Shortens fields of low priority for this session's activity: keeps only two discoveries, the
/// problems that the user reported and the notes in the agent's memory, and drops the MCP tools.
/// Drops the root cause, too, if the summary has resolved errors.
///
/// Errors, decisions, settings, tests, files, tasks and next steps are never shortened, because
/// users look for them in sessions of any activity. Nothing is shortened if the activity is
/// unknown.
fn trim(summary: &mut EnhancedSessionSummary, threshold: f64) {
    let activity = summary.activity_vector;
    if activity == ActivityVector::default() {
        return;
    }
    let is_needed = |field| priority(field, &activity) >= threshold;
    if !is_needed(Field::Discoveries) {
        let is_always_kept =
            |text: &str| text.starts_with(REMEMBERED) || text.starts_with(USER_REPORTED);
        if let Some(found) = &mut summary.discoveries {
            let mut others = 0;
            found.retain(|text| {
                others += usize::from(!is_always_kept(text));
                is_always_kept(text) || others <= 2
            });
        }
    }
    if !is_needed(Field::McpToolsUsed) {
        summary.mcp_tools_used = None;
    }
    if !is_needed(Field::RootCauseAnalysis) && summary.errors_resolved.is_some() {
        summary.root_cause_analysis = None;
    }
}

fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::{
            summary::Outcome as Ending,
            transcript::{Action, ChangeKind, Item, Outcome, RecapKind, Task, TaskState},
        },
        summarize::evidence::scenarios::{FAILING, Script, change, fixing_the_login},
    };

    fn summary(script: &Script) -> EnhancedSessionSummary {
        let project = Project::new("/app");
        let context = Context { project: Some(&project), ..Context::default() };
        summarize(
            &script.collect(),
            &context,
            ActivityVector { fixing: 0.9, ..ActivityVector::default() },
        )
    }

    /// Covers the part of `test_enhanced_summary_generation` in the specification of session
    /// summaries that concerns this stage.
    #[test]
    fn a_fixed_bug_has_its_cause_fix_and_verification() {
        let found = summary(&fixing_the_login());
        assert_eq!(found.objective, "The login fails after a minute. Fix it.");
        assert_eq!(found.outcome, Ending::Completed);
        let errors = found.errors_resolved.unwrap();
        assert_eq!(errors[0].root_cause, "`EXPIRY` is read in seconds but the file gives minutes");
        assert_eq!(errors[0].fix, "Set the expiry in seconds (in `.env`)");
        assert_eq!(errors[0].verification, "`cargo test`: 2 passed");
        let change = &found.config_changes.unwrap()[0];
        assert_eq!((change.file.as_str(), change.setting.as_str()), (".env", "EXPIRY"));
        assert_eq!((change.old_value.as_deref(), change.new_value.as_str()), (Some("60"), "3600"));
        assert_eq!(found.completed_tasks.unwrap(), ["Fix the expiry (commit `1a2b3c4`)"]);
        let decision = &found.key_decisions.unwrap()[0];
        assert_eq!(
            (decision.decision.as_str(), decision.rationale.as_str()),
            ("Kept the old name", "Scripts read it")
        );
        assert_eq!(found.test_results.unwrap().passed, 2);
        assert_eq!(found.files_modified.unwrap(), [".env"]);
        assert_eq!(
            found.next_steps.unwrap(),
            ["The old sessions still need to be removed by hand"]
        );
        assert_eq!((found.message_count, found.duration_minutes), (Some(3), Some(2)));
    }

    #[test]
    fn labels_of_sentences_are_removed_and_the_problem_is_the_title() {
        let mut script = Script::default();
        script.prompt("Checkout times out under load. Find out why and fix it.");
        script.reply(
            "m1",
            "Fixed: the root cause was that each order held a connection. Next: watch the pool metric after the deploy.",
        );
        let found = summary(&script);
        let project = Project::new("/app");
        let context = Context { project: Some(&project), ..Context::default() };
        assert_eq!(name(&script.collect(), &context), "Checkout times out under load");
        assert_eq!(found.root_cause_analysis.unwrap(), "Each order held a connection.");
        assert_eq!(found.next_steps.unwrap(), ["Watch the pool metric after the deploy"]);
    }

    #[test]
    fn a_call_that_was_written_as_text_is_no_title() {
        let mut script = Script::default();
        script.reply(
            "m1",
            "<invoke name=\"Glob\"> <parameter name=\"pattern\">/*</parameter> </invoke>",
        );
        assert_eq!(name(&script.collect(), &Context::default()), "No request was recorded");
    }

    #[test]
    fn fields_without_evidence_stay_empty() {
        let mut script = Script::default();
        script.prompt("fix the login");
        script.run("a", "make", Outcome::Failed(Some(2)), "error: the thing is missing\n");
        script.edit("b", "/app/a.rs", "a", "b");
        script.run("c", "make", Outcome::Succeeded, "");
        script.reply("m", "Done.");
        let found = summary(&script);
        let empty_fields = [
            found.key_decisions.is_none(),
            found.discoveries.is_none(),
            found.config_changes.is_none(),
            found.test_results.is_none(),
            found.next_steps.is_none(),
            found.root_cause_analysis.is_none(),
            found.mcp_tools_used.is_none(),
            // A file that was changed between the failure and the success is not a fix.
            found.errors_resolved.is_none(),
        ];
        assert_eq!(empty_fields, [true; 8]);
    }

    #[test]
    fn an_empty_transcript_has_an_empty_summary() {
        let found = summary(&Script::default());
        assert_eq!(found.objective, "No request was recorded");
        assert_eq!(found.outcome, Ending::Abandoned);
        assert_eq!((found.message_count, found.files_modified), (None, None));
    }

    #[test]
    fn errors_and_decisions_are_kept_for_any_activity() {
        let evidence = fixing_the_login().collect();
        let exploring = ActivityVector { documenting: 1.0, ..ActivityVector::default() };
        let context = Context { threshold: 0.9, ..Context::default() };
        let found = summarize(&evidence, &context, exploring);
        assert!(found.errors_resolved.is_some() && found.key_decisions.is_some());
        assert!(found.config_changes.is_some() && found.next_steps.is_some());
        assert!(found.root_cause_analysis.is_none(), "the resolved error states the root cause");
    }

    #[test]
    fn a_greeting_without_a_prompt_has_no_objective() {
        let shown = |prompt: Option<&str>, calls: bool, reply: &str| {
            let mut script = Script::default();
            prompt.into_iter().for_each(|prompt| script.prompt(prompt));
            if calls {
                script.read("a", "/app/list.ts");
            }
            script.reply("m1", reply);
            summary(&script).objective
        };
        let none = "No request was recorded";
        let greeting = "I'm ready to help you explore the code. The shop uses three modules for the list of orders.\n\nWhat are you interested in exploring?";
        for start in ["", "Hello! ", "Hello! I'm Claude Code, a CLI for Claude. "] {
            assert_eq!(shown(None, false, &format!("{start}{greeting}")), none, "{start}");
        }
        let asked = shown(Some("Describe the modules of the shop"), false, greeting);
        assert_eq!(asked, "Describe the modules of the shop");
        assert_ne!(shown(None, true, greeting), none);
        for answer in [
            "The shop uses three modules for the list of orders.",
            "The upload fails because the token expires. I'm ready to help with the fix.",
            "The index of the shop is now ready to search.",
        ] {
            assert_ne!(shown(None, false, answer), none, "{answer}");
        }
    }

    #[test]
    fn notes_in_the_memory_and_reported_problems_are_discoveries_in_any_activity() {
        let mut script = Script::default();
        script.prompt("Sort the rows by the day");
        script.edit("a", "/app/rows.ts", "a", "b");
        script.reply("m1", "Sorted the rows.");
        script.prompt("we lost the empty rows :(");
        script.edit("b", "/app/rows.ts", "b", "c");
        let note = "- Empty rows are kept, because the totals of the shop count them";
        let index = "/home/ada/.claude/projects/-app/memory/MEMORY.md";
        script.edit("c", index, "- Rows are sorted", &format!("- Rows are sorted\n{note}"));
        script.reply("m2", "The sorting left out the rows without a name. They are back.");
        let activity = ActivityVector { documenting: 1.0, ..ActivityVector::default() };
        let context = Context { threshold: 0.9, ..Context::default() };
        let found = summarize(&script.collect(), &context, activity).discoveries.unwrap();
        let wanted = [
            "User reported: \"we lost the empty rows :(\"",
            "Noted in the agent's memory: Empty rows are kept, because the totals of the shop count them",
        ];
        assert!(wanted.iter().all(|line| found.contains(&(*line).to_owned())), "{found:?}");
    }

    #[test]
    fn only_the_latest_notes_in_the_memory_are_discoveries_beside_all_others() {
        let mut script = Script::default();
        script.prompt("Sort the rows by the day");
        let notes = [
            "The first note of the memory is evicted by later ones",
            "Empty rows are kept, because the totals count them",
            "Never start the shop without a key for its payments",
            "Ada reviews each change of the format before a merge",
            "Dates in the archive have no zone, so read UTC",
        ];
        let index = "/home/ada/.codex/memories/todo.md";
        for note in notes {
            let (old, new) = ("- Rows are sorted", format!("- Rows are sorted\n- {note}"));
            script.edit(note, index, old, &new);
        }
        let progress = "# Progress\n\nThe rows are sorted.\n";
        let path = "/home/ada/.codex/memories/progress.md";
        script.call("w", "Write", change(path, ChangeKind::Written, "", progress));
        script.result("w", Outcome::Succeeded, "File created");
        script.reply("m1", "The reader drops empty rows because the totals count them.");
        let evidence = script.collect();
        assert_eq!((evidence.work_notes.len(), evidence.reports.len()), (0, 1));
        let found = summary(&script).discoveries.unwrap();
        let noted = |line: &&String| line.starts_with(REMEMBERED);
        assert_eq!(found.iter().filter(noted).count(), 4, "{found:?}");
        assert!(!found.iter().any(|line| line.contains("first note")), "{found:?}");
        assert!(!found.iter().any(|line| line.contains("Progress")), "{found:?}");
    }

    #[test]
    fn open_tasks_and_failing_tests_come_next() {
        let mut script = Script::default();
        script.prompt("Add a parser for dates");
        let task = |subject: &str, state| Task {
            key: subject.to_owned(),
            subject: subject.to_owned(),
            state,
        };
        script.call(
            "t",
            "TodoWrite",
            Action::PlanTasks(vec![
                task("Write the parser", TaskState::Completed),
                task("Write its tests", TaskState::InProgress),
            ]),
        );
        script.run("c", "cargo test", Outcome::Failed(Some(101)), FAILING);
        script.reply("m", "The first version is there. Want me to look into the failing test?");
        let found = summary(&script);
        assert_eq!(found.outcome, Ending::InProgress);
        assert_eq!(
            found.next_steps.unwrap(),
            [
                "Fix 1 failing test: auth::expires_late",
                "Write its tests",
                "Offered: look into the failing test"
            ]
        );
        assert_eq!(found.completed_tasks.unwrap(), ["Write the parser"]);
    }

    #[test]
    fn a_file_that_begins_at_a_compaction_takes_its_goal_from_the_recap() {
        let mut script = Script::default();
        let text = "1. Primary Request and Intent:\n   The user wants to move the store to sled.\n\n\
                    4. Errors and fixes:\n   - **Lock held**: The old process kept it. Fixed by opening once.\n\n\
                    7. Pending Tasks:\n   - Port the index\n";
        script.item(Item::Recap { kind: RecapKind::Compaction, text: text.into() });
        let found = summary(&script);
        assert_eq!(found.objective, "Move the store to sled.");
        assert_eq!(found.next_steps.unwrap(), ["Port the index"]);
        let error = &found.errors_resolved.unwrap()[0];
        assert_eq!(
            (error.error.as_str(), error.root_cause.as_str()),
            ("Lock held", "The old process kept it")
        );
        assert_eq!(error.fix, "Fixed by opening once");
    }

    #[test]
    fn an_item_picked_later_is_in_the_objective() {
        let mut script = Script::default();
        script.prompt("Address the comment of the reviewer on the migration of the users");
        script.reply("m0", "Done.");
        script.prompt("/check-todos");
        let list =
            "| # | Title |\n|---|---|\n| 1 | Add a cache |\n| 5 | Rename on network drives |\n";
        script.reply("m1", list);
        script.prompt("5 seems like a low hanging fruit");
        script.reply("m2", "Now let me look at the code.");
        let wanted = "Address the comment of the reviewer on the migration of the users. Later: Rename on network drives.";
        assert_eq!(summary(&script).objective, wanted);
    }

    #[test]
    fn a_number_picks_an_item_of_the_shown_list() {
        let mut script = Script::default();
        script.prompt("/check-todos");
        let list =
            "| # | Title |\n|---|---|\n| 1 | Add a cache |\n| 5 | Rename on network drives |\n";
        script.reply("m1", list);
        script.prompt("5 seems like a great one to tackle");
        script.reply("m2", "Now let me look at the code.");
        let wanted = "Rename on network drives";
        assert_eq!(summary(&script).objective, wanted);
        assert_eq!(name(&script.collect(), &Context::default()), "Rename on network drives");
    }

    #[test]
    fn a_discovery_that_another_entry_tells_is_removed() {
        let lines = |all: &[&str]| Some(all.iter().map(|one| (*one).to_owned()).collect());
        let mut found = summary(&Script::default());
        found.completed_tasks = lines(&["Sorted the index of names and removed the second reader"]);
        found.discoveries = lines(&[
            "The second reader of names and rows and its index had to be removed",
            "The lock of the cache is held while the pages of the file are read",
            "While the pages are read, the cache of the file holds its lock",
            "The lock waits for the disk",
        ]);
        repeated::remove_texts(&mut found);
        assert_eq!(
            found.discoveries.unwrap(),
            [
                "The lock of the cache is held while the pages of the file are read",
                "The lock waits for the disk",
            ]
        );
    }

    #[test]
    fn a_finding_that_repeats_a_next_step_is_removed() {
        let mut found = summary(&Script::default());
        let lines = |all: &[&str]| Some(all.iter().map(|one| (*one).to_owned()).collect());
        found.next_steps =
            lines(&["Suggested, not done: Drop the three unused parameters of `subject`"]);
        found.discoveries = lines(&[
            "The function `subject` has three unused parameters",
            "The function `body` reads each line twice",
        ]);
        repeated::remove_texts(&mut found);
        assert_eq!(found.discoveries.unwrap(), ["The function `body` reads each line twice"]);
    }

    #[test]
    fn the_objective_of_a_push_has_the_commit_of_its_turn() {
        let mut script = Script::default();
        script.prompt("Push the fixes up");
        script.run(
            "c1",
            "git commit -qam 'fix: close the dialog'",
            Outcome::Succeeded,
            "[main 1a2b3c4] fix: close the dialog\n",
        );
        script.reply("m1", "Pushed.");
        script.prompt("the tests still fail");
        let command = "git commit -qam 'fix: wait for the row' -m 'The test waited for a row of another list.'";
        script.run("c2", command, Outcome::Succeeded, "[main 2b3c4d5] fix: wait for the row\n");
        script.reply("m2", "Committed.");
        let wanted = "Push the fixes up (came to: fix: close the dialog)";
        assert!(summary(&script).objective.starts_with(wanted), "{}", summary(&script).objective);
    }

    #[test]
    fn an_offer_has_its_action() {
        let mut script = Script::default();
        script.prompt("Sort the list of invoices");
        script.edit("a", "/app/list.rs", "a", "b");
        script.reply("m", "The list is sorted by date.\n\nReady to commit if you'd like to include this in the PR.");
        assert_eq!(summary(&script).next_steps.unwrap(), ["Offered: commit the changes"]);
    }

    #[test]
    fn the_objective_of_a_session_that_begins_with_talk_has_its_commit() {
        let mut script = Script::default();
        script.prompt("Read the research and then talk to me about the idea");
        script.reply("m1", "It is about scenarios.");
        script.run(
            "c1",
            "git commit -qam 'feat(agent): click through scenarios'",
            Outcome::Succeeded,
            "[main 1a2b3c4] feat(agent): click through scenarios\n",
        );
        script.reply("m2", "Committed.");
        assert_eq!(
            summary(&script).objective,
            "Read the research and then talk to me about the idea (came to: feat(agent): click through scenarios)"
        );
    }

    #[test]
    fn an_open_choice_has_its_options() {
        let mut script = Script::default();
        script.prompt("the upload test fails, why?");
        script.reply(
            "m1",
            "**Option 1: Drop the lock** (simplest)\n- no new code\n\n**Option 2: Pass the path**\n- cleaner\n\nOption 1 is enough. Which approach do you prefer? I can open a pull request for it.",
        );
        let found = summary(&script);
        assert_eq!(found.outcome, Ending::InProgress);
        assert_eq!(
            found.outcome_reason.as_deref(),
            Some("waits for the user's choice; nothing was changed")
        );
        assert_eq!(
            found.next_steps.unwrap(),
            [
                "To decide: Which approach do you prefer? (Option 1: Drop the lock (simplest); Option 2: Pass the path)"
            ]
        );
        assert_eq!((found.completed_tasks, found.last_words), (None, None));
    }

    #[test]
    fn work_given_to_a_later_command_belongs_to_the_objective() {
        let mut script = Script::default();
        script.prompt("Add a parser for dates");
        script.reply("m1", "Added the parser to `dates.rs`.");
        script.prompt("/quick login page somehow lost its footer, get that back with the status");
        script.reply("m2", "Restored the footer.");
        assert_eq!(
            summary(&script).objective,
            "Add a parser for dates. Later: login page somehow lost its footer, get that back with the status."
        );
    }

    #[test]
    fn a_quote_in_the_objective_is_not_a_decision() {
        let mut script = Script::default();
        script.prompt("/clear");
        script.prompt("Rename the parser because its name is taken, and keep the tests.");
        script.edit("a", "/app/a.rs", "a", "b");
        script.reply("m1", "Renamed the parser to `reader` in all files.");
        assert_eq!(summary(&script).key_decisions, None);
    }

    #[test]
    fn later_work_is_in_the_objective() {
        let mut script = Script::default();
        script.prompt("Add a parser for dates");
        script.reply("m1", "Added the parser to `dates.rs`.");
        script.prompt(
            "ok great. now please migrate the settings screen from class components to hooks",
        );
        script.reply("m2", "Migrated the screen.");
        assert_eq!(
            summary(&script).objective,
            "Add a parser for dates. Later: migrate the settings screen from class components to hooks."
        );
        assert_eq!(name(&script.collect(), &Context::default()), "Add a parser for dates");
    }
}
