//! A whole command line: which of its commands it is there for, and what all of them say together.

use crate::{
    activity::classify::bash::judge::Judged,
    lang::shell::{parse::CommandPosition, program::Effort},
    model::{
        activity::{Activity, Signals},
        tool::{BashCommandClassification, ToolIntent},
    },
};

/// How much a command inside `$(...)` counts beside the others.
const NESTED: f64 = 0.5;

/// A command line, classified.
#[derive(Clone, Debug)]
pub struct ClassifiedLine {
    commands: Vec<JudgedCommand>,
}

#[derive(Clone, Debug)]
struct JudgedCommand {
    classification: BashCommandClassification,
    effort: Effort,
    place: CommandPosition,
}

impl ClassifiedLine {
    pub(super) fn new(found: Vec<(Judged, CommandPosition)>) -> ClassifiedLine {
        let command = |(Judged { classification, effort }, place)| JudgedCommand {
            classification,
            effort,
            place,
        };
        ClassifiedLine { commands: found.into_iter().map(command).collect() }
    }

    /// Its commands, in the order written.
    pub fn commands(&self) -> impl Iterator<Item = &BashCommandClassification> {
        self.commands.iter().map(|command| &command.classification)
    }

    /// Its commands, in the order written.
    pub fn into_commands(self) -> Vec<BashCommandClassification> {
        self.commands.into_iter().map(|command| command.classification).collect()
    }

    /// Lets someone who knows better (a cache, the user) change what is said about a command; asked
    /// about each, in the order written.
    pub fn revise(
        &mut self,
        mut better: impl FnMut(&BashCommandClassification) -> Option<BashCommandClassification>,
    ) {
        for command in &mut self.commands {
            if let Some(classification) = better(&command.classification) {
                command.effort = match classification.intent {
                    ToolIntent::Read | ToolIntent::Search => Effort::Look,
                    _ => command.effort.max(Effort::Housekeeping),
                };
                command.classification = classification;
            }
        }
    }

    /// The command that the line is there for, and which of them it is; none for an empty line.
    ///
    /// Work before housekeeping before looking; what runs only when something failed gives way to
    /// what was tried first; of equals the last in a list (what comes before prepares) but the first
    /// in a pipeline (what follows filters). Commands inside `$(...)` count when there is no other.
    pub fn main(&self) -> Option<(usize, &BashCommandClassification)> {
        let rank = |(_, command): &(usize, &JudgedCommand)| {
            (
                command.effort > Effort::Trivial,
                !command.place.nested,
                command.effort,
                !command.place.alternative,
                command.place.pipeline,
                std::cmp::Reverse(command.place.in_pipeline),
            )
        };
        let main = self.commands.iter().enumerate().max_by_key(rank);
        main.map(|(at, command)| (at, &command.classification))
    }

    /// What the line says about the session: of each activity what the command says that says most,
    /// so that a long line counts like one call.
    pub fn signals(&self) -> Signals {
        let mut most = Signals::default();
        for JudgedCommand { classification, .. } in &self.commands {
            let weight = if classification.nested { NESTED } else { 1.0 };
            for activity in Activity::ALL {
                let says = classification.activity_signals.get(activity) * weight;
                most.add(activity, (says - most.get(activity)).max(0.0));
            }
        }
        most
    }
}
