//! What kind of tool a call was: what it is for, where it works, what it says about the session.
//!
//! A call goes down a chain of steps until one knows it: what the user said, the same call seen
//! before, the same tool seen before, what its name and arguments say. What none knows stays
//! unknown and is collected ([`Unknowns`]) for one question to a model ([`ClassificationRequest`]),
//! whose answer is remembered ([`Learned`]).
//!
//! Shell commands go down the same chain one by one, under the names `bash:<program>` and
//! `bash:<program> <subcommand>`.

pub mod bash;
mod cache;
mod command;
pub mod heuristic;
pub mod key;
mod llm;

pub(crate) mod file;
mod native;
mod signals;
mod verb;

pub use self::{
    cache::{Correction, ImportCounts, Learned},
    llm::{ClassificationRequest, Unknowns, UnreadableReply},
};

use serde_json::Value;

use crate::model::{
    activity::Signals,
    tool::{BashCommandClassification, ToolClassification},
    transcript::{Action, Call},
};

/// The steps, asked in this order. A new one is one line here.
pub static CHAIN: &[&dyn ChainStep] = &[&Corrections, &Exact, &Name, &Heuristic];

/// One step of the chain.
pub trait ChainStep: Sync {
    /// Which it is.
    fn step(&self) -> ClassifierStep;

    /// What it knows about a call.
    fn classify(&self, subject: &Subject<'_>, learned: &mut Learned) -> Option<ToolClassification>;
}

/// The steps of the chain, and who answers when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClassifierStep {
    /// The user said so.
    Corrected,
    /// A call of this name with these arguments was seen before.
    Exact,
    /// A call of this name was seen before.
    Name,
    /// Name, arguments or command line say it.
    Heuristic,
}

/// A tool call or a shell command, as the chain sees it.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    /// The name under which it is remembered.
    pub name: &'a str,
    /// Its arguments.
    pub params: &'a Value,
    /// What else is known of it.
    pub kind: SubjectKind<'a>,
}

/// What a [`Subject`] is.
#[derive(Clone, Debug)]
pub enum SubjectKind<'a> {
    /// A tool call that does this.
    Tool(&'a Action),
    /// A shell command, looked up in the table of programs.
    Command(&'a BashCommandClassification),
}

/// What the chain makes of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Classified {
    /// A step knew it.
    Known {
        /// What is known.
        classification: ToolClassification,
        /// Which step knew it.
        by: ClassifierStep,
    },
    /// None knew it.
    Unknown {
        /// The name to ask about.
        tool: String,
        /// The arguments to show.
        params: Value,
        /// What is known all the same, such as of the other commands of its line.
        signals: Signals,
    },
}

impl Classified {
    /// What the call says about the session.
    pub fn signals(&self) -> &Signals {
        match self {
            Classified::Known { classification, .. } => &classification.activity_signals,
            Classified::Unknown { signals, .. } => signals,
        }
    }

    /// The name that nothing is known about.
    pub fn unknown(&self) -> Option<&str> {
        match self {
            Classified::Known { .. } => None,
            Classified::Unknown { tool, .. } => Some(tool),
        }
    }
}

/// Classifies a call. Only the order of use in `learned` changes.
pub fn classify(call: &Call<'_>, learned: &mut Learned) -> Classified {
    if let Some(command) = command::line_of_call(call) {
        return command::classify(&call.tool, &command, learned);
    }
    let subject =
        Subject { name: &call.tool, params: &call.input, kind: SubjectKind::Tool(&call.action) };
    match walk(&subject, learned) {
        Some((classification, by)) => Classified::Known { classification, by },
        None => Classified::Unknown {
            tool: call.tool.clone().into_owned(),
            params: call.input.clone(),
            signals: Signals::default(),
        },
    }
}

fn walk(
    subject: &Subject<'_>,
    learned: &mut Learned,
) -> Option<(ToolClassification, ClassifierStep)> {
    CHAIN.iter().find_map(|step| Some((step.classify(subject, learned)?, step.step())))
}

struct Corrections;

impl ChainStep for Corrections {
    fn step(&self) -> ClassifierStep {
        ClassifierStep::Corrected
    }

    fn classify(&self, subject: &Subject<'_>, learned: &mut Learned) -> Option<ToolClassification> {
        learned.corrected(subject.name)
    }
}

struct Exact;

impl ChainStep for Exact {
    fn step(&self) -> ClassifierStep {
        ClassifierStep::Exact
    }

    fn classify(&self, subject: &Subject<'_>, learned: &mut Learned) -> Option<ToolClassification> {
        learned.exact(subject.name, subject.params)
    }
}

struct Name;

impl ChainStep for Name {
    fn step(&self) -> ClassifierStep {
        ClassifierStep::Name
    }

    fn classify(&self, subject: &Subject<'_>, learned: &mut Learned) -> Option<ToolClassification> {
        learned.by_name(subject.name)
    }
}

struct Heuristic;

impl ChainStep for Heuristic {
    fn step(&self) -> ClassifierStep {
        ClassifierStep::Heuristic
    }

    fn classify(&self, subject: &Subject<'_>, _: &mut Learned) -> Option<ToolClassification> {
        match subject.kind {
            SubjectKind::Tool(action) => native::classify(subject.name, subject.params, action)
                .or_else(|| heuristic::classify(subject.name)),
            SubjectKind::Command(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
