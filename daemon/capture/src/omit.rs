//! Removes the omitted texts of an item, so that no summary and no fact contains them.
//!
//! [`Filter::keep`](crate::config::Filter::keep) selects the stored part of a message. A summary is
//! derived from the items themselves, so texts that must not be stored are first removed from the
//! items. The output of a call is removed, too, if the output repeats what the user or an agent
//! said ([`SpeechCalls`]).

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    config::{Filter, Keep},
    model::transcript::{Action, Call, Item, LazyText, Outcome, ToolResult},
};

/// The calls whose arguments and output are speech, which means words of the user or of an agent.
/// This list is saved with the cursor of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpeechCalls(VecDeque<SpeechCall>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SpeechCall {
    id: String,
    speech: Speech,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Speech {
    /// The agent asks the user, or proposes a plan. The output is the answer, often with the
    /// question.
    ToUser,
    /// The agent writes to another agent. The output is the report of the other agent.
    ToAgent,
}

/// Maximum number of calls in [`SpeechCalls`].
const MAX_CALLS: usize = 256;
/// Maximum length, in bytes, of a call's id in [`SpeechCalls`].
const MAX_ID: usize = 256;
/// The start of an output that is not the report of an agent: the agent's program wrote it.
const STARTED: &str = "Async agent launched";
/// The part of an output that marks the report of a sub-agent in the background.
const REPORT: &str = "<task_type>local_agent</task_type>";
/// Maximum length, in bytes, of the output in which [`STARTED`] and [`REPORT`] are searched.
const HEAD: usize = 1_024;
/// The subject of work that an agent gave to another agent, if the agent's texts are omitted.
const OMITTED: &str = "…";

/// The names of tools for questions and plans, in lower case, without characters other than letters
/// and digits. The arguments of some versions are unknown; a call of such a version is
/// [`Action::Other`].
const TOOLS_TO_USER: &[&str] = &[
    "askfollowupquestion",
    "askquestion",
    "askuser",
    "askuserquestion",
    "attemptcompletion",
    "createplan",
    "exitplanmode",
    "messageuser",
    "notifyuser",
    "planexit",
    "question",
    "reportintent",
    "requestuserinput",
    "sendusermessage",
];

/// Tools for messages to other agents, and for their reports.
const TOOLS_TO_AGENT: &[&str] = &[
    "agent",
    "agentoutputtool",
    "delegate",
    "delegatetoagent",
    "dispatchagent",
    "followuptask",
    "invokeagent",
    "newtask",
    "readagent",
    "resumeagent",
    "runsubagent",
    "sendinput",
    "sendmessage",
    "sendtoagent",
    "spawnagent",
    "subagent",
    "task",
    "waitagent",
    "writeagent",
];

impl Filter {
    /// Empties the texts of `item` that this filter omits. The item, its time and its outcome stay.
    /// `calls` are the calls of the earlier items.
    pub fn omit(&self, item: &mut Item<'_>, calls: &mut SpeechCalls) {
        if let Item::Call(call) = &*item {
            calls.note(call);
        }
        let (user, agent) = (self.omits_user(), self.omits_agent());
        match item {
            Item::Prompt(text) if user => *text = "".into(),
            Item::Command { args, .. } if user => *args = "".into(),
            Item::Answer { question, answer, .. } => {
                if agent {
                    *question = "".into();
                }
                if user {
                    *answer = "".into();
                }
            }
            Item::Instruction(text) | Item::Reply { text, .. } if agent => *text = "".into(),
            // A recap or a title may quote the user and the agent.
            Item::Recap { text, .. } | Item::Title { text, .. } if user || agent => {
                *text = "".into();
            }
            Item::ShellOutput(text) if user => *text = "".into(),
            Item::TaskEnded(ended) if agent => ended.text = "".into(),
            Item::Call(call) if !self.tool_calls => {
                call.input = Value::Null;
                call.action = Action::Other;
            }
            Item::Call(call) => self.omit_arguments(call),
            Item::Result(result) if self.omits_output(result, calls.speech(&result.call)) => {
                result.content = LazyText::plain("");
            }
            _ => {}
        }
    }

    /// Removes arguments that are speech. The action [`Action::Delegate`] is kept, because the work
    /// of the sub-agent is attributed to this call.
    fn omit_arguments(&self, call: &mut Call<'_>) {
        if self.omits_agent() && speech_of(call).is_some() {
            call.input = Value::Null;
            match &mut call.action {
                Action::Delegate { subject, .. } => OMITTED.clone_into(subject),
                action => *action = Action::Other,
            }
        } else if self.omits_user() && matches!(call.action, Action::Ask(_)) {
            // Some versions add the user's answers to the arguments.
            call.input = Value::Null;
        }
    }

    fn omits_output(&self, result: &ToolResult<'_>, speech: Option<Speech>) -> bool {
        // A refused call contains the user's reason.
        let has_user_text = speech == Some(Speech::ToUser) || result.outcome == Outcome::Rejected;
        let has_agent_text = || {
            let head = result.content.decode(HEAD);
            (speech.is_some() && !head.starts_with(STARTED)) || head.contains(REPORT)
        };
        (self.omits_user() && has_user_text) || (self.omits_agent() && has_agent_text())
    }

    /// Whether all texts of the user are omitted.
    pub fn omits_user(&self) -> bool {
        self.user_messages == Keep::Omit
    }

    fn omits_agent(&self) -> bool {
        self.agent_messages == Keep::Omit
    }
}

impl SpeechCalls {
    fn note(&mut self, call: &Call<'_>) {
        let Some(speech) = speech_of(call) else { return };
        self.0.push_back(SpeechCall { id: shortened(&call.id).to_owned(), speech });
        if self.0.len() > MAX_CALLS {
            self.0.pop_front();
        }
    }

    fn speech(&self, call: &str) -> Option<Speech> {
        let call = shortened(call);
        self.0.iter().rev().find(|one| one.id == call).map(|one| one.speech)
    }
}

fn speech_of(call: &Call<'_>) -> Option<Speech> {
    match call.action {
        Action::Ask(_) | Action::ProposePlan { .. } => Some(Speech::ToUser),
        Action::Delegate { .. } => Some(Speech::ToAgent),
        Action::Other => {
            let mut tool = call.tool.to_lowercase();
            tool.retain(|c| c.is_ascii_alphanumeric());
            let is_in = |tools: &[&str]| tools.contains(&&*tool);
            let to_agent = is_in(TOOLS_TO_AGENT).then_some(Speech::ToAgent);
            is_in(TOOLS_TO_USER).then_some(Speech::ToUser).or(to_agent)
        }
        _ => None,
    }
}

fn shortened(id: &str) -> &str {
    &id[..id.floor_char_boundary(MAX_ID)]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::transcript::TitleSource;

    #[test]
    fn omitted_texts_are_removed_and_the_others_stay() {
        let (user, agent) = (user(), agent());
        let prompt = || Item::Prompt("never delete backups".into());
        let reply = || Item::Reply { message: None, text: "I use lambda".into() };
        let title = || Item::Title { by: TitleSource::Model, text: "Backups".into() };
        for (filter, item, is_kept) in [
            (&user, prompt(), false),
            (&user, reply(), true),
            (&user, title(), false),
            (&agent, prompt(), true),
            (&agent, reply(), false),
            (&agent, title(), false),
            (&Filter::default(), title(), true),
        ] {
            let mut item = item;
            filter.omit(&mut item, &mut SpeechCalls::default());
            let (Item::Prompt(text) | Item::Reply { text, .. } | Item::Title { text, .. }) = &item
            else {
                panic!("no text in {item:?}")
            };
            assert_eq!(!text.is_empty(), is_kept, "{item:?}");
        }
    }

    #[test]
    fn the_arguments_of_omitted_calls_are_removed() {
        let call = || {
            let action = Action::Run { command: "cat theta.txt".to_owned(), purpose: None };
            Item::Call(call_of("t1", "Bash", json!({ "command": "cat theta.txt" }), action))
        };
        let (mut omitted, mut kept) = (call(), call());
        let mut calls = SpeechCalls::default();
        Filter { tool_calls: false, ..Filter::default() }.omit(&mut omitted, &mut calls);
        Filter::default().omit(&mut kept, &mut calls);
        assert!(!format!("{omitted:?}").contains("theta") && format!("{kept:?}").contains("theta"));
    }

    #[test]
    fn questions_answers_tasks_and_reports_are_omitted_in_calls_and_outputs() {
        let question = json!({ "questions": [{ "question": "omicron?", "options": [] }] });
        let asked = Action::Ask(vec![]);
        let given = json!({ "description": "pi", "prompt": "find rho" });
        let report = format!("<task_id>a</task_id>\n{REPORT}\n<output>{}", "tau ".repeat(1_000));
        let delegated = Action::Delegate { agent: None, subject: "pi".to_owned() };
        for (tool, input, action, output, kept) in [
            ("AskUserQuestion", &question, &asked, "\"omicron?\"=\"sigma\"", [false, false]),
            ("ExitPlanMode", &json!({ "file": "omicron" }), &Action::Other, "ok", [false, false]),
            ("Task", &given, &delegated, "tau is done", [true, false]),
            ("Task", &given, &delegated, "Async agent launched: 1", [true, true]),
            ("TaskOutput", &json!({}), &Action::Other, &report, [true, false]),
            ("send_message", &given, &Action::Other, "tau", [true, false]),
            ("Bash", &json!({}), &Action::Other, "tau", [true, true]),
        ] {
            for (filter, kept) in [user(), agent()].into_iter().zip(kept) {
                for tool_calls in [true, false] {
                    let filter = Filter { tool_calls, ..filter.clone() };
                    let call = call_of("t1", tool, input.clone(), action.clone());
                    let (call, output) = omitted(&filter, call, output);
                    assert_eq!(!output.is_empty(), kept, "{tool}: {output}");
                    let is_clean = ["omicron", "pi\"", "rho"].iter().all(|w| !call.contains(w));
                    assert!(is_clean || filter.user_messages == Keep::Omit, "{call}");
                }
            }
        }
    }

    #[test]
    fn the_reason_of_a_refusal_is_omitted_with_the_user_s_messages() {
        for (filter, is_kept) in [(user(), false), (agent(), true)] {
            let (outcome, content) = (Outcome::Rejected, LazyText::plain("use kappa"));
            let mut item = Item::Result(ToolResult { call: "t1".into(), outcome, content });
            filter.omit(&mut item, &mut SpeechCalls::default());
            let Item::Result(result) = item else { panic!("no result") };
            assert_eq!(result.content.decode(100).is_empty(), !is_kept);
        }
    }

    #[test]
    fn the_number_of_calls_is_bounded() {
        let mut calls = SpeechCalls::default();
        for number in 0..2 * MAX_CALLS {
            let id = number.to_string();
            calls.note(&call_of(&id, "Task", Value::Null, Action::Other));
        }
        assert_eq!((calls.0.len(), calls.speech("0")), (MAX_CALLS, None));
    }

    fn user() -> Filter {
        Filter { user_messages: Keep::Omit, ..Filter::default() }
    }

    fn agent() -> Filter {
        Filter { agent_messages: Keep::Omit, ..Filter::default() }
    }

    fn call_of<'c>(id: &'c str, tool: &'c str, input: Value, action: Action) -> Call<'c> {
        Call { id: id.into(), message: None, tool: tool.into(), input, action }
    }

    /// Returns the stored parts of a call and its output.
    fn omitted(filter: &Filter, call: Call<'_>, output: &str) -> (String, String) {
        let mut calls = SpeechCalls::default();
        let (outcome, content) = (Outcome::Succeeded, LazyText::plain(output));
        let mut result = Item::Result(ToolResult { call: call.id.clone(), outcome, content });
        let mut call = Item::Call(call);
        filter.omit(&mut call, &mut calls);
        filter.omit(&mut result, &mut calls);
        let Item::Result(result) = result else { panic!("no result") };
        (format!("{call:?}"), result.content.decode(100).into_owned())
    }
}
