//! Handles calls of tools. A rewritten task list, an updated task and a new delegation are recorded
//! at once. The effect of other calls is kept in [`PendingCall`] until the result arrives.

use crate::{
    model::{
        evidence::Delegation,
        transcript::{Action, Call, FileChange, UserQuestion},
    },
    summarize::{
        evidence::{
            bounds,
            collector::Collector,
            files::PlannedChange,
            memory,
            moment::EntryPosition,
            notes,
            pending::{CallEffect, PendingCall, PendingQuestion, is_our_tool},
            plans,
            shell::{CommandLine, resolve},
            tasks,
        },
        lists::push_latest,
    },
    text::kept,
};

/// Maximum number of file changes kept of one call.
const CHANGES: usize = 24;
/// Maximum number of questions kept of one call.
const QUESTIONS: usize = 4;

impl Collector {
    pub(super) fn call(&mut self, call: &Call<'_>, moment: EntryPosition) {
        self.count_message(call.message.as_deref(), false);
        self.evidence.counts.tool_calls += 1;
        self.pending.notified = false;
        self.count_tool(&call.tool, |tool| &mut tool.calls);
        let meaning = self.meaning(call, moment);
        self.pending.settled = self.evidence.last_result.map_or(0, |result| result.line);
        self.pending.wait(PendingCall {
            id: kept(&call.id, bounds::NAME),
            tool: kept(&call.tool, bounds::TOOL),
            origin: moment.origin,
            at: moment.at,
            messages: self.evidence.counts.messages,
            meaning,
        });
    }

    /// Increments one counter of a tool, which the function `counter` selects. When there are too
    /// many tools, the tool with the fewest calls is removed.
    pub(super) fn count_tool(
        &mut self,
        tool: &str,
        counter: impl Fn(&mut crate::model::evidence::ToolUse) -> &mut u32,
    ) {
        let tools = &mut self.evidence.tools;
        let name = kept(tool, bounds::TOOL);
        if !tools.contains_key(&name) && tools.len() >= bounds::TOOLS {
            let least =
                tools.iter().min_by_key(|(_, used)| used.calls).map(|(name, _)| name.clone());
            if let Some(least) = least {
                tools.remove(&least);
            }
        }
        let counter = counter(tools.entry(name).or_default());
        *counter = counter.saturating_add(1);
    }

    fn meaning(&mut self, call: &Call<'_>, moment: EntryPosition) -> CallEffect {
        let directory = self.pending.directory.as_str();
        match &call.action {
            Action::Run { command, .. } => {
                CallEffect::Run(Box::new(CommandLine::read(command, directory)))
            }
            Action::Read { path } => CallEffect::Read(resolve(directory, path)),
            Action::Change(changes) => CallEffect::Change(self.planned(changes)),
            Action::PlanTasks(stated) => {
                tasks::plan(&mut self.evidence.tasks, stated);
                self.evidence.tasks_at = Some(moment.origin);
                CallEffect::Nothing
            }
            Action::AddTask { subject } => CallEffect::AddTask(kept(subject, bounds::TASK)),
            Action::UpdateTask { key, state, subject } => {
                tasks::update(&mut self.evidence.tasks, key, *state, subject.as_deref());
                self.evidence.tasks_at = Some(moment.origin);
                CallEffect::Nothing
            }
            Action::Delegate { agent, subject } => {
                self.delegate(agent.as_deref(), subject, moment);
                CallEffect::Delegate
            }
            Action::Ask(questions) => {
                self.pending.refused = None;
                CallEffect::Questions(questions.iter().take(QUESTIONS).map(pending).collect())
            }
            Action::ProposePlan { plan } => CallEffect::Plan(plans::shorten_plan(plan)),
            Action::Other if call.tool.starts_with("mcp__") && !is_our_tool(&call.tool) => {
                CallEffect::Other(kept(&target(call), bounds::TOOL))
            }
            Action::Other if call.tool == "TaskList" => CallEffect::ListTasks,
            Action::Other => self
                .background_task_in(&call.input)
                .map_or(CallEffect::Nothing, CallEffect::Background),
            Action::Search { .. } | Action::Fetch { .. } => CallEffect::Nothing,
        }
    }

    fn planned(&self, changes: &[FileChange]) -> Vec<PlannedChange> {
        let prompt = self.evidence.prompts.last().map_or("", |prompt| prompt.text.as_str());
        let planned = changes.iter().take(CHANGES).map(|one| {
            let planned = PlannedChange::of(one, &self.pending.directory);
            let note = match memory::is_memory(&planned.path) {
                true => memory::lessons(one),
                false => notes::text_of(one, prompt),
            };
            PlannedChange { note, ..planned }
        });
        planned.collect()
    }

    fn delegate(&mut self, agent: Option<&str>, subject: &str, moment: EntryPosition) {
        let delegation = Delegation {
            agent: agent.map(|agent| kept(agent, bounds::TOOL)),
            subject: kept(subject, bounds::TASK),
            report: None,
            outcome: None,
            files: Vec::new(),
            commits: Vec::new(),
            origin: moment.origin,
        };
        push_latest(&mut self.evidence.delegations, delegation, bounds::DELEGATIONS);
    }
}

/// Returns the parts of a question that are kept until the answer arrives.
fn pending(question: &UserQuestion) -> PendingQuestion {
    let (number, size) = bounds::ALTERNATIVES;
    let options = question.options.iter().take(number + 1);
    let explanations = question.explanations.iter().take(number + 1);
    PendingQuestion {
        question: kept(&question.question, bounds::QUESTION),
        options: options.map(|option| kept(option, size)).collect(),
        explanations: explanations.map(|text| kept(text, bounds::EXPLANATION)).collect(),
        header: question.header.as_ref().map(|text| kept(text, bounds::TOOL)),
    }
}

/// Returns the first string argument of at most 80 bytes, which usually is the object that the tool
/// reads or changes. Returns an empty text if there is no such argument.
fn target(call: &Call<'_>) -> String {
    let arguments = call.input.as_object().into_iter().flatten();
    let texts = arguments.filter_map(|(_, value)| value.as_str());
    texts.filter(|text| text.len() <= 80).map(str::to_owned).next().unwrap_or_default()
}
