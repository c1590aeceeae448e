//! stub
pub mod config;
pub mod evidence {
    //! stub
    use crate::model::{Evidence, transcript::Entry};
    /// stub
    #[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
    pub struct Collector {
        evidence: Evidence,
    }
    impl Collector {
        /// n
        pub fn new(_source: u32) -> Collector {
            Collector::default()
        }
        /// o
        pub fn observe(&mut self, _e: &Entry<'_>, _l: u64) {}
        /// e
        pub fn evidence(&self) -> &Evidence {
            &self.evidence
        }
    }
}
use crate::model::*;
/// s
pub struct Context<'a> {
    /// p
    pub project: Option<&'a Project>,
    /// s
    pub session_file: &'a str,
}
/// s
pub fn merge(main: &Evidence, _subs: &[&Evidence]) -> Evidence {
    main.clone()
}
/// s
pub fn summarize(
    _e: &Evidence,
    _c: &Context<'_>,
    activity_vector: ActivityVector,
) -> EnhancedSessionSummary {
    EnhancedSessionSummary {
        activity_vector,
        objective: "x".into(),
        outcome: summary::Outcome::InProgress,
        completed_tasks: None,
        key_decisions: None,
        next_steps: None,
        errors_resolved: None,
        root_cause_analysis: None,
        config_changes: None,
        discoveries: None,
        test_results: None,
        files_modified: None,
        mcp_tools_used: None,
        session_file: None,
        message_count: None,
        duration_minutes: None,
    }
}
/// n
pub fn name(s: &EnhancedSessionSummary, _e: &Evidence) -> String {
    s.objective.clone()
}
/// m
pub fn to_markdown(s: &EnhancedSessionSummary) -> String {
    s.objective.clone()
}
