//! Decides which fields of a summary matter for a session with a given activity. The rules come
//! from the specification of session summaries (intelligent-session-summarization), which is not
//! part of this repository.
//!
//! The specification's formula divides by the sum of a field's affinities, which contradicts its
//! own tests (0.41 where more than 0.7 is required). Here the priority of a field is the maximum
//! over all activities of intensity times affinity.

use crate::model::activity::{Activity, ActivityVector};

/// Default minimum priority of a field that is extracted.
pub const EXTRACTION_THRESHOLD: f64 = 0.3;

/// The priority of a field that is not in the table.
const UNKNOWN: f64 = 0.5;

/// A field that may be extracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    CompletedTasks,
    KeyDecisions,
    ErrorsResolved,
    RootCauseAnalysis,
    Discoveries,
    /// Files that were created or changed.
    FilesModified,
    ConfigChanges,
    /// The last test run.
    TestResults,
    NextSteps,
    McpToolsUsed,
}

/// The affinity of each field to each activity, in the order of the specification. The affinity to
/// an omitted activity is 0.
pub const EXTRACTION_AFFINITIES: &[(Field, &[(Activity, f64)])] = {
    use Activity::{
        Building, Configuring, Documenting, Exploring, Fixing, Refactoring, Reviewing, Testing,
    };
    &[
        (
            Field::CompletedTasks,
            &[
                (Building, 1.0),
                (Fixing, 0.8),
                (Configuring, 0.7),
                (Refactoring, 0.9),
                (Testing, 0.6),
            ],
        ),
        (
            Field::KeyDecisions,
            &[
                (Building, 1.0),
                (Configuring, 0.9),
                (Refactoring, 0.8),
                (Fixing, 0.6),
                (Exploring, 0.5),
            ],
        ),
        (Field::ErrorsResolved, &[(Fixing, 1.0), (Configuring, 0.7), (Testing, 0.5)]),
        (Field::RootCauseAnalysis, &[(Fixing, 1.0), (Exploring, 0.7), (Reviewing, 0.6)]),
        (Field::Discoveries, &[(Exploring, 1.0), (Reviewing, 0.8), (Documenting, 0.5)]),
        (
            Field::FilesModified,
            &[
                (Building, 0.9),
                (Fixing, 0.8),
                (Configuring, 0.7),
                (Refactoring, 0.9),
                (Testing, 0.5),
            ],
        ),
        (Field::ConfigChanges, &[(Configuring, 1.0), (Fixing, 0.4)]),
        (Field::TestResults, &[(Testing, 1.0), (Fixing, 0.7), (Building, 0.6)]),
        (Field::NextSteps, &[(Building, 0.8), (Fixing, 0.7), (Configuring, 0.5), (Exploring, 0.4)]),
        (Field::McpToolsUsed, &[(Fixing, 0.6), (Exploring, 0.7), (Building, 0.3)]),
    ]
};

impl Field {
    /// Returns the name of the field in a summary's JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Field::CompletedTasks => "completed_tasks",
            Field::KeyDecisions => "key_decisions",
            Field::ErrorsResolved => "errors_resolved",
            Field::RootCauseAnalysis => "root_cause_analysis",
            Field::Discoveries => "discoveries",
            Field::FilesModified => "files_modified",
            Field::ConfigChanges => "config_changes",
            Field::TestResults => "test_results",
            Field::NextSteps => "next_steps",
            Field::McpToolsUsed => "mcp_tools_used",
        }
    }

    /// Parses [`Field::as_str`].
    pub fn parse(name: &str) -> Option<Field> {
        EXTRACTION_AFFINITIES.iter().map(|(field, _)| *field).find(|field| field.as_str() == name)
    }
}

/// Returns the priority of `field` for a session with this activity, from 0 to 1. An unknown field
/// name has the priority 0.5.
///
/// Only tests call this function: the specification requires a function of this name.
pub fn compute_extraction_priority(field: &str, activity: &ActivityVector) -> f64 {
    Field::parse(field).map_or(UNKNOWN, |field| priority(field, activity))
}

/// Returns the fields whose priority is at least `threshold`, in descending priority. Fields of
/// equal priority keep the order of the table.
pub fn get_extraction_fields(activity: &ActivityVector, threshold: f64) -> Vec<Field> {
    let mut included: Vec<(Field, f64)> = EXTRACTION_AFFINITIES
        .iter()
        .map(|(field, _)| (*field, priority(*field, activity)))
        .filter(|(_, priority)| *priority >= threshold)
        .collect();
    included.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    included.into_iter().map(|(field, _)| field).collect()
}

/// Same as [`compute_extraction_priority`], for a known field.
pub(super) fn priority(field: Field, activity: &ActivityVector) -> f64 {
    let row = EXTRACTION_AFFINITIES.iter().find(|(known, _)| *known == field);
    let needs = row.map_or(&[] as &[(Activity, f64)], |(_, needs)| needs).iter();
    needs.map(|(dimension, affinity)| activity.get(*dimension) * affinity).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(activity: &ActivityVector) -> Vec<&'static str> {
        get_extraction_fields(activity, EXTRACTION_THRESHOLD)
            .into_iter()
            .map(Field::as_str)
            .collect()
    }

    /// `test_extraction_priority_debugging` of the specification.
    #[test]
    fn debugging_needs_errors_more_than_discoveries() {
        let activity = ActivityVector { fixing: 0.9, exploring: 0.4, ..ActivityVector::default() };
        let errors = compute_extraction_priority("errors_resolved", &activity);
        assert!(errors > 0.7, "{errors}");
        assert!(compute_extraction_priority("discoveries", &activity) < errors);
    }

    /// `test_get_extraction_fields` of the specification.
    #[test]
    fn fixing_a_configuration_needs_errors_settings_and_tasks() {
        let activity =
            ActivityVector { fixing: 0.9, configuring: 0.7, ..ActivityVector::default() };
        let fields = names(&activity);
        for wanted in ["errors_resolved", "config_changes", "completed_tasks"] {
            assert!(fields.contains(&wanted), "{wanted} in {fields:?}");
        }
    }

    /// Appendix A.1 of the specification shows these fields.
    #[test]
    fn the_fields_of_the_first_worked_example_are_selected() {
        let activity = ActivityVector {
            building: 0.1,
            fixing: 0.8,
            configuring: 0.7,
            exploring: 0.4,
            testing: 0.5,
            ..ActivityVector::default()
        };
        let fields = names(&activity);
        for wanted in [
            "errors_resolved",
            "config_changes",
            "key_decisions",
            "test_results",
            "files_modified",
            "next_steps",
        ] {
            assert!(fields.contains(&wanted), "{wanted} in {fields:?}");
        }
        assert_eq!(fields[0], "errors_resolved");
    }

    /// Appendix A.2 of the specification shows these fields, but neither files nor errors.
    #[test]
    fn the_fields_of_the_second_worked_example_are_selected() {
        let activity = ActivityVector {
            fixing: 0.1,
            exploring: 0.9,
            reviewing: 0.7,
            documenting: 0.3,
            ..ActivityVector::default()
        };
        let fields = names(&activity);
        assert_eq!(fields[0], "discoveries");
        for wanted in ["key_decisions", "next_steps"] {
            assert!(fields.contains(&wanted), "{wanted} in {fields:?}");
        }
        for absent in ["files_modified", "errors_resolved", "config_changes", "test_results"] {
            assert!(!fields.contains(&absent), "{absent} in {fields:?}");
        }
    }

    #[test]
    fn a_priority_never_falls_when_an_activity_grows() {
        for (field, _) in EXTRACTION_AFFINITIES {
            for activity in Activity::ALL {
                let mut before = 0.0;
                for step in 0..=10 {
                    let signals = [(activity, f64::from(step) / 10.0), (Activity::Fixing, 1.0)];
                    let vector = ActivityVector::from_signals(&signals.into_iter().collect());
                    let now = priority(*field, &vector);
                    assert!((0.0..=1.0).contains(&now));
                    if activity != Activity::Fixing {
                        assert!(now >= before, "{field:?} {activity:?}");
                    }
                    before = now;
                }
            }
        }
    }

    #[test]
    fn an_unknown_field_has_the_default_priority() {
        assert!(
            (compute_extraction_priority("nonsense", &ActivityVector::default()) - 0.5).abs()
                < 1e-9
        );
        assert!(names(&ActivityVector::default()).is_empty());
    }
}
