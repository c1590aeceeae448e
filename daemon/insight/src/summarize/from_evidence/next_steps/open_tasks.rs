//! Determines which tasks of the agent's list are open at the end of a session. Agents forget to
//! update their lists, so later work counts more than the list.

use crate::{
    model::{
        evidence::{Evidence, StatementKind},
        transcript::{Origin, Task, TaskState},
    },
    summarize::from_evidence::request::{Request, Weight},
    text::{share_of_words, words},
};

/// A later commit completed a task if it contains at least this share of the words of the task.
const COMMITTED: f64 = 0.6;

/// Returns the open tasks, those in progress first, without those that a later commit completed.
/// Returns no tasks if the list is outdated.
pub(crate) fn open_tasks(evidence: &Evidence) -> Vec<&Task> {
    let in_state = |state| evidence.tasks.iter().filter(move |task| task.state == state);
    let open = in_state(TaskState::InProgress).chain(in_state(TaskState::Pending));
    match evidence.tasks_at {
        Some(at) if is_outdated(evidence, at) => Vec::new(),
        Some(at) => open.filter(|task| !is_committed(evidence, task, at)).collect(),
        None => open.collect(),
    }
}

/// Whether the last update of the list at `at` was followed by work that the list does not mention:
/// work for a later request, or work that the last report calls done without leaving anything open.
fn is_outdated(evidence: &Evidence, at: Origin) -> bool {
    let asks = |text: &str| Request::of(text).is_some_and(|one| one.weight > Weight::Routine);
    let mut prompts = evidence.prompts.iter().filter(|prompt| prompt.origin.follows(at));
    let next = prompts.find(|prompt| asks(&prompt.text));
    if next.is_some_and(|next| has_worked_since(evidence, next.origin)) {
        return true;
    }
    let says = |kind| evidence.report.iter().any(|one| one.kind == kind && one.origin.follows(at));
    has_worked_since(evidence, at)
        && says(StatementKind::Done)
        && !says(StatementKind::OpenEnd)
        && evidence.unanswered_call.is_none()
}

/// Whether a file was changed or a commit made after `at`.
fn has_worked_since(evidence: &Evidence, at: Origin) -> bool {
    evidence.commits.iter().any(|commit| commit.origin.follows(at))
        || evidence.changed_files().any(|(_, work)| work.last.follows(at))
}

/// Whether a commit after the last update of the list at `at` contains most words of a task.
fn is_committed(evidence: &Evidence, task: &Task, at: Origin) -> bool {
    let subject = words(&task.subject);
    let mut commits = evidence.commits.iter().filter(|commit| commit.origin.follows(at));
    commits.any(|commit| {
        let committed = words(&format!("{} {}", commit.subject, commit.body));
        share_of_words(&subject, &committed) >= COMMITTED
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::transcript::{Action, Outcome},
        summarize::evidence::scenarios::Script,
    };

    fn open_after(work: impl FnOnce(&mut Script)) -> Vec<String> {
        let mut script = Script::default();
        script.prompt("Add a column to the list and sort by it");
        let task = |subject: &str, state| Task {
            key: subject.to_owned(),
            subject: subject.to_owned(),
            state,
        };
        let list = vec![
            task("Add a column", TaskState::Completed),
            task("Sort the list", TaskState::InProgress),
            task("Document the parser", TaskState::Pending),
        ];
        script.call("t", "TodoWrite", Action::PlanTasks(list));
        work(&mut script);
        let evidence = script.collect();
        open_tasks(&evidence).iter().map(|task| task.subject.clone()).collect()
    }

    #[test]
    fn an_outdated_list_has_no_open_tasks() {
        let both = ["Sort the list", "Document the parser"];
        assert_eq!(open_after(|_| ()), both);
        let edit = |script: &mut Script| script.edit("a", "/app/list.ts", "a", "b");
        assert_eq!(open_after(edit), both);
        let reported = |script: &mut Script, text: &str| {
            edit(script);
            script.reply("m", text);
        };
        assert!(
            open_after(|script| reported(script, "Added the column and sorted the list by it."))
                .is_empty()
        );
        assert_eq!(open_after(|script| reported(script, "Let me look at the parser next:")), both);
        assert_eq!(
            open_after(|script| {
                let output = "[main 1a2b3c4] Sort the list\n";
                script.run("b", "git commit -m 'Sort the list'", Outcome::Succeeded, output);
            }),
            ["Document the parser"]
        );
        assert!(
            open_after(|script| {
                script.prompt("Rename the importer of the pages to `reader`");
                edit(script);
            })
            .is_empty()
        );
        assert_eq!(open_after(|script| script.prompt("Why is the parser so slow here?")), both);
    }
}
