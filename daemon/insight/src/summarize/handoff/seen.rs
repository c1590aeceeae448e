//! Records the test runs and settings of the sessions that a handoff has merged so far. An earlier
//! session's run of the same tests, or value of the same setting, no longer holds.

use crate::model::summary::TestSummary;

#[derive(Default)]
pub(super) struct SeenSubjects {
    frameworks: Vec<String>,
    /// The runs of a part whose tests passed. A passed part replaces only earlier runs with the same
    /// limit that left out at least as many tests.
    passed_parts: Vec<TestSummary>,
    pub(super) settings: Vec<(String, String)>,
}

impl SeenSubjects {
    /// Whether the run of a later session replaces `tests`. If not, records `tests`.
    pub(super) fn replaces(&mut self, tests: &TestSummary) -> bool {
        let is_same_part = |passed: &TestSummary| {
            passed.framework == tests.framework
                && passed.limited_to == tests.limited_to
                && passed.not_run <= tests.not_run
        };
        if self.frameworks.contains(&tests.framework) || self.passed_parts.iter().any(is_same_part)
        {
            return true;
        }
        match tests.failed == 0 && (tests.limited_to.is_some() || tests.not_run > 0) {
            true => self.passed_parts.push(tests.clone()),
            false => self.frameworks.push(tests.framework.clone()),
        }
        false
    }
}
