//! Records the test runs and settings of the sessions that a handoff has merged so far. An earlier
//! session's run of the same tests, or value of the same setting, no longer holds.

use crate::model::summary::TestSummary;

#[derive(Default)]
pub(super) struct SeenSubjects {
    frameworks: Vec<String>,
    /// The framework and the limit of each run of a part whose tests passed. Such a run replaces
    /// only earlier runs of the same part.
    passed_parts: Vec<(String, Option<String>)>,
    pub(super) settings: Vec<(String, String)>,
}

impl SeenSubjects {
    /// Whether the run of a later session replaces `tests`. If not, records `tests`.
    pub(super) fn replaces(&mut self, tests: &TestSummary) -> bool {
        let part = (tests.framework.clone(), tests.limited_to.clone());
        if self.frameworks.contains(&tests.framework) || self.passed_parts.contains(&part) {
            return true;
        }
        match tests.failed == 0 && (tests.limited_to.is_some() || tests.not_run > 0) {
            // If tests were not run, it is unknown which part passed.
            true => self.passed_parts.extend((tests.not_run == 0).then_some(part)),
            false => self.frameworks.push(part.0),
        }
        false
    }
}
