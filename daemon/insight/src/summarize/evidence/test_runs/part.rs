//! The part of a test suite that ran, and whether this part covers another part.

use serde::{Deserialize, Serialize};

/// The part of a test suite to which a run was limited.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::summarize::evidence) struct TestScope {
    /// The package or folder whose tests ran, and the task if it is a separate suite: `test:e2e`.
    pub(in crate::summarize::evidence) place: Option<String>,
    /// The options, names and files that limited the run.
    pub(in crate::summarize::evidence) limited_to: Option<String>,
    /// The environment variables that the command set and that may enable tests.
    pub(in crate::summarize::evidence) variables: Vec<String>,
    /// Number of tests that the run left out, if the runner prints this number.
    pub(in crate::summarize::evidence) not_run: u32,
}

impl TestScope {
    /// Whether a run of this part certainly includes the tests of `other`, a part at the same
    /// place. A run without the variables of `other` may skip tests, so this part must have these
    /// variables. Besides, one of these conditions must hold: this part has no limit; both parts
    /// have the same limit; no option limits this part, and each path that limits `other` is below
    /// a path of this part.
    pub(in crate::summarize::evidence) fn covers(&self, other: &TestScope) -> bool {
        if !other.variables.iter().all(|variable| self.variables.contains(variable)) {
            return false;
        }
        let Some(own) = &self.limited_to else { return true };
        let Some(others) = &other.limited_to else { return false };
        let path = |word: &'_ str| word.trim_end_matches(['.', '/', '\u{2026}']).to_owned();
        let is_option = |word: &str| word.starts_with('-');
        let own_paths: Vec<String> = own.split(' ').map(path).collect();
        let below = |word: &str| {
            own_paths.iter().any(|path| {
                let rest = word.strip_prefix(path.as_str()).filter(|_| !path.is_empty());
                rest.is_some_and(|rest| {
                    rest.is_empty() || rest.starts_with(['/', ':', '.', '#', '['])
                })
            })
        };
        let has_option = own.split(' ').any(is_option);
        let mut paths = others.split(' ').filter(|word| word.contains(['/', '.'])).peekable();
        own == others || !has_option && paths.peek().is_some() && paths.all(below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_covers_the_parts_within_it() {
        let part = |limit: &str| TestScope {
            limited_to: Some(limit.to_owned()).filter(|limit| !limit.is_empty()),
            ..TestScope::default()
        };
        for (own, other, wanted) in [
            ("", "-k login", true),
            ("-k login", "", false),
            ("-k login", "-k login", true),
            ("-k login", "-k logout", false),
            ("tests/a.py", "tests/a.py::TestX", true),
            ("./auth/...", "-run TestX ./auth/keys", true),
            ("./auth/...", "-run TestX ./sync", false),
            ("src/a", "src/ab.rs", false),
        ] {
            assert_eq!(part(own).covers(&part(other)), wanted, "{own} {other}");
        }
        let gated = TestScope { variables: vec!["E2E_SERVER".to_owned()], ..part("") };
        assert!(gated.covers(&part("")) && gated.covers(&gated));
        assert!(!part("").covers(&gated), "the run skips the tests");
    }
}
