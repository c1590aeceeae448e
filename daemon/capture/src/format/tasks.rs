//! Completes a list of tasks when a call contains only the changes.

use crate::model::transcript::Task;

/// Maximum number of tasks on a list.
const TASKS: usize = 64;
/// Maximum length, in bytes, of a task's key and subject together. A longer task is dropped.
const TASK_KEPT: usize = 4_096;

/// Applies `changed` to the known list and returns the whole list. A task without a subject changes
/// only the state of the known task.
pub(crate) fn merge(known: &mut Vec<Task>, changed: Vec<Task>) -> Vec<Task> {
    for task in changed {
        match known.iter_mut().find(|known| known.key == task.key) {
            Some(known) => {
                known.state = task.state;
                if !task.subject.is_empty() {
                    known.subject = task.subject;
                }
            }
            None if !task.subject.is_empty() => known.push(task),
            None => {}
        }
    }
    known.retain(|task| task.key.len() + task.subject.len() <= TASK_KEPT);
    known.truncate(TASKS);
    known.clone()
}
