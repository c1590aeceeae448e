//! Classifies tool calls: their intent, their domain, and their signals about the session.
//!
//! A call passes through a chain of steps until a step classifies it: corrections of the user, a
//! stored answer about the same tool and arguments, a stored answer about the same tool, then rules
//! for names and arguments. Unknown tools are collected ([`Unknowns`]) for one request to a model
//! ([`ClassificationRequest`]). The answers of the model are stored ([`ClassificationCache`]).
//!
//! The commands of a shell line are classified one by one: by corrections of the user, by built-in
//! rules ([`bash`]), or by stored answers. Their classifications are stored under the names
//! `bash:<program>` and `bash:<program> <subcommand>`.

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
    cache::{ClassificationCache, ImportCounts, ToolCorrection},
    llm::{ClassificationRequest, Unknowns, UnreadableReply},
};

use serde_json::Value;

use crate::model::{
    activity::Signals,
    tool::{BashCommandClassification, ToolClassification},
    transcript::{Action, Call},
};

/// The steps, in order. A new step is one entry here.
pub static CHAIN: &[&dyn ChainStep] = &[&Corrections, &Exact, &Name, &Heuristic];

pub trait ChainStep: Sync {
    fn step(&self) -> ClassifierStep;

    /// Returns the classification of a call by this step.
    fn classify(
        &self,
        subject: &Subject<'_>,
        learned: &mut ClassificationCache,
    ) -> Option<ToolClassification>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClassifierStep {
    /// A correction of the user.
    Corrected,
    /// A stored answer about a call with the same name and arguments.
    Exact,
    /// A stored answer about the same name.
    Name,
    /// Built-in rules for names, arguments and command lines.
    Heuristic,
}

/// A tool call or a shell command, as input of the chain.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    /// The name under which the classification is stored.
    pub name: &'a str,
    pub params: &'a Value,
    pub kind: SubjectKind<'a>,
}

#[derive(Clone, Debug)]
pub enum SubjectKind<'a> {
    Tool(&'a Action),
    /// A shell command, with its classification by the built-in rules.
    Command(&'a BashCommandClassification),
}

/// The result of the chain for a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Classified {
    Known {
        classification: ToolClassification,
        /// The step that classified the call.
        by: ClassifierStep,
    },
    /// No step classified the call.
    Unknown {
        /// The name for the request to the model.
        tool: String,
        /// The arguments for the request to the model.
        params: Value,
        /// The signals of the other commands of the command line.
        signals: Signals,
    },
}

impl Classified {
    /// Returns the signals of the call about the session.
    pub fn signals(&self) -> &Signals {
        match self {
            Classified::Known { classification, .. } => &classification.activity_signals,
            Classified::Unknown { signals, .. } => signals,
        }
    }

    /// Returns the name for the request to the model, if the call is unknown.
    pub fn unknown(&self) -> Option<&str> {
        match self {
            Classified::Known { .. } => None,
            Classified::Unknown { tool, .. } => Some(tool),
        }
    }
}

/// Classifies a call. In `learned`, only the last use of entries is updated.
pub fn classify(call: &Call<'_>, learned: &mut ClassificationCache) -> Classified {
    if let Some(command) = command::line_of_call(call) {
        return command::classify(&call.tool, &command, learned);
    }
    let subject =
        Subject { name: &call.tool, params: &call.input, kind: SubjectKind::Tool(&call.action) };
    match first_match(&subject, learned) {
        Some((classification, by)) => Classified::Known { classification, by },
        None => Classified::Unknown {
            tool: call.tool.clone().into_owned(),
            params: call.input.clone(),
            signals: Signals::default(),
        },
    }
}

fn first_match(
    subject: &Subject<'_>,
    learned: &mut ClassificationCache,
) -> Option<(ToolClassification, ClassifierStep)> {
    CHAIN.iter().find_map(|step| Some((step.classify(subject, learned)?, step.step())))
}

struct Corrections;

impl ChainStep for Corrections {
    fn step(&self) -> ClassifierStep {
        ClassifierStep::Corrected
    }

    fn classify(
        &self,
        subject: &Subject<'_>,
        learned: &mut ClassificationCache,
    ) -> Option<ToolClassification> {
        learned.corrected(subject.name)
    }
}

struct Exact;

impl ChainStep for Exact {
    fn step(&self) -> ClassifierStep {
        ClassifierStep::Exact
    }

    fn classify(
        &self,
        subject: &Subject<'_>,
        learned: &mut ClassificationCache,
    ) -> Option<ToolClassification> {
        learned.exact(subject.name, subject.params)
    }
}

struct Name;

impl ChainStep for Name {
    fn step(&self) -> ClassifierStep {
        ClassifierStep::Name
    }

    fn classify(
        &self,
        subject: &Subject<'_>,
        learned: &mut ClassificationCache,
    ) -> Option<ToolClassification> {
        learned.by_name(subject.name)
    }
}

struct Heuristic;

impl ChainStep for Heuristic {
    fn step(&self) -> ClassifierStep {
        ClassifierStep::Heuristic
    }

    fn classify(
        &self,
        subject: &Subject<'_>,
        _: &mut ClassificationCache,
    ) -> Option<ToolClassification> {
        match subject.kind {
            SubjectKind::Tool(action) => native::classify(subject.name, subject.params, action)
                .or_else(|| heuristic::classify(subject.name)),
            SubjectKind::Command(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
