//! Classifies a whole command line: selects its main command and combines the signals of all
//! commands.

use crate::{
    activity::classify::bash::judge::Judged,
    lang::shell::{parse::CommandPosition, program::Effort},
    model::{
        activity::{Activity, Signals},
        tool::{BashCommandClassification, ToolIntent},
    },
};

/// The weight of a command inside `$(...)`, relative to other commands.
const NESTED: f64 = 0.5;

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

    /// Returns its commands, in the order written.
    pub fn commands(&self) -> impl Iterator<Item = &BashCommandClassification> {
        self.commands.iter().map(|command| &command.classification)
    }

    /// Returns its commands, in the order written.
    pub fn into_commands(self) -> Vec<BashCommandClassification> {
        self.commands.into_iter().map(|command| command.classification).collect()
    }

    /// Lets a source with more precise information (a cache, the user) replace the classification
    /// of each command, in the order written.
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

    /// Returns the main command and its index; `None` for an empty line.
    ///
    /// Changes take precedence over housekeeping, and housekeeping over reading. A command that
    /// runs only after a failure ranks below the command that was tried first. On a tie the last
    /// command of a list is chosen, because earlier ones prepare it, but the first of a pipeline,
    /// because later ones filter its output. Commands inside `$(...)` count only when there is no
    /// other.
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

    /// Returns the line's signals: for each activity the strongest signal of its commands, so that
    /// a long line counts like one call.
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
