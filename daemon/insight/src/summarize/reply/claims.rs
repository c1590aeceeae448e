//! Parses a model's answer, as JSON or as plain text.

use serde_json::Value;

use crate::{
    model::{
        EnhancedSessionSummary,
        summary::{ConfigChange, DecisionRecord, ErrorResolution, Outcome, RelationRecord},
    },
    summarize::conversation::ConversationSummary,
    text::same_words,
};

/// The statements of a model about a session, not yet checked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claims {
    pub objective: Option<String>,
    pub outcome: Option<Outcome>,
    pub completed_tasks: Vec<String>,
    pub key_decisions: Vec<DecisionRecord>,
    pub next_steps: Vec<String>,
    pub errors_resolved: Vec<ErrorResolution>,
    pub root_cause_analysis: Option<String>,
    pub config_changes: Vec<ConfigChange>,
    pub discoveries: Vec<String>,
    pub topics: Vec<String>,
    pub relations: Vec<RelationRecord>,
}

impl Claims {
    /// Parses a JSON answer; `None` when it does not match the schema.
    pub fn of_json(answer: &Value) -> Option<Claims> {
        let summary: EnhancedSessionSummary = serde_json::from_value(answer.clone()).ok()?;
        Some(Claims {
            objective: Some(summary.objective),
            outcome: Some(summary.outcome),
            completed_tasks: summary.completed_tasks.unwrap_or_default(),
            key_decisions: summary.key_decisions.unwrap_or_default(),
            next_steps: summary.next_steps.unwrap_or_default(),
            errors_resolved: summary.errors_resolved.unwrap_or_default(),
            root_cause_analysis: summary.root_cause_analysis,
            config_changes: summary.config_changes.unwrap_or_default(),
            discoveries: summary.discoveries.unwrap_or_default(),
            topics: summary.topics.unwrap_or_default(),
            relations: summary.relations.unwrap_or_default(),
        })
    }

    /// Parses the plain-text format of [`ConversationSummary`]; `None` if the text has no overview.
    pub fn of_text(answer: &str) -> Option<Claims> {
        let summary = ConversationSummary::parse(answer);
        let decision =
            |decision| DecisionRecord { decision, rationale: String::new(), alternatives: None };
        (!summary.overview.is_empty()).then(|| Claims {
            objective: Some(summary.overview),
            key_decisions: summary.decisions.into_iter().map(decision).collect(),
            discoveries: summary.key_points,
            topics: summary.topics,
            ..Claims::default()
        })
    }

    /// Merges the claims about the parts of one session, in order.
    pub fn joined(parts: Vec<Claims>) -> Claims {
        let mut parts = parts.into_iter();
        let mut whole = parts.next().unwrap_or_default();
        for part in parts {
            whole.objective = whole.objective.or(part.objective);
            whole.outcome = part.outcome.or(whole.outcome);
            whole.completed_tasks.extend(part.completed_tasks);
            whole.key_decisions.extend(part.key_decisions);
            // A later part may have done the next steps of an earlier part.
            whole.next_steps = part.next_steps;
            for error in part.errors_resolved {
                if !whole.errors_resolved.iter().any(|known| same_words(&known.error, &error.error))
                {
                    whole.errors_resolved.push(error);
                }
            }
            whole.root_cause_analysis = part.root_cause_analysis.or(whole.root_cause_analysis);
            whole.config_changes.extend(part.config_changes);
            whole.discoveries.extend(part.discoveries);
            whole.topics.extend(part.topics);
            whole.relations.extend(part.relations);
        }
        whole
    }
}
