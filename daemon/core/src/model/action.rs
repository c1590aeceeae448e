//! The actions of tool calls, independent of the agent.

use serde::{Deserialize, Serialize};

/// The action of a tool call, independent of the agent's names.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Runs a shell command.
    Run {
        /// The command line as the shell gets it.
        command: String,
        /// The agent's description of the command.
        purpose: Option<String>,
    },
    /// Reads a file.
    Read {
        /// The path as written.
        path: String,
    },
    /// Changes files.
    Change(Vec<FileChange>),
    /// Searches the contents or the names of files.
    Search {
        /// The text to search for.
        pattern: String,
        /// The path to search in, if given.
        path: Option<String>,
    },
    /// Fetches from the network: an address or a query.
    Fetch {
        /// The address or the words searched for.
        what: String,
    },
    /// States the whole list of tasks.
    PlanTasks(Vec<Task>),
    /// Adds one task. The key of the task may be known only from the result.
    AddTask {
        /// The task.
        subject: String,
    },
    /// Changes one task.
    UpdateTask {
        /// The agent's key of the task.
        key: String,
        /// The new state, if it changes.
        state: Option<TaskState>,
        /// The new text, if it changes.
        subject: Option<String>,
    },
    /// Hands work to a sub-agent.
    Delegate {
        /// The kind of sub-agent.
        agent: Option<String>,
        /// The work in a few words.
        subject: String,
    },
    /// Asks the user to choose.
    Ask(Vec<UserQuestion>),
    /// Proposes a plan to the user.
    ProposePlan {
        /// The plan's text.
        plan: String,
    },
    /// Another action: only the tool's name and its arguments are known.
    Other,
}

impl Action {
    /// Calls `visit` with each text of the action, to be changed in place.
    pub fn for_each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        match self {
            Action::Run { command, purpose } => {
                visit(command);
                purpose.iter_mut().for_each(visit);
            }
            Action::Read { path: text }
            | Action::Fetch { what: text }
            | Action::AddTask { subject: text }
            | Action::ProposePlan { plan: text } => visit(text),
            Action::Change(changes) => {
                changes.iter_mut().for_each(|change| change.for_each_text(visit));
            }
            Action::Search { pattern, path } => {
                visit(pattern);
                path.iter_mut().for_each(visit);
            }
            Action::PlanTasks(tasks) => tasks.iter_mut().for_each(|task| {
                let Task { key, subject, state: _ } = task;
                visit(key);
                visit(subject);
            }),
            Action::UpdateTask { key, state: _, subject } => {
                visit(key);
                subject.iter_mut().for_each(visit);
            }
            Action::Delegate { agent, subject } => {
                agent.iter_mut().for_each(&mut *visit);
                visit(subject);
            }
            Action::Ask(questions) => questions.iter_mut().for_each(|question| {
                let UserQuestion { explanations, header, question, options } = question;
                visit(question);
                header.iter_mut().chain(options).chain(explanations).for_each(&mut *visit);
            }),
            Action::Other => {}
        }
    }
}

/// One file changed by a call.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct FileChange {
    /// The file's path as given.
    pub path: String,
    pub kind: ChangeKind,
    /// The replaced pieces of text. A file that was written as a whole has one replacement with an
    /// empty `old`.
    pub edits: Vec<Replacement>,
}

impl FileChange {
    fn for_each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        let FileChange { path, kind, edits } = self;
        visit(path);
        if let ChangeKind::Moved { to } = kind {
            visit(to);
        }
        for Replacement { old, new } in edits {
            visit(old);
            visit(new);
        }
    }
}

/// A change of a file.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum ChangeKind {
    /// Parts of the file were replaced.
    #[default]
    Edited,
    /// The file was written as a whole: it is new, or it replaced an existing file.
    Written,
    /// The file was removed.
    Deleted,
    /// The file was renamed, and perhaps edited.
    Moved {
        /// The new path.
        to: String,
    },
}

/// A replaced piece of text and its replacement.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Replacement {
    /// The text before; empty when text was only added.
    pub old: String,
    /// The text after; empty when text was only removed.
    pub new: String,
}

/// A task on the agent's list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// The agent's key of the task, or the text of the task if the agent has no keys.
    pub key: String,
    /// The text of the task.
    pub subject: String,
    pub state: TaskState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// Not started.
    Pending,
    /// Started.
    InProgress,
    /// Done.
    Completed,
    /// Cancelled or removed.
    Dropped,
}

/// A question to the user with options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserQuestion {
    /// The explanation of each option; empty if the agent's dialogue has none.
    pub explanations: Vec<String>,
    /// The label that the agent's dialogue shows above the question.
    pub header: Option<String>,
    pub question: String,
    pub options: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_of_an_action_is_visited() {
        let text = || "secret".to_owned();
        let edit = Replacement { old: text(), new: text() };
        let question = UserQuestion {
            explanations: vec![text()],
            header: Some(text()),
            question: text(),
            options: vec![text()],
        };
        let actions = [
            Action::Run { command: text(), purpose: Some(text()) },
            Action::Read { path: text() },
            Action::Fetch { what: text() },
            Action::Change(vec![FileChange {
                path: text(),
                kind: ChangeKind::Moved { to: text() },
                edits: vec![edit],
            }]),
            Action::Search { pattern: text(), path: Some(text()) },
            Action::PlanTasks(vec![Task {
                key: text(),
                subject: text(),
                state: TaskState::Pending,
            }]),
            Action::AddTask { subject: text() },
            Action::UpdateTask { key: text(), state: None, subject: Some(text()) },
            Action::Delegate { agent: Some(text()), subject: text() },
            Action::Ask(vec![question]),
            Action::ProposePlan { plan: text() },
        ];
        for mut action in actions {
            action.for_each_text(&mut |text| "visited".clone_into(text));
            let shown = format!("{action:?}");
            assert!(!shown.contains("secret"), "{shown}");
        }
    }
}
