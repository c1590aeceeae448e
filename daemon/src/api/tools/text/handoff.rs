//! Formats a handoff: its text, the running sessions and the message.

use graphiti_proto::tools::get_handoff::GetHandoffAnswer;

use super::{Lines, ModelText, line};

impl ModelText for GetHandoffAnswer {
    /// The text of the handoff is unchanged, because it already marks quotations.
    fn text(&self) -> String {
        let mut lines = Lines::default();
        lines.add(&self.text);
        if !self.ongoing.is_empty() {
            lines.gap();
            lines.add("Running sessions in this project:");
            self.ongoing
                .iter()
                .for_each(|one| lines.add(&format!("- {}", line(&one.description()))));
        }
        if !self.message.is_empty() {
            lines.gap();
            lines.add(&line(&self.message));
        }
        lines.text
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::of_value, *};

    #[test]
    fn a_handoff_consists_of_its_text_and_the_running_sessions() {
        let answer = json!({ "text": "# Handoff\n- “x”", "decisions": [{ "text": "y" }] });
        assert_eq!(of_value::<GetHandoffAnswer>(answer), "# Handoff\n- “x”");
        let ongoing = json!({ "session_id": "b", "agent": "claude", "asked": ["Fix it"] });
        assert_eq!(
            of_value::<GetHandoffAnswer>(json!({ "message": "None known.", "ongoing": [ongoing] })),
            "Running sessions in this project:\n- claude `b`, asked “Fix it”\n\nNone known."
        );
    }
}
