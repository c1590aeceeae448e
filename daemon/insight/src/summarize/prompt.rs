//! The instructions for a model: the fields that matter for the session, in descending priority.
//! The texts come from the specification of session summaries (intelligent-session-summarization),
//! which is not part of this repository.

use crate::{
    model::activity::ActivityVector,
    summarize::priority::{Field, get_extraction_fields, priority},
};

/// Returns the whole prompt of the specification: the fields to extract, the transcript, and the
/// answer format. Only tests call this function: the specification requires a function of this
/// name, but the daemon fills the templates in `prompts/` with [`extraction_instructions`].
pub fn build_extraction_prompt(
    activity: &ActivityVector,
    session_content: &str,
    threshold: f64,
) -> String {
    let instructions = extraction_instructions(activity, threshold);
    let separator = if instructions.is_empty() { "" } else { "\n" };
    format!(
        "Summarize this session into a structured format.\n\
         \n\
         **Session Activity Profile**: {}\n\
         \n\
         Extract the following information (in order of importance):\n\
         \n\
         {instructions}{separator}\n\
         ## Session Content\n\
         \n\
         {session_content}\n\
         \n\
         ## Response Format\n\
         Respond with a JSON object matching the EnhancedSessionSummary schema.",
        activity.activity_profile()
    )
}

/// Returns the numbered list of fields with their instructions, which replaces
/// `{dynamic_extraction_instructions}` in the template of the specification.
pub fn extraction_instructions(activity: &ActivityVector, threshold: f64) -> String {
    extraction_instructions_without(activity, threshold, &[])
}

/// Returns [`extraction_instructions`] without the fields in `left_out`.
pub fn extraction_instructions_without(
    activity: &ActivityVector,
    threshold: f64,
    left_out: &[Field],
) -> String {
    let fields = get_extraction_fields(activity, threshold).into_iter();
    let lines = fields.filter(|field| !left_out.contains(field)).enumerate().map(|(at, field)| {
        let name = field.as_str();
        let priority = priority(field, activity);
        format!("{}. **{name}** (priority: {priority:.2}): {}", at + 1, instruction(field))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the instruction for a field, in the words of the specification.
fn instruction(field: Field) -> &'static str {
    match field {
        Field::CompletedTasks => "List specific tasks that were accomplished",
        Field::KeyDecisions => "Capture decisions made WITH rationale (why this choice?)",
        Field::ErrorsResolved => "For each error: what was it, root cause, how fixed, verified?",
        Field::RootCauseAnalysis => "If debugging, explain the root cause discovered",
        Field::ConfigChanges => "List config file changes with before/after values",
        Field::TestResults => "Summarize test execution results and failures",
        Field::Discoveries => "Key insights or learnings from exploration",
        Field::FilesModified => "List of files created/modified",
        Field::NextSteps => "What should happen next?",
        Field::McpToolsUsed => "Which MCP tools were utilized?",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompt_equals_the_prompt_of_the_specification() {
        let activity = ActivityVector { fixing: 0.9, exploring: 0.4, ..ActivityVector::default() };
        let prompt = build_extraction_prompt(&activity, "[user] fix it", 0.7);
        assert_eq!(
            prompt,
            "Summarize this session into a structured format.\n\n\
             **Session Activity Profile**: fixing (0.9), exploring (0.4)\n\n\
             Extract the following information (in order of importance):\n\n\
             1. **errors_resolved** (priority: 0.90): For each error: what was it, root cause, how fixed, verified?\n\
             2. **root_cause_analysis** (priority: 0.90): If debugging, explain the root cause discovered\n\
             3. **completed_tasks** (priority: 0.72): List specific tasks that were accomplished\n\
             4. **files_modified** (priority: 0.72): List of files created/modified\n\n\
             ## Session Content\n\n[user] fix it\n\n\
             ## Response Format\nRespond with a JSON object matching the EnhancedSessionSummary schema."
        );
    }

    #[test]
    fn fields_below_the_threshold_are_left_out() {
        let activity = ActivityVector { exploring: 0.9, ..ActivityVector::default() };
        let instructions = extraction_instructions(&activity, 0.3);
        assert!(instructions.starts_with("1. **discoveries** (priority: 0.90)"), "{instructions}");
        assert!(!instructions.contains("config_changes"));
        assert_eq!(extraction_instructions(&ActivityVector::default(), 0.3), "");
    }

    #[test]
    fn a_session_without_activity_still_makes_a_prompt() {
        let prompt = build_extraction_prompt(&ActivityVector::default(), "x", 0.3);
        assert!(prompt.contains("**Session Activity Profile**: mixed activity\n"));
        assert!(
            prompt.contains("(in order of importance):\n\n\n## Session Content\n\nx\n"),
            "{prompt}"
        );
    }
}
