//! Formats lists of sessions.

use graphiti_proto::tools::{
    SessionRow, failed_episodes::FailedEpisodesAnswer, list_sessions::ListSessionsAnswer,
    list_unindexed::ListUnindexedAnswer, status::StatusAnswer, sync_history::SyncHistoryAnswer,
};

use super::{Lines, ModelText, code, counted, day, line, listed, minute, quote, title};
use crate::api::tools::zero_limit;

/// Returns a session on one line: its id, title, project, date and outcome.
pub(super) fn session_line(session: &SessionRow) -> String {
    let title = if session.title.is_empty() { String::new() } else { title(&session.title) };
    let outcome = match &session.episode {
        Some(episode) => line(&episode.outcome).replace('_', " "),
        None => line(&session.state),
    };
    let (id, project) = (code(session.shown_id()), code(&session.project));
    listed(&[format!("{id} {title}").trim(), &project, &day(&session.last_activity), &outcome])
}

impl ModelText for ListSessionsAnswer {
    fn text(&self) -> String {
        let mut lines = Lines::default();
        lines.add(&rows(&self.sessions));
        if self.sessions.is_empty() {
            if !zero_limit::is_explained(&self.message) {
                lines.add(if self.total == 0 { "No sessions." } else { "No more sessions." });
            }
            lines.add(&line(&self.message));
            return lines.text;
        }
        let more = self.next.map(|next| format!(" More: `offset` {next}.")).unwrap_or_default();
        lines.gap();
        lines.add(&format!(
            "{} of {} sessions. To read a session: get_session with its id.{more}",
            self.sessions.len(),
            self.total
        ));
        lines.add(&line(&self.message));
        lines.text
    }
}

impl ModelText for ListUnindexedAnswer {
    fn text(&self) -> String {
        let mut lines = Lines::default();
        lines.add(&rows(&self.sessions));
        lines.add(&format!("{} of {} unindexed sessions.", self.sessions.len(), self.count));
        lines.text
    }
}

impl ModelText for StatusAnswer {
    fn text(&self) -> String {
        let mut lines = Lines::default();
        lines.add(&line(&self.message));
        if let Some(session) = &self.session {
            lines.add(&format!("- {}", session_line(session)));
        }
        let of = &self.sessions;
        lines.add(&counted(&[
            ("sessions", of.total),
            ("active", of.active),
            ("indexed", of.indexed),
            ("failed", of.failed),
            ("unindexed", of.unindexed),
        ]));
        lines.text
    }
}

impl ModelText for FailedEpisodesAnswer {
    fn text(&self) -> String {
        let mut lines = Lines::default();
        lines.add(&line(&self.message));
        for failed in &self.failed {
            let retry = match &failed.retry_at {
                Some(at) => format!("next attempt at {}", minute(at)),
                None => "not retried automatically".to_owned(),
            };
            let place = listed(&[&code(&failed.session_id), &code(&failed.project)]);
            lines.add(&format!("- {place}: {}, {retry}", quote(&failed.error)));
        }
        lines.text
    }
}

impl ModelText for SyncHistoryAnswer {
    fn text(&self) -> String {
        let mut lines = Lines::default();
        lines.add(&line(&self.message));
        lines.add(&cost(self));
        for session in &self.sessions {
            let (path, modified) = (code(&session.path), minute(&session.modified));
            lines.add(&format!("- {path}, {modified}, {} messages", session.messages));
        }
        lines.text
    }
}

/// Describes what the model would cost, or has cost. Empty if no model is called.
fn cost(answer: &SyncHistoryAnswer) -> String {
    let Some(model) = answer.model.as_deref().map(code) else { return String::new() };
    let tokens = answer.estimated_tokens;
    match (answer.dry_run, answer.price_known) {
        // With `again`, and without sessions, nothing is estimated.
        (true, _) if tokens == 0 => String::new(),
        (true, true) => {
            format!("{model} would read about {tokens} tokens, for ${:.2}.", answer.estimated_cost)
        }
        (true, false) => {
            format!("{model} would read about {tokens} tokens; its price is not known.")
        }
        (false, _) if answer.actual_cost > 0.0 => {
            format!("{model} cost ${:.4}.", answer.actual_cost)
        }
        (false, false) if tokens > 0 => format!("The price of {model} is not known."),
        (false, _) => String::new(),
    }
}

fn rows(sessions: &[SessionRow]) -> String {
    let mut lines = Lines::default();
    for session in sessions {
        lines.add(&format!("- {}", session_line(session)));
    }
    lines.text
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{super::of_value, *};
    use crate::api::client_context::ReplyForm;

    fn session() -> Value {
        json!({
            "session_id": "3f2a9c10-1111", "short_id": "3f2a9c10", "project": "/srv/app",
            "title": "Fix”\n- `b` the “timeout", "state": "indexed",
            "last_activity": "2026-03-01T10:02:33Z",
            "episode": { "outcome": "in_progress" },
        })
    }

    const LINE: &str =
        "- `3f2a9c10` “Fix\" - `b` the \"timeout”, `/srv/app`, 2026-03-01, in progress";

    #[test]
    fn a_list_has_a_line_for_each_session_and_shows_the_next_page() {
        let answer = json!({ "total": 7, "sessions": [session()], "next": 1 });
        assert_eq!(
            of_value::<ListSessionsAnswer>(answer),
            format!(
                "{LINE}\n\n1 of 7 sessions. To read a session: get_session with its id. More: `offset` 1."
            )
        );
        let full = json!({ "total": 1, "sessions": [session()], "message": "The disk is full." });
        assert!(of_value::<ListSessionsAnswer>(full).ends_with("its id.\nThe disk is full."));
        assert_eq!(of_value::<ListSessionsAnswer>(json!({ "total": 0 })), "No sessions.");
        let empty = of_value::<ListSessionsAnswer>(json!({ "message": "None of `/w`." }));
        assert_eq!(empty, "No sessions.\nNone of `/w`.");
        let none = zero_limit::explain(String::new(), ReplyForm::Text, "limit", 0, 9);
        let zero = of_value::<ListSessionsAnswer>(json!({ "total": 7, "message": none }));
        assert_eq!(zero, none);
        let unindexed =
            json!({ "count": 1, "sessions": [{ "session_id": "b", "state": "active" }] });
        assert_eq!(
            of_value::<ListUnindexedAnswer>(unindexed),
            "- `b`, active\n1 of 1 unindexed sessions."
        );
    }

    #[test]
    fn a_status_shows_the_session_and_the_numbers() {
        let answer = json!({
            "message": "Session x is indexed.", "session": session(),
            "sessions": { "total": 3, "indexed": 3 },
        });
        assert_eq!(
            of_value::<StatusAnswer>(answer),
            format!("Session x is indexed.\n{LINE}\n3 sessions, 3 indexed")
        );
    }

    #[test]
    fn errors_and_paths_are_quoted() {
        let failed = json!({ "message": "1 failed.", "failed": [{
            "session_id": "a", "project": "/w", "error": "no\n# way",
        }] });
        assert_eq!(
            of_value::<FailedEpisodesAnswer>(failed),
            "1 failed.\n- `a`, `/w`: “no # way”, not retried automatically"
        );
        let priced = json!({
            "message": "1 found.", "dry_run": true, "sessions_found": 1, "model": "m",
            "price_known": true, "estimated_tokens": 900, "estimated_cost": 1.4,
        });
        assert_eq!(
            of_value::<SyncHistoryAnswer>(priced),
            "1 found.\n`m` would read about 900 tokens, for $1.40."
        );
        let again =
            json!({ "message": "1 asked.", "dry_run": true, "sessions_found": 1, "model": "m" });
        assert_eq!(of_value::<SyncHistoryAnswer>(again), "1 asked.");
        let paid = json!({ "message": "Done.", "model": "m", "actual_cost": 0.0042 });
        assert_eq!(of_value::<SyncHistoryAnswer>(paid), "Done.\n`m` cost $0.0042.");
        let history = json!({ "message": "1 found.", "sessions": [{
            "path": "/a\n- b", "modified": "2026-03-01T10:02:33Z", "messages": 4,
        }] });
        assert_eq!(
            of_value::<SyncHistoryAnswer>(history),
            "1 found.\n- `/a - b`, 2026-03-01 10:02, 4 messages"
        );
    }
}
