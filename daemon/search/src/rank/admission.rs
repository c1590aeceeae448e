//! Checks whether a session that is not in the index meets the filters of a query.

use crate::{
    model::{Project, Timestamp},
    query::{Filter, Query},
    rank::cards::{AnyOf, denotes_project},
};

impl Query {
    /// Whether a session with this agent, project and time meets all filters. The session has no
    /// file, branch, tool or kind, so it meets only negated filters on these properties. `project`
    /// is the path of the project, or its name.
    pub fn admits_session(&self, agent: &str, project: &str, at: Timestamp) -> bool {
        let namespace = Project::new(project).namespace().number();
        let mut agents = AnyOf::default();
        let mut projects = AnyOf::default();
        for condition in &self.conditions {
            let (alternatives, is_met) = match &condition.filter {
                Filter::Agent(name) => (Some(&mut agents), name.eq_ignore_ascii_case(agent)),
                Filter::Project(name) => {
                    (Some(&mut projects), denotes_project(name, namespace, Some(project)))
                }
                Filter::During(range) => (None, range.contains(at)),
                Filter::File(_) | Filter::Branch(_) | Filter::Tool(_) | Filter::Kinds(_) => {
                    (None, false)
                }
            };
            match alternatives {
                Some(alternatives) if !condition.is_negated => alternatives.note(is_met),
                _ if is_met == condition.is_negated => return false,
                _ => {}
            }
        }
        agents.is_met() && projects.is_met()
    }
}

#[cfg(test)]
mod tests {
    use jiff::{civil::date, tz::TimeZone};

    use super::*;

    #[test]
    fn filters_of_one_name_are_alternatives_and_projects_have_several_names() {
        let now = date(2026, 3, 5).to_zoned(TimeZone::UTC).expect("a valid date");
        let at = Timestamp::parse("2026-03-04T10:00:00Z").expect("a valid time");
        let admits = |text: &str, project: &str| {
            let mut query = Query::parse(text, &now);
            query.widen_projects(&|_| vec![Project::new("/home/ann/api").namespace()]);
            query.admits_session("claude", project, at)
        };
        for text in [
            "retry",
            "agent:codex agent:claude retry",
            "project:api retry",
            "project:site project:api retry",
            "-agent:codex date:2026-03-04 retry",
        ] {
            assert!(admits(text, "/home/ann/api"), "{text}");
        }
        assert!(admits("project:api retry", "api"), "the name alone denotes a colleague's project");
        assert!(!admits("project:web retry", "web-tools/api2"));
        for text in ["agent:codex retry", "-agent:claude retry", "date:2026-03-05 retry"] {
            assert!(!admits(text, "/home/ann/api"), "{text}");
        }
        assert!(!admits("file:src/lib.rs retry", "/home/ann/api"));
    }
}
