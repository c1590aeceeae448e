//! Classifies a whole command line: selects its main command and combines the signals of all
//! commands.

use crate::{
    activity::classify::bash::command::ClassifiedCommand,
    lang::shell::program::Effort,
    model::{
        activity::{Activity, Signals},
        tool::{BashCommandClassification, ToolIntent},
    },
};

/// The weight of a command inside `$(...)`, relative to other commands.
const NESTED_WEIGHT: f64 = 0.5;

#[derive(Clone, Debug)]
pub struct ClassifiedLine {
    pub(super) commands: Vec<ClassifiedCommand>,
}

impl ClassifiedLine {
    /// Returns the commands of the line, in the order written. A command inside `$(...)` precedes
    /// the command that contains it.
    pub fn commands(&self) -> impl Iterator<Item = &BashCommandClassification> {
        self.commands.iter().map(|command| &command.classification)
    }

    pub fn into_commands(self) -> Vec<BashCommandClassification> {
        self.commands.into_iter().map(|command| command.classification).collect()
    }

    /// Calls `replacement` for each command, in the order of [`Self::commands`], and replaces the
    /// classification if `replacement` returns another classification.
    pub fn revise(
        &mut self,
        mut replacement: impl FnMut(&BashCommandClassification) -> Option<BashCommandClassification>,
    ) {
        for command in &mut self.commands {
            if let Some(classification) = replacement(&command.classification) {
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
    /// A command inside `$(...)` is chosen only if all other commands are trivial (`cd`, `echo`).
    /// Commands that are the purpose of a line (such as builds, tests and changes) take precedence
    /// over housekeeping, and housekeeping over reading. Among commands of equal effort, a command
    /// after `||` ranks below the others. On a tie, the last pipeline of a list is chosen, because
    /// earlier pipelines prepare it, and the first command of this pipeline, because later commands
    /// filter its output.
    pub fn main(&self) -> Option<(usize, &BashCommandClassification)> {
        let rank = |(_, command): &(usize, &ClassifiedCommand)| {
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

    /// Returns the signals of the line: for each activity the strongest signal of the commands, so
    /// that a long line counts like one call.
    pub fn signals(&self) -> Signals {
        let mut strongest = Signals::default();
        for ClassifiedCommand { classification, .. } in &self.commands {
            let weight = if classification.nested { NESTED_WEIGHT } else { 1.0 };
            for activity in Activity::ALL {
                let weighted = classification.activity_signals.get(activity) * weight;
                strongest.add(activity, (weighted - strongest.get(activity)).max(0.0));
            }
        }
        strongest
    }
}
