//! Follows the state of a shell, such as its directory, from command to command. A subshell changes
//! only its own copy.

use std::iter;

use crate::summarize::evidence::shell::words::SimpleCommand;

pub(super) struct ShellState<T> {
    pub(super) current: T,
    /// The states of the shells around the current one, the outermost first.
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
        self.outer.extend(iter::repeat_n(self.current.clone(), command.subshells.begun));
    }
}
