//! Follows the state of a shell, such as its directory, from command to command. A subshell changes
//! only its own copy.

use std::iter;

use crate::summarize::evidence::shell::words::SimpleCommand;

/// Maximum number of nested subshells that are followed.
const MAX_DEPTH: usize = 64;

pub(super) struct ShellState<T> {
    pub(super) current: T,
    /// The states of the shells around the current shell, the outermost first.
    outer: Vec<T>,
}

impl<T: Clone> ShellState<T> {
    pub(super) fn new(initial: T) -> ShellState<T> {
        ShellState { current: initial, outer: Vec::new() }
    }

    /// Ends and begins the subshells before `command`.
    pub(super) fn advance_to(&mut self, command: &SimpleCommand) {
        for _ in 0..command.subshells.ended {
            if let Some(outer) = self.outer.pop() {
                self.current = outer;
            }
        }
        let begun = command.subshells.begun.min(MAX_DEPTH.saturating_sub(self.outer.len()));
        self.outer.extend(iter::repeat_n(self.current.clone(), begun));
    }
}
