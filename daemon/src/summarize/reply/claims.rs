//! What a model says, in whichever form it says it.

use serde_json::Value;

use crate::{
    model::{
        EnhancedSessionSummary,
        summary::{ConfigChange, DecisionRecord, ErrorResolution, Outcome, RelationRecord},
    },
    summarize::{conversation::ConversationSummary, text::same_words},
};

/// What a model says of a session. Nothing of it is trusted yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claims {
    /// What was wanted.
    pub objective: Option<String>,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// What was accomplished.
    pub completed_tasks: Vec<String>,
    /// What was decided.
    pub key_decisions: Vec<DecisionRecord>,
    /// What should happen next.
    pub next_steps: Vec<String>,
    /// Errors and how they were resolved.
    pub errors_resolved: Vec<ErrorResolution>,
    /// Why things went wrong.
    pub root_cause_analysis: Option<String>,
    /// Settings that were changed.
    pub config_changes: Vec<ConfigChange>,
    /// What was found out.
    pub discoveries: Vec<String>,
    /// What it was about.
    pub topics: Vec<String>,
    /// How things stand to each other.
    pub relations: Vec<RelationRecord>,
}

impl Claims {
    /// Reads an answer by the schema; `None` when it is none.
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

    /// Reads the plain text of the conversation-summarization document; `None` when it has no
    /// overview.
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

    /// What is said of the parts of one session, in their order, as if it were said of the whole.
    pub fn joined(parts: Vec<Claims>) -> Claims {
        let mut parts = parts.into_iter();
        let mut whole = parts.next().unwrap_or_default();
        for part in parts {
            whole.objective = whole.objective.or(part.objective);
            whole.outcome = part.outcome.or(whole.outcome);
            whole.completed_tasks.extend(part.completed_tasks);
            whole.key_decisions.extend(part.key_decisions);
            // What a part leaves open, a later one may have done.
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
