//! Follows the agent's task list, with each task in its last state.

use crate::{
    model::transcript::{Task, TaskState},
    summarize::evidence::bounds,
    text::{kept, pattern},
};

/// Replaces the list with the list that the agent wrote. Of the tasks that are missing in the new
/// list, the completed ones stay, and the others are removed.
pub(super) fn plan(tasks: &mut Vec<Task>, stated: &[Task]) {
    let stated: Vec<Task> = stated.iter().map(tidy).collect();
    tasks.retain(|task| {
        task.state == TaskState::Completed
            && !stated.iter().any(|new| new.key == task.key || new.subject == task.subject)
    });
    tasks.extend(stated);
    bound(tasks);
}

pub(super) fn add(tasks: &mut Vec<Task>, key: &str, subject: &str) {
    let task =
        tidy(&Task { key: key.to_owned(), subject: subject.to_owned(), state: TaskState::Pending });
    // A repeated key belongs to a new list. The earlier task stays, without its key, if it is
    // completed.
    if let Some(at) = tasks.iter().position(|known| known.key == task.key) {
        if tasks[at].state == TaskState::Completed {
            tasks[at].key = String::new();
        } else {
            tasks.remove(at);
        }
    }
    tasks.push(task);
    bound(tasks);
}

/// Updates the state and the subject of the last task with this key. `None` leaves them unchanged.
pub(super) fn update(
    tasks: &mut [Task],
    key: &str,
    state: Option<TaskState>,
    subject: Option<&str>,
) {
    let Some(task) = tasks.iter_mut().rev().find(|task| task.key == key) else { return };
    task.state = state.unwrap_or(task.state);
    if let Some(subject) = subject {
        task.subject = kept(subject, bounds::TASK);
    }
}

/// Sets the states of the known tasks to the states in `output`, a list that the agent program
/// printed with lines such as `#6 [completed] Write the parser`.
pub(super) fn listed(tasks: &mut [Task], output: &str) {
    let line = pattern!(r"(?m)^#([A-Za-z0-9_]+) \[(pending|in_progress|completed)\]");
    for found in line.captures_iter(output) {
        let state = match &found[2] {
            "completed" => TaskState::Completed,
            "in_progress" => TaskState::InProgress,
            _ => TaskState::Pending,
        };
        update(tasks, &found[1], Some(state), None);
    }
}

fn tidy(task: &Task) -> Task {
    let key = kept(&task.key, bounds::TASK);
    Task { key, subject: kept(&task.subject, bounds::TASK), state: task.state }
}

fn bound(tasks: &mut Vec<Task>) {
    while tasks.len() > bounds::TASKS {
        let over = |task: &Task| matches!(task.state, TaskState::Completed | TaskState::Dropped);
        let oldest = tasks.iter().position(over).unwrap_or(0);
        tasks.remove(oldest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(subject: &str, state: TaskState) -> Task {
        Task { key: subject.to_owned(), subject: subject.to_owned(), state }
    }

    #[test]
    fn a_new_list_keeps_completed_tasks() {
        let mut tasks = Vec::new();
        plan(&mut tasks, &[task("a", TaskState::Completed), task("b", TaskState::Pending)]);
        plan(&mut tasks, &[task("c", TaskState::InProgress)]);
        assert_eq!(tasks, [task("a", TaskState::Completed), task("c", TaskState::InProgress)]);
    }

    #[test]
    fn a_reused_key_is_another_task() {
        let mut tasks = Vec::new();
        add(&mut tasks, "1", "first");
        update(&mut tasks, "1", Some(TaskState::Completed), None);
        add(&mut tasks, "1", "second");
        update(&mut tasks, "1", Some(TaskState::InProgress), Some("renamed"));
        let shown: Vec<(&str, TaskState)> =
            tasks.iter().map(|task| (task.subject.as_str(), task.state)).collect();
        assert_eq!(shown, [("first", TaskState::Completed), ("renamed", TaskState::InProgress)]);
    }

    #[test]
    fn a_printed_list_sets_the_states() {
        let mut tasks = Vec::new();
        add(&mut tasks, "6", "Show the list");
        add(&mut tasks, "7", "Test the list");
        listed(
            &mut tasks,
            "#6 [completed] Show the list\n#7 [in_progress] Test the list\n#9 [pending] x",
        );
        let states: Vec<TaskState> = tasks.iter().map(|task| task.state).collect();
        assert_eq!(states, [TaskState::Completed, TaskState::InProgress]);
    }

    #[test]
    fn finished_tasks_are_removed_first_when_there_are_too_many() {
        let mut tasks = Vec::new();
        add(&mut tasks, "open", "open");
        for n in 0..100 {
            add(&mut tasks, &n.to_string(), "x");
            update(&mut tasks, &n.to_string(), Some(TaskState::Completed), None);
        }
        assert_eq!(tasks.len(), bounds::TASKS);
        assert_eq!(tasks[0].subject, "open");
    }
}
