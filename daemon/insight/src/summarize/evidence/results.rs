//! Handles the results of tools: the effect of the call, its output, and its errors.

use crate::{
    model::{
        evidence::{Choice, SettingChange},
        transcript::{Origin, Outcome, ToolResult},
    },
    summarize::{
        evidence::{
            bounds,
            collector::Collector,
            errors::{self, Attempt, Changed, Event},
            files::{self, FileAction, PlannedChange},
            git, memory,
            moment::EntryPosition,
            notes,
            pending::{CallEffect, PendingCall},
            plans,
            retries::{self, CommandEnd},
            shell::CommandLine,
            tasks,
        },
        lists::push_latest,
    },
    text::{kept, pattern, without_ansi},
};

/// Maximum length, in bytes, of the part of a result that is read to learn whether a file is new,
/// whether an edit found its text, or which key a task got.
const SHORT_ANSWER: usize = 400;

/// Maximum length, in bytes, of the part of a reading command's output that is decoded: for an
/// error message if the command failed, otherwise to learn whether the command printed anything.
const FAILURE_READ: usize = 4_000;

/// Whether the answer to a change says that the file is new. The word does not count in a path.
fn says_created(answer: &str) -> bool {
    pattern!(r"(?:^|[^\w/\\.-])[Cc]reated(?:$|[^\w/\\.-]|\.(?:$|\W))").is_match(answer)
}

/// Whether the answer to an edit says that the file no longer contains the text to replace.
fn says_text_is_gone(answer: &str) -> bool {
    pattern!(r"(?i)\b(?:string to replace|old_string|old_str|search text) (?:was )?not found|\bnot found in (?:the )?file\b")
        .is_match(answer)
}

/// Maximum length, in bytes, of the part of a task list that is read.
const TASK_LIST: usize = 16_384;

impl Collector {
    pub(super) fn result(&mut self, result: &ToolResult<'_>, moment: EntryPosition) {
        let failed = matches!(result.outcome, Outcome::Failed(_));
        let waiting = self.pending.answered(&kept(&result.call, bounds::NAME));
        if failed {
            self.evidence.counts.tool_errors += 1;
        }
        let Some(waiting) = waiting else { return };
        if failed {
            self.count_tool(&waiting.tool, |tool| &mut tool.errors);
        }
        if result.outcome == Outcome::Rejected {
            self.pending.corrects = Some(kept(&waiting.shown(), bounds::TASK));
        }
        let succeeded = result.outcome.succeeded();
        if succeeded && self.continues_in_background(&waiting, result) {
            retries::service_started(&mut self.pending.failed_commands);
            return;
        }
        match &waiting.meaning {
            CallEffect::Run(command) => self.command_ran(command, &waiting, result, moment),
            CallEffect::Read(path) if succeeded => {
                files::read(&mut self.evidence, path, waiting.origin);
            }
            CallEffect::Change(changes) => self.change_answered(changes, &waiting, result, moment),
            CallEffect::AddTask(subject) if succeeded => {
                self.task_added(subject, &waiting, result, moment);
            }
            CallEffect::Delegate => {
                self.pending.failed_commands.clear();
                let text = result.content.decode(bounds::REPLY_READ);
                self.delegate_reported(&waiting, result.outcome, &text, moment);
            }
            CallEffect::Questions(asked) if result.outcome == Outcome::Rejected => {
                self.pending.refused = asked.first().cloned();
            }
            CallEffect::ListTasks if succeeded => {
                tasks::listed(&mut self.evidence.tasks, &result.content.decode(TASK_LIST));
            }
            CallEffect::Background(id) if succeeded => self.observe_task_output(id, result, moment),
            CallEffect::Plan(plan) => self.plan_decided(plan, result.outcome, moment),
            CallEffect::Other(_) => self.tool_answered(&waiting, result, moment),
            _ => {}
        }
    }

    fn change_answered(
        &mut self,
        changes: &[PlannedChange],
        waiting: &PendingCall,
        result: &ToolResult<'_>,
        moment: EntryPosition,
    ) {
        if result.outcome.succeeded() {
            self.pending.failed_commands.clear();
            let is_new = || says_created(&result.content.decode(SHORT_ANSWER));
            self.files_changed(changes, is_new, moment);
        } else if says_text_is_gone(&result.content.decode(SHORT_ANSWER)) {
            self.forget_settings(changes);
        }
        self.tool_answered(waiting, result, moment);
    }

    /// Adds a task that is not recorded yet, under the key in the result, or else under the id of
    /// the call.
    fn task_added(
        &mut self,
        subject: &str,
        waiting: &PendingCall,
        result: &ToolResult<'_>,
        moment: EntryPosition,
    ) {
        let answer = result.content.decode(SHORT_ANSWER);
        let key = pattern!(r"[Tt]ask #?([A-Za-z0-9_]+) (?:created|added)").captures(&answer);
        let key =
            key.map_or(waiting.id.as_str(), |found| found.get(1).map_or("", |key| key.as_str()));
        let tasks = &mut self.evidence.tasks;
        let is_known = tasks.iter().any(|task| task.key == key && task.subject == subject);
        self.evidence.tasks_at = Some(moment.origin);
        if !is_known {
            tasks::add(tasks, key, subject);
        }
    }

    /// Adds a task under its key before the result of the call arrives.
    pub(super) fn task_key(&mut self, call: &str, key: &str) {
        let waiting = self.pending.waiting(&kept(call, bounds::NAME));
        if let Some(PendingCall { meaning: CallEffect::AddTask(subject), .. }) = waiting {
            let subject = subject.clone();
            tasks::add(&mut self.evidence.tasks, key, &subject);
        }
    }

    fn command_ran(
        &mut self,
        command: &CommandLine,
        waiting: &PendingCall,
        result: &ToolResult<'_>,
        moment: EntryPosition,
    ) {
        self.keep_command(
            command,
            result.outcome,
            EntryPosition { origin: waiting.origin, at: waiting.at },
        );
        if result.outcome == Outcome::Rejected {
            return;
        }
        if result.outcome.succeeded() {
            self.keep_effects(command, moment);
        }
        if command.shows_history && git::hashes_are_stale(&self.evidence) {
            let content = result.content.decode(bounds::OUTPUT_READ);
            git::show_history(&mut self.evidence, &content);
        }
        if command.only_reads() {
            self.reading_command_ran(command, waiting, result, moment);
            return;
        }
        let content = result.content.decode(bounds::OUTPUT_READ);
        let output = without_ansi(&content);
        self.command_printed(command, result.outcome, &output, moment);
        let last = self.evidence.commands.last();
        let hides_failure =
            last.is_some_and(|kept| kept.command == command.shown && kept.shows_failure);
        match result.outcome {
            Outcome::Succeeded if !hides_failure => {
                let end = CommandEnd::of_success(&output);
                self.record_retry(command, waiting.origin, end);
            }
            Outcome::Failed(_) | Outcome::Succeeded => {
                self.record_retry(command, waiting.origin, CommandEnd::Failed(&output));
            }
            Outcome::Rejected | Outcome::Interrupted => {}
        }
    }

    /// Records the end of a command that only reads.
    fn reading_command_ran(
        &mut self,
        command: &CommandLine,
        waiting: &PendingCall,
        result: &ToolResult<'_>,
        moment: EntryPosition,
    ) {
        match result.outcome {
            Outcome::Failed(_) => {
                let content = result.content.decode(FAILURE_READ);
                let output = without_ansi(&content);
                self.record_retry(command, waiting.origin, CommandEnd::Failed(&output));
            }
            // Without an earlier failed command, the output is not needed.
            Outcome::Succeeded if !command.unproven && !self.pending.failed_commands.is_empty() => {
                let content = result.content.decode(FAILURE_READ);
                let end = CommandEnd::of_success(&content);
                self.record_retry(command, waiting.origin, end);
            }
            _ => {}
        }
        if command.shows_repository() {
            let content = result.content.decode(bounds::OUTPUT_READ);
            self.git_printed(command, &without_ansi(&content), moment);
        }
    }

    pub(super) fn keep_effects(&mut self, command: &CommandLine, moment: EntryPosition) {
        let changes: Vec<PlannedChange> = command.effects.iter().map(PlannedChange::from).collect();
        self.files_changed(&changes, || false, moment);
    }

    /// Records how the command at `origin` ended. A failed command is kept until a later command
    /// succeeds in another form; a successful command may be this other form.
    fn record_retry(&mut self, command: &CommandLine, origin: Origin, end: CommandEnd<'_>) {
        let (waiting, retries) = (&mut self.pending.failed_commands, &mut self.evidence.retries);
        retries::record_end(waiting, retries, command, origin, end);
        let has_failed = matches!(end, CommandEnd::Failed(_));
        if !has_failed && (command.changes || !command.effects.is_empty()) {
            // If a later command succeeds, the reason may be these changes, not its form.
            waiting.clear();
        }
    }

    /// Records changes of files. `is_new` returns whether a file that was written as a whole is
    /// new.
    pub(super) fn files_changed(
        &mut self,
        changes: &[PlannedChange],
        is_new: impl Fn() -> bool,
        moment: EntryPosition,
    ) {
        for change in changes {
            let known = self.evidence.files.contains_key(&change.path);
            let created = change.deed == FileAction::Write && !known && is_new();
            let replaced = change.deed == FileAction::Write && !created;
            if !replaced {
                self.keep_settings(change, moment);
            }
            if !files::cancel_reversed_edit(&mut self.evidence, &mut self.pending.edits, change) {
                files::change(&mut self.evidence, change, moment);
                files::remember(&mut self.pending.edits, change);
            }
            if created {
                files::created(&mut self.evidence, &change.path);
            }
            let path = match &change.deed {
                FileAction::Move(to) => to,
                _ => &change.path,
            };
            self.pending.errors.changed(moment.origin.line, Changed::File(path.clone()));
            (self.pending.turn_changed, self.pending.stashed) = (true, false);
            match &change.note {
                Some(text) if memory::is_memory(&change.path) => {
                    memory::keep(&mut self.evidence, text, moment);
                }
                Some(text) if notes::purpose(&change.path).is_some() => {
                    notes::keep(&mut self.evidence, &change.path, text, moment);
                }
                Some(text) => self.keep_document(text, moment),
                None => {}
            }
        }
    }

    /// Removes settings that were changed outside of the session: an edit expected the recorded
    /// value in the file and did not find it.
    fn forget_settings(&mut self, changes: &[PlannedChange]) {
        for change in changes {
            let is_expected = |known: &SettingChange| {
                known.file == change.path
                    && change
                        .settings
                        .iter()
                        .any(|one| one.key == known.setting && one.old == known.new_value)
            };
            self.evidence.settings.retain(|known| !is_expected(known));
        }
    }

    /// Records the changed settings. A setting that is changed again keeps its first old value.
    /// When the setting has this value again, its record is removed.
    fn keep_settings(&mut self, change: &PlannedChange, moment: EntryPosition) {
        if files::is_scratch(&self.evidence, &change.path) {
            return;
        }
        for setting in &change.settings {
            let known = self
                .evidence
                .settings
                .iter()
                .position(|one| one.file == change.path && one.setting == setting.key);
            let mut old_value = setting.old.clone();
            if let Some(at) = known
                && self.evidence.settings[at].new_value == setting.old
            {
                old_value = self.evidence.settings.remove(at).old_value;
                if old_value == setting.new {
                    continue;
                }
            }
            let kept_change = SettingChange {
                file: change.path.clone(),
                setting: setting.key.clone(),
                old_value,
                new_value: setting.new.clone(),
                origin: moment.origin,
                at: moment.at,
            };
            push_latest(&mut self.evidence.settings, kept_change, bounds::SETTINGS);
        }
    }

    fn plan_decided(&mut self, plan: &str, outcome: Outcome, moment: EntryPosition) {
        let answer = match outcome {
            Outcome::Succeeded => "accepted",
            Outcome::Rejected => "refused",
            Outcome::Failed(_) | Outcome::Interrupted => return,
        };
        let mut lines = plan.lines();
        let (title, approach) =
            (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        let rest = |mark| lines.clone().filter_map(move |line| line.strip_prefix(mark));
        let (steps, files) = (rest(plans::STEP), rest(plans::FILE));
        let choice = Choice {
            question: title.to_owned(),
            answer: answer.to_owned(),
            approach: Some(approach.to_owned()).filter(|approach| !approach.is_empty()),
            background: rest(plans::BACKGROUND).next().map(str::to_owned),
            steps: steps.map(str::to_owned).collect(),
            files: files.map(str::to_owned).collect(),
            ..Choice::default()
        };
        self.choose(choice, moment);
    }

    fn tool_answered(
        &mut self,
        waiting: &PendingCall,
        result: &ToolResult<'_>,
        moment: EntryPosition,
    ) {
        let shown = waiting.shown();
        let event = Event { origin: moment.origin, at: moment.at, shown: &shown };
        let attempt = Attempt::Tool(shown.clone());
        let (tracker, known) = (&mut self.pending.errors, &mut self.evidence.errors);
        match result.outcome {
            Outcome::Succeeded => {
                tracker.succeeded(known, &attempt, event);
                let is_tracker = matches!(waiting.meaning, CallEffect::Other(_));
                if is_tracker && notes::awaits_ticket(&self.evidence) {
                    let answer = result.content.decode(bounds::TICKET_READ);
                    notes::ticket(&mut self.evidence, &answer);
                }
            }
            Outcome::Failed(_) => {
                let content = result.content.decode(bounds::OUTPUT_READ);
                if !errors::is_slip(&content) {
                    tracker.failed(known, attempt, &without_ansi(&content), event);
                }
            }
            Outcome::Rejected | Outcome::Interrupted => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        model::transcript::{ChangeKind, Item, Outcome, SessionContext},
        summarize::evidence::scenarios::{Script, change},
    };

    #[test]
    fn the_name_of_a_file_does_not_make_it_new() {
        for (answer, wanted) in [
            ("File created successfully at: /app/events/order.ts", true),
            ("Created /app/events/order.created.ts.", true),
            ("The new file was created.", true),
            ("{\"status\":\"created\"}", true),
            ("Successfully overwrote file: /app/events/order.created.ts", false),
            ("The file /app/created/order.ts has been updated.", false),
            ("The file C:\\app\\created\\order.ts has been updated.", false),
            ("The file created-at.ts has been updated.", false),
        ] {
            assert_eq!(super::says_created(answer), wanted, "{answer}");
        }
    }

    #[test]
    fn settings_of_scratch_files_are_left_out_unless_the_project_is_there() {
        let settings = |directory: &'static str, path: &'static str| {
            let mut script = Script::default();
            let cwd = Some(directory.into());
            script.item(Item::Context(SessionContext { cwd, ..SessionContext::default() }));
            script.edit("a", path, r#"{ "port": 1 }"#, r#"{ "port": 2 }"#);
            let evidence = script.collect();
            (evidence.settings.len(), evidence.files.len())
        };
        assert_eq!(settings("/home/ann/app", "/home/ann/app/config.json"), (1, 1));
        assert_eq!(settings("/home/ann/app", "/tmp/app/config.json"), (0, 0));
        assert_eq!(settings("/tmp/app", "/tmp/app/config.json"), (1, 1));
        assert_eq!(settings("/tmp/app", "/tmp/other/config.json"), (0, 0));
        let windows = "C:\\Users\\a\\AppData\\Local\\Temp\\a.json";
        assert_eq!(settings("/home/ann/app", windows), (0, 0));
    }

    #[test]
    fn a_setting_that_an_edit_no_longer_found_is_forgotten() {
        let (old, new) = (r#"{ "build": "npm run build" }"#, r#"{ "build": "make" }"#);
        let settings = |answer: &'static str| {
            let mut script = Script::default();
            script.prompt("Build in a container");
            script.edit("a", "/app/vercel.json", "{ }", old);
            script.call("b", "Edit", change("/app/vercel.json", ChangeKind::Edited, old, new));
            script.result("b", Outcome::Failed(None), answer);
            script.collect().settings.len()
        };
        assert_eq!(settings("String to replace not found in file."), 0);
        assert_eq!(settings("permission denied"), 1);
    }
}
