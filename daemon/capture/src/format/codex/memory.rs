//! The state from earlier records of a rollout that later records need.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::{
    format::Memory,
    model::transcript::{Outcome, Tokens},
};

/// Maximum number of elements of each list; the oldest is evicted.
const KEPT: usize = 64;
/// Maximum length, in bytes, of the kept output of a running process.
pub(super) const PRINTED: usize = 8 * 1024;
/// Maximum length, in bytes, of a question.
const QUESTION: usize = 4_096;

/// The state that the format keeps for a file.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct CodexMemory {
    rollout: RolloutMemory,
}

/// Returns the state from earlier records of the file.
pub(super) fn rollout(memory: &mut Memory) -> &mut RolloutMemory {
    &mut memory.own::<CodexMemory>().rollout
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct RolloutMemory {
    /// The id in the file's first `session_meta`.
    pub(super) thread: String,
    pub(super) turn: String,
    pub(super) is_sub_agent: bool,
    /// Whether the current records of a sub-agent's file are copies of the parent's records.
    pub(super) is_copied: bool,
    /// The ordinal of a sub-agent's first own record.
    pub(super) own_from: u64,
    prompts: VecDeque<SeenPrompt>,
    /// Calls that returned while their work continued.
    ongoing: VecDeque<OngoingCall>,
    /// Calls that continue the work of another call.
    continuations: VecDeque<Continuation>,
    /// The outcomes that events reported, by call, until the result of the call is read.
    outcomes: VecDeque<ReportedOutcome>,
    questions: VecDeque<AskedQuestion>,
    /// The scripts whose calls have no results yet.
    scripts: VecDeque<RunningScript>,
    /// The tokens of the whole thread when they were last counted.
    pub(super) total: Tokens,
}

/// A prompt that appeared in one record kind, and not yet in the other kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct SeenPrompt {
    digest: u64,
    place: PromptSource,
}

/// The record kind in which the text of a prompt appears.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum PromptSource {
    History,
    Event,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct OngoingCall {
    /// The id of the process or of the agent.
    work: String,
    call: String,
    /// The output of a process so far.
    #[serde(default)]
    printed: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Continuation {
    pub(super) call: String,
    pub(super) work: String,
    /// Whether the call was emitted. A call that only waits or interrupts is not emitted.
    pub(super) is_emitted: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ReportedOutcome {
    call: String,
    outcome: Outcome,
}

/// A question to the user. The answer contains the id of the question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct AskedQuestion {
    pub(super) call: String,
    pub(super) id: String,
    pub(super) text: String,
}

/// A script of the code mode that calls tools.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct RunningScript {
    /// The call of the script, and later calls that wait for the script.
    pub(super) call: String,
    /// The ids of the calls in the script, each with whether its result is an object with an exit
    /// code.
    pub(super) calls: Vec<(String, bool)>,
    /// The texts that the script has printed. While the script runs, their total length is at most
    /// `PRINTED`.
    pub(super) texts: Vec<String>,
    /// Codex's id of the script, while the script runs in the background.
    pub(super) cell: String,
}

impl RolloutMemory {
    pub(super) fn note_script(&mut self, script: RunningScript) {
        push(&mut self.scripts, script);
    }

    /// Removes the script that `call` started.
    pub(super) fn take_script(&mut self, call: &str) -> Option<RunningScript> {
        let at = self.scripts.iter().position(|script| script.call == call)?;
        self.scripts.remove(at)
    }

    /// Notes that `call` waits for the script with the id `cell`. Returns whether it is known.
    pub(super) fn wait_for_script(&mut self, cell: &str, call: &str) -> bool {
        let is_waited_for = |script: &&mut RunningScript| script.cell == cell && !cell.is_empty();
        let script = self.scripts.iter_mut().find(is_waited_for);
        script.map(|script| call.clone_into(&mut script.call)).is_some()
    }

    /// Records a prompt; returns whether it already appeared in the other record kind.
    pub(super) fn note_prompt(&mut self, text: &str, place: PromptSource) -> bool {
        let digest = digest(text);
        let other = |seen: &SeenPrompt| seen.digest == digest && seen.place != place;
        if let Some(at) = self.prompts.iter().position(other) {
            self.prompts.remove(at);
            return true;
        }
        push(&mut self.prompts, SeenPrompt { digest, place });
        false
    }

    pub(super) fn note_ongoing(&mut self, work: &str, call: &str) {
        let (work, call) = (work.to_owned(), call.to_owned());
        push(&mut self.ongoing, OngoingCall { work, call, printed: String::new() });
    }

    /// Appends output of a running process. Only the start of a long output is kept.
    pub(super) fn append_output(&mut self, work: &str, text: &str) {
        let ongoing = self.ongoing.iter_mut().find(|ongoing| ongoing.work == work);
        if let Some(ongoing) = ongoing {
            let remaining = PRINTED.saturating_sub(ongoing.printed.len());
            ongoing.printed.push_str(&text[..text.floor_char_boundary(remaining)]);
        }
    }

    pub(super) fn has_ongoing(&self) -> bool {
        !self.ongoing.is_empty()
    }

    /// Removes work that has ended. Returns the call that started the work, and its output so far.
    pub(super) fn take_ongoing(&mut self, work: &str) -> Option<(String, String)> {
        let at = self.ongoing.iter().position(|ongoing| ongoing.work == work)?;
        self.ongoing.remove(at).map(|ongoing| (ongoing.call, ongoing.printed))
    }

    /// Removes the work that `call` started; returns whether there was any.
    pub(super) fn take_ongoing_by_call(&mut self, call: &str) -> bool {
        let at = self.ongoing.iter().position(|ongoing| ongoing.call == call);
        at.and_then(|at| self.ongoing.remove(at)).is_some()
    }

    pub(super) fn note_continuation(&mut self, continuation: Continuation) {
        push(&mut self.continuations, continuation);
    }

    pub(super) fn continued_by(&mut self, call: &str) -> Option<Continuation> {
        let at = self.continuations.iter().position(|one| one.call == call)?;
        self.continuations.remove(at)
    }

    pub(super) fn note_outcome(&mut self, call: &str, outcome: Outcome) {
        push(&mut self.outcomes, ReportedOutcome { call: call.to_owned(), outcome });
    }

    pub(super) fn reported_outcome(&mut self, call: &str) -> Option<Outcome> {
        let at = self.outcomes.iter().position(|reported| reported.call == call)?;
        self.outcomes.remove(at).map(|reported| reported.outcome)
    }

    pub(super) fn note_question(&mut self, mut question: AskedQuestion) {
        question.text.truncate(question.text.floor_char_boundary(QUESTION));
        push(&mut self.questions, question);
    }

    /// Removes the questions of `call` and returns them.
    pub(super) fn questions_of(&mut self, call: &str) -> Vec<AskedQuestion> {
        let questions = std::mem::take(&mut self.questions).into_iter();
        let (asked, others): (Vec<_>, Vec<_>) = questions.partition(|asked| asked.call == call);
        self.questions = others.into();
        asked
    }
}

fn push<T>(list: &mut VecDeque<T>, element: T) {
    list.push_back(element);
    if list.len() > KEPT {
        list.pop_front();
    }
}

/// Returns a hash (FNV-1a) of the text without white space, because the two record kinds join the
/// parts of a prompt differently.
fn digest(text: &str) -> u64 {
    let bytes = text.bytes().filter(|byte| !byte.is_ascii_whitespace());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
