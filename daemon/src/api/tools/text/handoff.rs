//! Formats a handoff: its text, the running sessions and the message.

use graphiti_proto::tools::get_handoff::GetHandoffAnswer;

use super::{Lines, ModelText, line, sessions::session_line};

impl ModelText for GetHandoffAnswer {
    /// The text of the handoff is unchanged, because it already marks quotations.
    fn text(&self) -> String {
        let mut lines = Lines::default();
        lines.add(&self.text);
        if !self.ongoing.is_empty() {
            lines.gap();
            lines.add("Going on in this project now:");
            self.ongoing.iter().for_each(|row| lines.add(&format!("- {}", session_line(row))));
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
    fn a_handoff_is_its_text_alone() {
        let answer = json!({ "text": "# Handoff\n- “x”", "decisions": [{ "text": "y" }] });
        assert_eq!(of_value::<GetHandoffAnswer>(answer), "# Handoff\n- “x”");
        let ongoing = json!({ "session_id": "b", "state": "active", "project": "/w" });
        assert_eq!(
            of_value::<GetHandoffAnswer>(json!({ "message": "None known.", "ongoing": [ongoing] })),
            "Going on in this project now:\n- `b`, `/w`, active\n\nNone known."
        );
    }
}
