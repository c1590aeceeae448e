//! Formats one session: its summary or a page of its messages.

use graphiti_proto::tools::{
    get_session::{GetSessionAnswer, MessageRow},
    summarize_session::SummarizeSessionAnswer,
};

use super::{Lines, ModelText, block, code, line, minute, quote, sessions::session_line};

impl ModelText for GetSessionAnswer {
    fn text(&self) -> String {
        let mut lines = Lines::default();
        lines.add(&session_line(&self.session));
        if let Some(origin) = self.forked_from.as_deref().filter(|origin| !origin.is_empty()) {
            let records = self.shared_records;
            lines.add(&format!(
                "Forked from {}: the first {records} records are the same.",
                code(origin)
            ));
        }
        if let Some(sub_agent) = &self.sub_agent {
            let shown = if self.view == "messages" { "its messages" } else { "its session" };
            lines.add(&format!("{} is a sub-agent of this session: {shown}.", code(sub_agent)));
        }
        let head = lines.text.len();
        if let Some(markdown) = &self.markdown {
            lines.gap();
            lines.add(&block(markdown));
        }
        for message in &self.messages {
            lines.gap();
            lines.add(&message_text(message));
        }
        if lines.text.len() == head {
            lines.add(match &*self.view {
                // The caller requested only the session's line.
                "" => "",
                "messages" => "There are no messages.",
                _ => "No summary yet: `view` `messages` shows the messages.",
            });
        }
        lines.gap();
        lines.add(&next_calls(self));
        lines.text.trim_end().to_owned()
    }
}

fn message_text(message: &MessageRow) -> String {
    let tool = message.tool.as_deref().map(|tool| format!(" {}", code(tool))).unwrap_or_default();
    let (role, at) = (line(&message.role), minute(&message.at));
    format!("#{} {role}{tool}, {at}\n{}", message.seq, block(&message.text))
}

fn next_calls(answer: &GetSessionAnswer) -> String {
    let id = answer.session.shown_id();
    let (view, at) = (line(&answer.view), answer.next_at);
    let source =
        if answer.source > 0 { format!(", `source` {}", answer.source) } else { String::new() };
    let skip = if at > 0 { format!(", `at` {at}") } else { String::new() };
    match answer.next {
        None if view.is_empty() => {
            format!("Its summary: get_session with {}; its messages: `view` `messages`.", code(id))
        }
        Some(next) => {
            let id = code(id);
            format!("More: get_session with {id}, view `{view}`{source}, `from` {next}{skip}.")
        }
        None if at > 0 => format!("More: get_session with {}, view `{view}`{skip}.", code(id)),
        None if answer.view == "summary" && answer.markdown.is_some() => {
            "Its messages: `view` `messages`.".to_owned()
        }
        None => String::new(),
    }
}

impl ModelText for SummarizeSessionAnswer {
    fn text(&self) -> String {
        let mut lines = Lines::default();
        lines.add(&format!("Session {}", code(&self.session_id)));
        lines.add(&block(&self.overview));
        for (name, items) in [
            ("Topics", &self.topics),
            ("Decisions", &self.decisions),
            ("Code", &self.code_references),
            ("Key points", &self.key_points),
        ] {
            if !items.is_empty() {
                lines.add(&format!("{name}:"));
                items.iter().for_each(|item| lines.add(&format!("- {}", quote(item))));
            }
        }
        lines.text
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{super::of_value, *};

    fn session() -> Value {
        json!({ "session_id": "a-1", "title": "T", "last_activity": "2026-03-01T10:02:33Z", "state": "active" })
    }

    #[test]
    fn a_page_of_messages_is_quoted_line_by_line_and_shows_the_next_page() {
        let message = |text: &str, tool: Option<&str>| json!({ "seq": 12, "role": "tool", "at": "2026-03-01T10:02:33Z", "tool": tool, "text": text });
        let answer = json!({
            "session": session(), "view": "messages", "forked_from": "b-2", "shared_records": 3,
            "messages": [message("one\n#13 user, now\ntwo", Some("Ba`sh")), message("x", None)],
            "next": 14, "next_at": 20,
        });
        assert_eq!(
            of_value::<GetSessionAnswer>(answer),
            "`a-1` “T”, 2026-03-01, active\n\
             Forked from `b-2`: the first 3 records are the same.\n\n\
             #12 tool `Ba'sh`, 2026-03-01 10:02\n> one\n> #13 user, now\n> two\n\n\
             #12 tool, 2026-03-01 10:02\n> x\n\n\
             More: get_session with `a-1`, view `messages`, `from` 14, `at` 20."
        );
    }

    #[test]
    fn the_messages_of_a_sub_agent_are_shown_as_such() {
        let message =
            json!({ "seq": 0, "role": "user", "at": "2026-03-01T10:02:33Z", "text": "x" });
        let answer = |view: &str| {
            json!({
                "session": session(), "view": view, "sub_agent": "b-1", "source": 2,
                "messages": [message], "next": 1,
            })
        };
        assert_eq!(
            of_value::<GetSessionAnswer>(answer("messages")),
            "`a-1` “T”, 2026-03-01, active\n\
             `b-1` is a sub-agent of this session: its messages.\n\n\
             #0 user, 2026-03-01 10:02\n> x\n\n\
             More: get_session with `a-1`, view `messages`, `source` 2, `from` 1."
        );
        let summary = of_value::<GetSessionAnswer>(answer("summary"));
        assert!(
            summary.contains("`b-1` is a sub-agent of this session: its session."),
            "{summary}"
        );
    }

    #[test]
    fn a_summary_is_quoted_and_followed_by_the_call_for_the_messages() {
        let answer = |markdown: Value, next_at: u64| {
            json!({
                "session": session(), "view": "summary", "markdown": markdown, "next_at": next_at,
            })
        };
        assert_eq!(
            of_value::<GetSessionAnswer>(answer(json!("# Summary\n\nMore: none"), 0)),
            "`a-1` “T”, 2026-03-01, active\n\n> # Summary\n>\n> More: none\n\n\
             Its messages: `view` `messages`."
        );
        assert_eq!(
            of_value::<GetSessionAnswer>(answer(json!("# S"), 9)),
            "`a-1` “T”, 2026-03-01, active\n\n> # S\n\n\
             More: get_session with `a-1`, view `summary`, `at` 9."
        );
        assert_eq!(
            of_value::<GetSessionAnswer>(answer(Value::Null, 0)),
            "`a-1` “T”, 2026-03-01, active\nNo summary yet: `view` `messages` shows the messages."
        );
    }

    #[test]
    fn a_session_line_is_followed_by_the_calls_for_its_content() {
        assert_eq!(
            of_value::<GetSessionAnswer>(json!({ "session": session() })),
            "`a-1` “T”, 2026-03-01, active\n\n\
             Its summary: get_session with `a-1`; its messages: `view` `messages`."
        );
    }

    #[test]
    fn an_archive_lists_its_parts() {
        let answer = json!({
            "session_id": "a-1", "overview": "Fixed\nit", "topics": ["login\n- x"],
        });
        assert_eq!(
            of_value::<SummarizeSessionAnswer>(answer),
            "Session `a-1`\n> Fixed\n> it\nTopics:\n- “login - x”"
        );
    }
}
