//! Decides whether a later session took up an open end of a session.

use crate::summarize::{
    from_evidence::NOT_ANSWERED,
    handoff::{EndedSession, steps},
};

/// Whether one of the `later` sessions, or the session `past` itself, did the step or was asked for
/// it. If a later session continued the objective, its summary lists the remaining steps.
///
/// Facts end with the tasks and requests of later sessions. Therefore, a task that is only similar
/// does not close a step that is a current fact (`is_fact`). A question without an answer matters
/// only while the same work continues.
pub(super) fn is_taken_up(
    later: &[EndedSession],
    past: &EndedSession,
    step: &str,
    is_fact: bool,
) -> bool {
    let is_fact = is_fact && !step.starts_with(NOT_ANSWERED);
    let is_asked = |text: &str| {
        later.iter().any(|later| if is_fact { later.repeats(text) } else { later.took_up(text) })
    };
    let is_done = |done: &String| match is_fact {
        true => steps::covers_whole(done, step),
        false => steps::covers(done, step),
    };
    let mut done = later.iter().chain([past]).flat_map(|session| &session.done);
    is_asked(&past.objective) || is_asked(step) || done.any(is_done)
}
