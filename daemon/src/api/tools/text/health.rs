//! Formats the activity of the daemon and its problems.

use graphiti_proto::tools::health::HealthAnswer;

use super::{Lines, ModelText, code, counted, line, quote};

impl ModelText for HealthAnswer {
    fn text(&self) -> String {
        let mut lines = Lines::default();
        let (status, version, home) = (line(&self.status), line(&self.version), code(&self.home));
        lines.add(&format!("graphitid {version}, {status}, home {home}"));
        let of = &self.sessions;
        lines.add(&counted(&[
            ("sessions", of.total),
            ("active", of.active),
            ("indexed", of.indexed),
            ("failed", of.failed),
            ("messages", self.kept.messages),
            ("episodes", self.kept.episodes),
            ("database bytes", self.kept.database_bytes),
            ("files of history left", self.history.left as u64),
            ("changes behind", self.index.changes_behind),
        ]));
        let outages = [&self.model.outage, &self.embeddings.error];
        let problems = self.problems.iter().chain(outages.into_iter().flatten());
        problems.for_each(|problem| lines.add(&format!("- {}", quote(problem))));
        lines.text
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::of_value, *};

    #[test]
    fn health_shows_numbers_and_problems() {
        let answer = json!({
            "status": "degraded", "version": "1.0", "home": "/g",
            "sessions": { "total": 2, "indexed": 2 }, "kept": { "messages": 9 },
            "problems": ["disk\n# full"], "model": { "outage": "down" },
        });
        assert_eq!(
            of_value::<HealthAnswer>(answer),
            "graphitid 1.0, degraded, home `/g`\n2 sessions, 2 indexed, 9 messages\n\
             - “disk # full”\n- “down”"
        );
    }
}
