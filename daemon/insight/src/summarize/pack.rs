//! Selects the messages of a session that go into a prompt when not all of them fit.
//!
//! Messages arrive one by one, and at most about twice as much text as fits into the prompts is
//! held in memory. The least valuable messages are removed first: tool output, then tool calls,
//! then the agent's intermediate replies, then findings, then the reports that end the turns, then
//! messages of the user; of each kind, the oldest first. Before a report is removed, all reports
//! are shortened. The user's first and last message, the agent's last message and the agent's
//! latest summary of the session are kept.

use std::collections::HashSet;

use crate::{
    llm::tokens,
    model::{
        Evidence, Message, Role,
        message::BEFORE_OUTCOME,
        transcript::{Origin, without_middle},
    },
};

/// The value of a message for a summary, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Worth {
    Output,
    Call,
    /// An intermediate reply of the agent.
    Reply,
    /// A message in which the evidence found something, such as an error, a decision or a test run,
    /// or an earlier summary by the agent itself.
    Finding,
    /// The agent's last message of a turn.
    Report,
    Prompt,
    /// The user's first and last message, the agent's last message, and the latest summary by the
    /// agent itself.
    AlwaysKept,
}

/// Receives messages in order and keeps the most valuable ones.
pub struct Packer {
    findings: HashSet<Origin>,
    pieces: Vec<PackedMessage>,
    /// Estimated tokens of all pieces in memory.
    held: u64,
    /// Maximum number of tokens of one prompt.
    prompt_budget: u32,
    /// Maximum number of prompts.
    most_parts: u32,
    /// Number of messages received.
    received: u32,
    /// Estimated tokens of all messages received, before they are cut.
    whole: u64,
    seen_prompt: bool,
    /// The worth of the present turn's last message of the agent if it was not the last; `None` if
    /// the agent wrote nothing in the turn yet.
    worth_without_report: Option<Worth>,
}

/// The content of one or several prompts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packed {
    /// One text for each prompt. The latest summary by the agent itself comes first, then the other
    /// messages in the order of the session.
    pub parts: Vec<String>,
    /// The messages of the user in the prompts.
    pub prompts: Vec<String>,
    /// The messages of the agent in the prompts, with its own summaries.
    pub replies: Vec<String>,
    /// Number of messages that did not fit.
    pub left_out: u32,
    /// Estimated tokens of the omitted messages and of the omitted middles of cut messages.
    pub saved_tokens: u64,
}

struct PackedMessage {
    /// The index of the message in the session.
    number: u32,
    worth: Worth,
    role: Role,
    text: String,
    tokens: u32,
}

struct Parts {
    texts: Vec<String>,
    /// Whether every piece fits into one of the texts.
    is_whole: bool,
}

/// The text of a message is cut to about `prompt_budget / SHARE` bytes, and a byte is at most one
/// token. The four messages that are always kept therefore fit into one prompt.
const SHARE: u32 = 5;
/// Estimated tokens of a line that replaces omitted messages.
const GAP: u32 = 16;
/// Maximum length, in bytes, of a report that had to be shortened: its first and last sentences.
const SHORT_REPORT: usize = 500;

impl Packer {
    /// Creates a packer for at most `most_parts` prompts of `prompt_budget` tokens each. Messages
    /// that the evidence refers to are kept longer.
    pub fn new(evidence: &Evidence, prompt_budget: u32, most_parts: u32) -> Packer {
        Packer {
            findings: findings(evidence),
            pieces: Vec::new(),
            held: 0,
            prompt_budget: prompt_budget.max(1),
            most_parts: most_parts.max(1),
            received: 0,
            whole: 0,
            seen_prompt: false,
            worth_without_report: None,
        }
    }

    pub fn add(&mut self, message: &Message) {
        let worth = self.worth(message);
        if message.role == Role::Recap {
            let earlier = self.pieces.iter_mut().filter(|piece| piece.role == Role::Recap);
            earlier.for_each(|piece| piece.worth = Worth::Finding);
        }
        let worth = self.with_reports(worth, message.role);
        let number = self.received;
        self.received += 1;
        self.whole += u64::from(tokens::estimate(&message.text));
        let limit = longest(worth, message.role).min((self.prompt_budget / SHARE) as usize);
        let text = rendered(message, limit);
        let tokens = tokens::estimate(&text).saturating_add(1);
        self.held += u64::from(tokens);
        self.pieces.push(PackedMessage { number, worth, role: message.role, text, tokens });
        // Thinning out is expensive, so it waits until twice the usable amount is held.
        let most = self.most();
        if self.held > most * 2 {
            self.thin_out(most);
        }
    }

    /// Returns the texts of the prompts: a single text if the session fits without its tool output
    /// and tool calls.
    pub fn finish(mut self) -> Packed {
        self.raise_always_kept();
        let budget = u64::from(self.prompt_budget);
        let core: u64 = self
            .pieces
            .iter()
            .filter(|piece| piece.worth >= Worth::Reply)
            .map(|piece| u64::from(piece.tokens))
            .sum();
        // The lines that replace omitted messages need tokens, too.
        let (parts, mut target) = match core {
            _ if self.held <= budget => (1, budget),
            core if core <= budget - budget / 8 => (1, budget - budget / 8),
            _ => (self.most_parts, self.most()),
        };
        loop {
            self.thin_out(target);
            let packed = self.parts(parts);
            if packed.is_whole || target == 0 {
                let kept = u32::try_from(self.pieces.len()).unwrap_or(self.received);
                let sent: u64 =
                    packed.texts.iter().map(|text| u64::from(tokens::estimate(text))).sum();
                return Packed {
                    parts: packed.texts,
                    prompts: self.texts_of(&[Role::User]),
                    replies: self.texts_of(&[Role::Agent, Role::Recap]),
                    left_out: self.received - kept,
                    saved_tokens: self.whole.saturating_sub(sent),
                };
            }
            target -= target.div_ceil(8);
        }
    }

    fn texts_of(&self, roles: &[Role]) -> Vec<String> {
        let pieces = self.pieces.iter().filter(|piece| roles.contains(&piece.role));
        pieces.map(|piece| piece.text.clone()).collect()
    }

    /// Returns the tokens that fit into all prompts together. Up to `1 / SHARE` of each prompt may
    /// stay empty, because the next message may not fit into the rest.
    fn most(&self) -> u64 {
        u64::from(self.prompt_budget) * u64::from(self.most_parts) * u64::from(SHARE - 1)
            / u64::from(SHARE)
    }

    fn worth(&mut self, message: &Message) -> Worth {
        let is_first =
            message.role == Role::User && !std::mem::replace(&mut self.seen_prompt, true);
        match message.role {
            Role::User if is_first => Worth::AlwaysKept,
            Role::User => Worth::Prompt,
            Role::Recap => Worth::AlwaysKept,
            Role::Agent | Role::Tool if self.findings.contains(&message.origin) => Worth::Finding,
            Role::Agent => Worth::Reply,
            Role::Tool if is_output(&message.text) => Worth::Output,
            Role::Tool => Worth::Call,
        }
    }

    /// Returns [`Worth::Report`] for a message of the agent, and lowers the turn's message that had
    /// it before. Returns `worth` for other messages.
    fn with_reports(&mut self, worth: Worth, role: Role) -> Worth {
        match role {
            Role::User => self.worth_without_report = None,
            Role::Agent => {
                if let Some(before) = self.worth_without_report.replace(worth)
                    && let Some(last) =
                        self.pieces.iter_mut().rev().find(|piece| piece.role == Role::Agent)
                    && last.worth == Worth::Report
                {
                    last.worth = before;
                }
                return Worth::Report;
            }
            Role::Tool | Role::Recap => {}
        }
        worth
    }

    /// Raises the last message of the user and of the agent to [`Worth::AlwaysKept`].
    fn raise_always_kept(&mut self) {
        for role in [Role::User, Role::Agent] {
            if let Some(last) = self.pieces.iter_mut().rev().find(|piece| piece.role == role) {
                last.worth = Worth::AlwaysKept;
            }
        }
    }

    /// Removes the least valuable pieces until at most `target` tokens are left. Pieces of
    /// [`Worth::AlwaysKept`] stay.
    fn thin_out(&mut self, target: u64) {
        self.remove_below(Worth::Report, target);
        self.shorten_reports(target);
        self.remove_below(Worth::AlwaysKept, target);
    }

    /// Removes the pieces below `limit`, the least valuable first, until at most `target` tokens
    /// are left.
    fn remove_below(&mut self, limit: Worth, target: u64) {
        let mut order: Vec<usize> = (0..self.pieces.len()).collect();
        order.sort_by_key(|at| (self.pieces[*at].worth, self.pieces[*at].number));
        let mut dropped = HashSet::new();
        for at in order {
            let piece = &self.pieces[at];
            if self.held <= target || piece.worth >= limit {
                break;
            }
            self.held -= u64::from(piece.tokens);
            dropped.insert(piece.number);
        }
        self.pieces.retain(|piece| !dropped.contains(&piece.number));
    }

    /// Shortens the reports, the oldest first, until at most `target` tokens are left.
    fn shorten_reports(&mut self, target: u64) {
        // The mark of the omission makes a shortened report a little longer.
        let is_long = |piece: &&mut PackedMessage| {
            piece.worth == Worth::Report && piece.text.len() > SHORT_REPORT + SHORT_REPORT / 5
        };
        for piece in self.pieces.iter_mut().filter(is_long) {
            if self.held <= target {
                break;
            }
            let text = without_middle(&piece.text, SHORT_REPORT).into_owned();
            let tokens = tokens::estimate(&text).saturating_add(1);
            self.held -= u64::from(piece.tokens.saturating_sub(tokens));
            (piece.text, piece.tokens) = (text, tokens.min(piece.tokens));
        }
    }

    /// Splits the pieces into at most `most` texts of at most `prompt_budget` tokens each. The
    /// latest summary by the agent itself is first.
    fn parts(&self, most: u32) -> Parts {
        let recap = self.pieces.iter().rposition(|piece| piece.role == Role::Recap);
        let others = (0..self.pieces.len()).filter(|at| Some(*at) != recap);
        let mut parts: Vec<(String, u32)> = Vec::new();
        let mut next = 0;
        for at in recap.into_iter().chain(others) {
            let piece = &self.pieces[at];
            let is_recap = Some(at) == recap;
            // The latest summary was moved to the start, so its old position is not a gap.
            let moved = recap
                .is_some_and(|recap| (next..piece.number).contains(&self.pieces[recap].number));
            let gap = piece.number.saturating_sub(next).saturating_sub(u32::from(moved));
            let gap = if is_recap { 0 } else { gap };
            let needed = piece.tokens + if gap > 0 { GAP } else { 0 };
            if parts.last().is_none_or(|(_, used)| used + needed > self.prompt_budget) {
                if parts.len() == most as usize {
                    return Parts { texts: texts(parts), is_whole: false };
                }
                parts.push((String::new(), 0));
            }
            let (text, used) = parts.last_mut().expect("a part was added if the list was empty");
            if gap > 0 {
                text.push_str(&format!("[{gap} messages are left out here]\n\n"));
            }
            text.push_str(&piece.text);
            text.push_str("\n\n");
            *used += needed;
            if !is_recap {
                next = piece.number + 1;
            }
        }
        Parts { texts: texts(parts), is_whole: true }
    }
}

fn texts(parts: Vec<(String, u32)>) -> Vec<String> {
    parts.into_iter().map(|(text, _)| text.trim_end().to_owned()).collect()
}

/// Returns the origins of the messages in which the evidence found something for a summary.
fn findings(evidence: &Evidence) -> HashSet<Origin> {
    let statements = evidence.statements.iter().chain(&evidence.report).map(|one| one.origin);
    let errors = evidence.errors.iter().flat_map(|error| {
        [Some(error.origin), error.resolution.as_ref().map(|found| found.origin)]
    });
    statements
        .chain(errors.flatten())
        .chain(evidence.choices.iter().map(|choice| choice.origin))
        .chain(evidence.settings.iter().map(|setting| setting.origin))
        .chain(evidence.tests.iter().map(|run| run.origin))
        .chain(evidence.commits.iter().map(|commit| commit.origin))
        .chain(evidence.delegations.iter().map(|delegation| delegation.origin))
        .collect()
}

/// Returns the maximum number of bytes of a message that go into a prompt.
fn longest(worth: Worth, role: Role) -> usize {
    match (worth, role) {
        (_, Role::Recap) => 12_000,
        (Worth::AlwaysKept, _) => 8_000,
        (Worth::Prompt, _) => 4_000,
        (Worth::Finding, Role::Tool) => 1_000,
        (Worth::Finding | Worth::Report | Worth::Reply, _) => 3_000,
        (Worth::Call, _) => 400,
        (Worth::Output, _) => 500,
    }
}

/// Whether the first line has the arrow that precedes the outcome of a call.
fn is_output(text: &str) -> bool {
    text.lines().next().is_some_and(|line| line.contains(BEFORE_OUTCOME))
}

fn rendered(message: &Message, limit: usize) -> String {
    let speaker = match (message.role, &message.tool) {
        (Role::User, _) => "user",
        (Role::Agent, _) => "agent",
        (Role::Tool, _) => "tool",
        (Role::Recap, _) => "summary by the agent itself",
    };
    format!("[{speaker}] {}", without_middle(&message.text, limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(seq: u32, role: Role, text: &str) -> Message {
        Message {
            seq,
            origin: Origin { source: 0, line: u64::from(seq) + 1 },
            uuid: None,
            role,
            at: None,
            text: text.to_owned(),
            tool: (role == Role::Tool).then(|| "Bash".to_owned()),
            files: Vec::new(),
            branch: None,
        }
    }

    /// Builds a session of turns with a request, an answer, a call and a long output each.
    fn session(turns: u32) -> Vec<Message> {
        let turn = |turn: u32| {
            let seq = turn * 4;
            [
                message(seq, Role::User, &format!("request {turn}")),
                message(seq + 1, Role::Tool, &format!("Bash: make {turn}")),
                message(
                    seq + 2,
                    Role::Tool,
                    &format!("Bash: `make {turn}` → ok\n{}", "x".repeat(3_000)),
                ),
                message(seq + 3, Role::Agent, &format!("answer {turn} {}", "word ".repeat(20))),
            ]
        };
        (0..turns).flat_map(turn).collect()
    }

    fn packed(messages: &[Message], prompt_budget: u32, most_parts: u32) -> Packed {
        let mut packer = Packer::new(&Evidence::default(), prompt_budget, most_parts);
        messages.iter().for_each(|message| packer.add(message));
        let most = packer.most() * 2;
        assert!(packer.held <= most + u64::from(prompt_budget), "{} of {most}", packer.held);
        let packed = packer.finish();
        for part in &packed.parts {
            assert!(
                tokens::estimate(part) <= prompt_budget,
                "{} of {prompt_budget}",
                tokens::estimate(part)
            );
        }
        packed
    }

    #[test]
    fn messages_that_fit_are_complete_and_in_order() {
        let found = packed(&session(2), 10_000, 3);
        assert_eq!((found.parts.len(), found.left_out), (1, 0));
        assert!(
            found.parts[0].starts_with("[user] request 0\n\n[tool] Bash: make 0\n\n[tool] Bash:")
        );
        assert!(found.parts[0].trim_end().ends_with("word"));
        assert_eq!(packed(&[], 10_000, 3), Packed::default());
    }

    #[test]
    fn tool_output_is_removed_first_so_that_one_prompt_is_enough() {
        let found = packed(&session(30), 4_000, 3);
        assert_eq!(found.parts.len(), 1);
        for turn in 0..30 {
            assert!(found.parts[0].contains(&format!("[user] request {turn}\n")), "{turn}");
            assert!(found.parts[0].contains(&format!("[agent] answer {turn} ")), "{turn}");
        }
        assert!(found.saved_tokens > 0);
        assert!(found.left_out >= 10 && found.parts[0].contains("messages are left out here]"));
        assert!(!found.parts[0].contains("`make 0` → ok"), "the oldest output is removed first");
        assert!(found.parts[0].contains("`make 29` → ok"), "the latest output is removed last");
    }

    #[test]
    fn long_sessions_are_split_and_keep_their_first_and_last_messages() {
        let found = packed(&session(100), 2_000, 4);
        assert!(found.parts.len() > 1 && found.parts.len() <= 4, "{}", found.parts.len());
        let found = packed(&session(4_000), 2_000, 2);
        assert!(found.parts.len() <= 2);
        assert!(found.parts[0].starts_with("[user] request 0\n"), "{}", &found.parts[0][..80]);
        let whole = found.parts.join("\n");
        assert!(whole.contains("[user] request 3999") && whole.contains("[agent] answer 3999 "));
    }

    #[test]
    fn the_reports_of_turns_stay_longer_than_other_messages() {
        let turn = |turn: u32| {
            let seq = turn * 4;
            let report = format!("report {turn} {}", "word ".repeat(300));
            [
                message(seq, Role::User, &format!("request {turn}")),
                message(seq + 1, Role::Agent, &format!("remark {turn} {}", "word ".repeat(150))),
                message(seq + 2, Role::Agent, &format!("plan {turn} {}", "word ".repeat(150))),
                message(seq + 3, Role::Agent, &report),
            ]
        };
        let messages: Vec<Message> = (0..20).flat_map(turn).collect();
        let mut evidence = Evidence::default();
        evidence.choices.push(crate::model::evidence::Choice {
            origin: messages[2].origin,
            ..Default::default()
        });
        let whole = |prompt_budget, most_parts| {
            let mut packer = Packer::new(&evidence, prompt_budget, most_parts);
            messages.iter().for_each(|message| packer.add(message));
            packer.finish().parts.join("\n")
        };
        let numbers_of = |whole: &str, name: &str| -> Vec<u32> {
            (0..20)
                .filter(|turn| {
                    whole.contains(&format!(
                        "] {name} {turn}{}",
                        if name == "request" { "\n" } else { " " }
                    ))
                })
                .collect()
        };
        let all: Vec<u32> = (0..20).collect();
        // The reports fit.
        let found = whole(3_000, 5);
        assert_eq!(numbers_of(&found, "report"), all);
        assert_eq!(numbers_of(&found, "plan")[0], 0, "the evidence refers to this message");
        assert!(!found.contains("] remark 1 ") && found.contains("] remark 19 "));
        // The reports fit only without their middles.
        let found = whole(2_000, 3);
        assert_eq!(
            (numbers_of(&found, "request"), numbers_of(&found, "report")),
            (all.clone(), all)
        );
        assert!(found.contains("bytes left out") && numbers_of(&found, "plan").len() < 20);
        // Some reports do not fit.
        let found = whole(1_000, 2);
        let reports = numbers_of(&found, "report");
        assert!(reports.len() < 20 && reports.ends_with(&[18, 19]), "{reports:?}");
        assert_eq!(numbers_of(&found, "request").len(), 20);
    }

    #[test]
    fn the_agent_s_latest_summary_is_first() {
        let mut messages = session(3);
        messages.insert(4, message(90, Role::Recap, "the older summary"));
        messages.insert(9, message(91, Role::Recap, "the later summary"));
        let found = packed(&messages, 10_000, 1);
        assert!(found.parts[0].starts_with("[summary by the agent itself] the later summary"));
        assert_eq!(found.parts[0].matches("the later summary").count(), 1);
        assert_eq!(found.parts[0].matches("the older summary").count(), 1);
    }

    #[test]
    fn output_that_the_evidence_refers_to_is_kept_longer() {
        let messages = session(40);
        let mut evidence = Evidence::default();
        let origin = messages[6].origin;
        evidence.commits.push(crate::model::evidence::Commit {
            body: String::new(),
            at: None,
            hash: "1a2b3c4".to_owned(),
            subject: "Fix it".to_owned(),
            origin,
        });
        let mut packer = Packer::new(&evidence, 4_000, 1);
        messages.iter().for_each(|message| packer.add(message));
        let found = packer.finish();
        assert!(found.parts[0].contains("`make 1` → ok"), "the evidence refers to it");
        assert!(!found.parts[0].contains("`make 2` → ok"), "the evidence does not refer to it");
    }

    #[test]
    fn the_agent_s_latest_summary_stays_while_many_messages_arrive() {
        let mut messages = vec![message(0, Role::User, "request")];
        messages.push(message(1, Role::Recap, "the older summary"));
        messages.push(message(2, Role::Recap, "the later summary"));
        messages.extend((3..200).map(|seq| message(seq, Role::User, &"word ".repeat(60))));
        let found = packed(&messages, 2_000, 1);
        assert!(found.parts[0].starts_with("[summary by the agent itself] the later summary"));
        assert!(!found.parts[0].contains("the older summary"));
    }
}
