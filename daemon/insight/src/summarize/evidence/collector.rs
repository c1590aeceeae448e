//! Reads the entries of one file in order and collects evidence.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    model::{
        evidence::{Delegation, Evidence, Quote, Title},
        time::Timestamp,
        token_use::{day_of, use_of},
        transcript::{Action, Entry, Item, Origin, SessionContext, TitleSource, Tokens},
    },
    summarize::evidence::{
        bounds, git,
        moment::EntryPosition,
        pending::{CallEffect, Pending, PendingCall},
    },
    text::kept,
};

/// A pause longer than this is not counted as work.
const PAUSE: Duration = Duration::from_secs(5 * 60);

/// Collects the evidence of one file: the session's own file, or the file of a sub-agent.
///
/// The collector can be saved as JSON after any entry. A loaded collector continues with the next
/// entry.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Collector {
    pub(super) source: u32,
    pub(super) evidence: Evidence,
    pub(super) pending: Pending,
}

impl Collector {
    /// Returns a collector for the file with the number `source` (see [`Origin::source`]). A
    /// session's own file has the number 0.
    pub fn new(source: u32) -> Collector {
        Collector { source, ..Collector::default() }
    }

    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// Reads the next entry. `line` is the line of its record in the file, counted from 1.
    ///
    /// Results of file reads and searches are never decoded. Of other results, at most 64 KiB are
    /// decoded.
    pub fn observe(&mut self, entry: &Entry<'_>, line: u64) {
        let moment = EntryPosition { origin: Origin { source: self.source, line }, at: entry.at };
        self.pass_time(entry.at);
        if let Some(sub_agent) = &entry.sub_agent {
            self.reported_by(sub_agent, &entry.item, moment);
            if let Some(caller) = &entry.caller {
                self.add_to_delegation(caller, moment);
            }
            return;
        }
        match &entry.item {
            Item::Prompt(text) => {
                self.evidence.is_instructed = false;
                self.prompt(text, moment);
            }
            Item::Command { name, args } => self.command(name, args, moment),
            Item::Instruction(text) => self.instruction(text, moment),
            Item::Reply { message, text } => {
                self.reply(message.as_deref(), text, moment);
                self.note_unanswered();
            }
            Item::Call(call) => {
                self.call(call, moment);
                self.note_unanswered();
            }
            Item::Result(result) => {
                let waiting = self.pending.waiting(&kept(&result.call, bounds::NAME));
                if !waiting.is_some_and(PendingCall::is_ours) {
                    self.evidence.last_result = Some(moment.origin);
                }
                self.result(result, moment);
                self.note_unanswered();
            }
            Item::TaskKey { call, key } => self.task_key(call, key),
            Item::Answer { call, question, answer } => self.answer(call, question, answer, moment),
            Item::Recap { kind, text } => self.recap(*kind, text, moment),
            Item::Title { by, text } => self.title(*by, text),
            Item::Boundary => self.evidence.counts.compactions += 1,
            Item::Interrupted => {
                self.evidence.counts.interruptions += 1;
                self.evidence.interrupted_at = Some(moment.origin);
                self.pending.corrects.get_or_insert_default();
            }
            Item::Context(context) => self.surroundings(context),
            Item::Usage { message, tokens } => self.usage(message.as_deref(), *tokens, entry.at),
            Item::PullRequest { url, number } => {
                git::pull_request(&mut self.evidence, url, *number);
            }
            Item::ShellOutput(text) => self.observe_user_command(text, moment),
            Item::TaskEnded(ended) => {
                self.pending.notified = true;
                self.task_ended(ended, moment);
            }
            Item::SessionEnded => {}
            Item::ServiceError(text) => {
                self.evidence.counts.service_errors += 1;
                self.evidence.service_failure = Some(moment.quote(text, bounds::STATEMENT));
            }
        }
    }

    /// Records a call or result of a sub-agent as if the session itself had made the call. Other
    /// items of the sub-agent are ignored.
    fn reported_by(&mut self, sub_agent: &str, item: &Item<'_>, moment: EntryPosition) {
        let known = &mut self.evidence.reported_sub_agents;
        let sub_agent = kept(sub_agent, bounds::TOOL);
        if known.len() < bounds::SUB_AGENTS && !known.contains(&sub_agent) {
            known.push(sub_agent);
        }
        match item {
            // A sub-agent's task list, questions and plans are not meant for the user. Updates of
            // tasks count, because a task may be on the session's list.
            Item::Call(call) if !is_between_agents(&call.action) => self.call(call, moment),
            Item::Result(result) => self.result(result, moment),
            _ => {}
        }
    }

    /// Records the latest call that still waits for its result, if there is one. The agent
    /// continues only when it has all results. Therefore, if the agent wrote a reply after a call,
    /// or made another call after a later result, the result of the call was lost, and the call is
    /// ignored.
    fn note_unanswered(&mut self) {
        let spoken_at = self.evidence.last_reply.as_ref().map_or(0, |reply| reply.origin.line);
        let is_open = |call: &&PendingCall| {
            call.origin.line > spoken_at.max(self.pending.settled) && !call.is_ours()
        };
        let call = self.pending.calls.iter().rev().find(is_open);
        self.evidence.unanswered_call = call.map(|call| Quote {
            text: kept(&description(call, &self.evidence.delegations), bounds::STATEMENT),
            origin: call.origin,
            at: call.at,
        });
    }

    /// Updates the first and the last time, and adds the time since the latest entry to the working
    /// time, unless this time was a pause. An entry older than the latest entry adds nothing,
    /// because its time is already counted.
    fn pass_time(&mut self, at: Option<Timestamp>) {
        let Some(at) = at else { return };
        let span = &mut self.evidence.span;
        span.first = Some(span.first.map_or(at, |first| first.min(at)));
        span.last = Some(span.last.map_or(at, |last| last.max(at)));
        let clock = self.pending.clock.map_or(at, |clock| clock.max(at));
        let passed = self.pending.clock.map_or(Duration::ZERO, |before| clock.since(before));
        if passed <= PAUSE {
            span.active += passed;
        }
        self.pending.clock = Some(clock);
    }

    fn title(&mut self, by: TitleSource, text: &str) {
        self.evidence.titles.retain(|title| title.by != by);
        self.evidence.titles.push(Title { by, text: kept(text, bounds::TITLE) });
    }

    fn surroundings(&mut self, context: &SessionContext<'_>) {
        if let Some(model) = context.model.as_deref() {
            self.pending.model = kept(model, bounds::NAME);
        }
        if let Some(cwd) = context.cwd.as_deref() {
            self.pending.directory = kept(cwd, bounds::PATH);
            push_name(&mut self.evidence.directories, cwd);
        }
        for (list, name) in [
            (&mut self.evidence.branches, context.branch.as_deref()),
            (&mut self.evidence.agent_versions, context.version.as_deref()),
            (&mut self.evidence.models, context.model.as_deref()),
        ] {
            if let Some(name) = name {
                push_name(list, name);
            }
        }
    }

    fn usage(&mut self, message: Option<&str>, tokens: Tokens, at: Option<Timestamp>) {
        let id = message.map(|id| kept(id, bounds::NAME));
        let before = id.map_or(Tokens::default(), |id| self.pending.counted_before(&id, tokens));
        // The message may have been counted on an earlier day, so only the difference is counted.
        let (mut more, mut less) = (tokens, before);
        more.remove(before);
        less.remove(tokens);
        if more == less {
            return;
        }
        let day = at.or(self.evidence.span.last).map_or(0, day_of);
        let by_day = use_of(&mut self.evidence.token_uses, day, &self.pending.model);
        for sum in [&mut self.evidence.tokens, &mut by_day.tokens] {
            sum.remove(less);
            sum.add(more);
        }
    }
}

/// Adds a name that is not in the list yet. A full list keeps its first names.
pub(super) fn push_name(list: &mut Vec<String>, name: &str) {
    let name = kept(name, bounds::NAME);
    if !name.is_empty() && list.len() < bounds::NAMES && !list.contains(&name) {
        list.push(name);
    }
}

fn is_between_agents(action: &Action) -> bool {
    matches!(
        action,
        Action::PlanTasks(_) | Action::AddTask { .. } | Action::Ask(_) | Action::ProposePlan { .. }
    )
}

/// Returns a short description of a call. If the call starts a sub-agent, the description contains
/// the subject of the sub-agent's work.
fn description(call: &PendingCall, delegations: &[Delegation]) -> String {
    let delegated = delegations.iter().find(|one| one.origin == call.origin);
    let subject = delegated.filter(|_| call.meaning == CallEffect::Delegate);
    subject.map_or_else(|| call.shown(), |one| format!("{}: {}", call.tool, one.subject))
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    #[test]
    fn tokens_are_counted_by_day_and_model_and_once_for_a_message() {
        let mut collector = Collector::new(0);
        let mut observe = |at: &str, item: Item<'_>| {
            let entry =
                Entry { at: Timestamp::parse(at), uuid: None, sub_agent: None, caller: None, item };
            collector.observe(&entry, 1);
        };
        let model = |name| {
            Item::Context(SessionContext { model: Some(Cow::Borrowed(name)), ..Default::default() })
        };
        let usage = |message, output| Item::Usage {
            message: Some(Cow::Borrowed(message)),
            tokens: Tokens { output, cache_read: 1, ..Tokens::default() },
        };
        let (first, second) = ("1970-01-03T23:59:00Z", "1970-01-04T00:01:00Z");
        observe(first, model("a"));
        observe(first, usage("1", 3));
        observe(first, usage("1", 5));
        observe(first, model("b"));
        observe(first, usage("2", 7));
        // Repeated after midnight, at first without another token.
        observe(second, usage("2", 7));
        observe(second, usage("2", 8));
        observe(second, usage("3", 9));
        let evidence = collector.evidence();
        let uses: Vec<_> = evidence
            .token_uses
            .iter()
            .map(|one| (one.day, one.model.as_str(), one.tokens.output, one.tokens.cache_read))
            .collect();
        assert_eq!(uses, [(2, "a", 5, 1), (2, "b", 7, 1), (3, "b", 10, 1)]);
        assert_eq!(evidence.tokens_by_day(), evidence.token_uses);
        assert_eq!(evidence.tokens.output, 22);
    }
}
