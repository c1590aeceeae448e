//! Records work outside of the conversation: sub-agents, background commands, and commands that
//! the user runs.

use crate::{
    model::transcript::{Outcome, TaskEnded, ToolResult, without_middle},
    report::{Topic, passages, topic_of_sentence},
    summarize::{
        evidence::{
            bounds,
            collector::Collector,
            files::{self, PlannedChange},
            git,
            moment::EntryPosition,
            pending::{BackgroundTask, CallEffect, PendingCall},
            run::{Run, printed},
            shell::CommandLine,
            test_runs,
        },
        lists::push_latest,
    },
    text::{kept, pattern, without_ansi, without_code},
};

impl Collector {
    /// Adds the commit and the changed files of the entry at `moment` to the delegation that the
    /// call `caller` started. A commit replaces the files that the delegation had before.
    pub(super) fn add_to_delegation(&mut self, caller: &str, moment: EntryPosition) {
        let tasks = self.pending.background.iter().map(|task| &task.call);
        let mut calls = self.pending.calls.iter().chain(tasks);
        let Some(start) = calls.find(|call| call.id == caller).map(|call| call.origin) else {
            return;
        };
        let evidence = &mut self.evidence;
        let Some(task) = evidence.delegations.iter_mut().rfind(|task| task.origin == start) else {
            return;
        };
        let commit = evidence.commits.last().filter(|commit| commit.origin == moment.origin);
        if let Some(commit) = commit {
            task.files.clear();
            push_latest(&mut task.commits, commit.subject.clone(), TASK_COMMITS);
        }
        let changed = evidence.files.iter();
        let changed = changed.filter(|(_, work)| work.changed() && work.last == moment.origin);
        for (path, _) in changed {
            if !task.files.contains(path) {
                push_latest(&mut task.files, path.clone(), REPORTED_FILES);
            }
        }
    }

    /// Returns whether `result` says that the work of the call continues in the background. If so,
    /// keeps the call until the work ends.
    pub(super) fn continues_in_background(
        &mut self,
        waiting: &PendingCall,
        result: &ToolResult<'_>,
    ) -> bool {
        if !matches!(waiting.meaning, CallEffect::Run(_) | CallEffect::Delegate) {
            return false;
        }
        let begun = pattern!(
            r"^(?:Command running in background with ID: (\w+)|Async agent launched [\s\S]*?agentId: (\w+))"
        );
        let answer = result.content.decode(SHORT);
        let Some(found) = begun.captures(&answer) else { return false };
        let Some(id) = found.get(1).or(found.get(2)) else { return false };
        let task = BackgroundTask { id: kept(id.as_str(), bounds::NAME), call: waiting.clone() };
        push_latest(&mut self.pending.background, task, bounds::BACKGROUND);
        if let Some(at) = self.pending.background.len().checked_sub(bounds::CALLS_WITH_TEXTS + 1)
            && let CallEffect::Run(command) = &mut self.pending.background[at].call.meaning
        {
            command.forget_texts();
        }
        true
    }

    /// Returns the id of the background task in the arguments of a call; `None` if no such task is
    /// running.
    pub(super) fn background_task_in(&self, input: &serde_json::Value) -> Option<String> {
        let id = ["task_id", "bash_id", "agentId"].iter().find_map(|key| input[key].as_str())?;
        self.pending.background.iter().any(|task| task.id == id).then(|| id.to_owned())
    }

    /// Records the end of a background task if `result`, which describes the task, says that the
    /// task has ended.
    pub(super) fn observe_task_output(
        &mut self,
        id: &str,
        result: &ToolResult<'_>,
        moment: EntryPosition,
    ) {
        let content = result.content.decode(bounds::OUTPUT_READ);
        let status = pattern!(r"<status>(\w+)</status>").captures(&content);
        let outcome = match status.as_ref().map(|found| &found[1]) {
            Some("completed") => Outcome::Succeeded,
            Some("failed") => Outcome::Failed(None),
            Some("killed") => Outcome::Interrupted,
            _ => return,
        };
        let output = pattern!(r"(?s)<(?:output|stdout)>\n?(.*)</(?:output|stdout)>");
        let text = output
            .captures(&content)
            .map_or("", |found| found.get(1).map_or("", |text| text.as_str()));
        let ended = TaskEnded { task: id.into(), call: None, outcome, text: text.into() };
        self.task_ended(&ended, moment);
    }

    /// Records the report or the output of a background task that has ended. The output of an
    /// interrupted command is ignored.
    pub(super) fn task_ended(&mut self, ended: &TaskEnded<'_>, moment: EntryPosition) {
        let tasks = &mut self.pending.background;
        let call = ended.call.as_ref().map(|id| kept(id, bounds::NAME));
        let is_it =
            |task: &BackgroundTask| task.id == ended.task || Some(&task.call.id) == call.as_ref();
        let Some(task) = tasks.iter().position(is_it).map(|at| tasks.remove(at)) else {
            return;
        };
        match &task.call.meaning {
            CallEffect::Delegate => {
                self.delegate_reported(&task.call, ended.outcome, &ended.text, moment);
            }
            CallEffect::Run(command) if ended.outcome != Outcome::Interrupted => {
                let output = without_middle(&ended.text, bounds::OUTPUT_READ);
                self.keep_command(command, ended.outcome, moment);
                if ended.outcome.succeeded() {
                    self.keep_effects(command, moment);
                }
                self.command_printed(command, ended.outcome, &without_ansi(&output), moment);
            }
            _ => {}
        }
    }

    /// Records the files that a sub-agent reports as changed, for a session whose own file does not
    /// contain the calls of sub-agents.
    fn keep_reported_files(&mut self, report: &str, moment: EntryPosition) {
        for file in files_in_report(report) {
            let change = PlannedChange::reported(&file, &self.pending.directory);
            files::change(&mut self.evidence, &change, moment);
            self.pending.turn_changed = true;
        }
    }

    /// Records the shell command that the user ran: its effect on the repository, and its test
    /// runs. The exit code is unknown, so nothing else is recorded.
    pub(super) fn observe_user_command(&mut self, output: &str, moment: EntryPosition) {
        let command = CommandLine::read(&self.pending.shell_of_user, &self.pending.directory);
        let output = without_middle(printed(output), bounds::OUTPUT_READ);
        let output = without_ansi(&output);
        let outcome = Outcome::Succeeded;
        let run = Run { command: &command, outcome, output: &output, moment };
        git::note(&mut self.evidence, &run);
        self.git_printed(&command, &output, moment);
        let reports = test_runs::reports(&output);
        if !reports.iter().any(|report| test_runs::could_not_run(&output, report.failed)) {
            for report in reports {
                self.keep_test_run(report, &run);
            }
        }
    }

    /// Records the outcome of a sub-agent, and its report as Markdown without code. If the
    /// session's own file does not contain the calls of sub-agents, the changed files in the report
    /// are recorded, too. Older reports are shortened if all reports together are too long.
    pub(super) fn delegate_reported(
        &mut self,
        waiting: &PendingCall,
        outcome: Outcome,
        text: &str,
        moment: EntryPosition,
    ) {
        if outcome.succeeded() && self.evidence.reported_sub_agents.is_empty() {
            self.keep_reported_files(text, moment);
        }
        let same = |one: &&mut crate::model::evidence::Delegation| {
            one.origin == waiting.origin && one.outcome.is_none()
        };
        let Some(delegation) = self.evidence.delegations.iter_mut().find(same) else { return };
        delegation.outcome = Some(outcome);
        // The line with the id and the lines below it are from the agent program, not from the
        // sub-agent.
        let text = text.split("\nagentId: ").next().unwrap_or(text);
        let text = without_code(text);
        delegation.report = (text.trim().len() > 30).then(|| kept(text.trim(), bounds::REPORT));
        let mut remaining = bounds::DELEGATION_REPORTS;
        for report in
            self.evidence.delegations.iter_mut().rev().filter_map(|one| one.report.as_mut())
        {
            match remaining.checked_sub(report.len()) {
                Some(left) => remaining = left,
                None => *report = kept(report, bounds::REPORT_BEFORE),
            }
        }
    }
}

/// Maximum number of commits kept of one sub-agent.
const TASK_COMMITS: usize = 8;
/// Maximum number of files kept of one sub-agent.
const REPORTED_FILES: usize = 24;

/// Returns the files that are headings or labels in a sub-agent's report, if the text below says
/// that something was done.
fn files_in_report(report: &str) -> Vec<String> {
    let path = pattern!(
        r"^\W*(?:\d{1,2}[.)] +)?`?((?:/|[A-Za-z]:[/\\]|[\w.-]+/)[\w./\\-]+\.[A-Za-z0-9_]{1,6})`?\W*$"
    );
    let mut found: Vec<String> = Vec::new();
    for passage in passages(&without_code(report)) {
        let says_done = topic_of_sentence(&passage.text) == Some(Topic::Done);
        let names = passage.headings.iter().chain(&passage.label);
        let file = names.rev().find_map(|name| Some(path.captures(name)?[1].to_owned()));
        if let Some(file) = file.filter(|file| says_done && !found.contains(file)) {
            found.push(file);
        }
    }
    found.truncate(REPORTED_FILES);
    found
}

/// Number of bytes at the start of a result that are searched for the notice that the work
/// continues in the background.
const SHORT: usize = 600;
