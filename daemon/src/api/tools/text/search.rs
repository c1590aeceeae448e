//! Formats the result of `search_sessions`: a line for each session, followed by the matching
//! passages.

use graphiti_proto::tools::{
    errors::ErrorRow,
    search_sessions::{Hit, MatchedPassage, SearchSessionsAnswer, SpelledWord},
};

use super::{
    Lines, ModelText, by, code, cost::cost, day, line, listed, minute, quote,
    sessions::session_line,
};
use crate::api::tools::{passages, session_search::MAX_HITS, zero_limit};

const NOTHING: &str = "Nothing was found.";
const OTHER_WORDS: &str = "Other words, or the start of one (`timeo*`), may find something.";

impl ModelText for SearchSessionsAnswer {
    fn text(&self) -> String {
        let mut lines = Lines::default();
        self.error.iter().for_each(|error| lines.add(&error_line(error)));
        for hit in &self.hits {
            lines.add(&hit_line(hit));
            hit.passages.iter().for_each(|passage| lines.add(&passage_line(hit, passage)));
        }
        if self.hits.is_empty() && !zero_limit::is_explained(&self.message) {
            lines.add(&nothing_found(self));
        }
        lines.gap();
        self.spelled.iter().for_each(|word| lines.add(&spelled_line(word)));
        lines.add(&line(&self.message));
        lines.add(&next_calls(self));
        lines.text.trim_end().to_owned()
    }
}

/// Returns a known error on one line: its cause and fix, how often the error occurred again after
/// the fix, and its sessions.
fn error_line(error: &ErrorRow) -> String {
    let part = |label: &str, text: &Option<String>| {
        text.as_ref().map(|text| format!("{label}: {}", quote(text))).unwrap_or_default()
    };
    let returns = match error.returns {
        0 => String::new(),
        1 => "seen once after the fix".to_owned(),
        count => format!("seen {count} times after the fix"),
    };
    let sessions: Vec<String> =
        error.sessions.iter().map(|session| code(&session.short_id)).collect();
    let parts = [
        part("cause", &error.cause),
        part("fix", &error.fix),
        part("verified by", &error.verified_by),
        returns,
        format!("last seen {}", day(&error.last_at)),
        format!("in {}", sessions.join(", ")),
    ];
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    format!("- Known error, {}: {} ({})", line(&error.state), quote(&error.error), listed(&parts))
}

fn spelled_line(word: &SpelledWord) -> String {
    let used: Vec<String> = word.used.iter().map(|used| format!("`{}`", line(used))).collect();
    format!("Searched for {} instead of `{}`.", used.join(", "), line(&word.asked))
}

/// Returns the costs of a session's line and of each of its passages.
pub(in crate::api::tools) fn sizes(hit: &Hit) -> (usize, Vec<usize>) {
    let passages = hit.passages.iter().map(|passage| cost(&passage_line(hit, passage)) + 1);
    (cost(&hit_line(hit)) + 1, passages.collect())
}

/// Returns the cost of the line about a known error.
pub(in crate::api::tools) fn error_cost(error: &ErrorRow) -> usize {
    cost(&error_line(error)) + 1
}

fn hit_line(hit: &Hit) -> String {
    listed(&[&format!("- {}", session_line(&hit.session)), &by(hit.team.as_ref())])
}

/// Formats the number of sessions that a search found. [`MAX_HITS`] means that there may be more.
pub(super) fn found_sessions(count: usize) -> String {
    match count {
        1 => "1 session".to_owned(),
        MAX_HITS => format!("{MAX_HITS} sessions or more"),
        _ => format!("{count} sessions"),
    }
}

fn nothing_found(answer: &SearchSessionsAnswer) -> String {
    let mut lines = Lines::default();
    lines.add(NOTHING);
    for broader in &answer.broader {
        lines.add(&format!("- {}: {}", line(&broader.change), found_sessions(broader.sessions)));
    }
    if answer.broader.is_empty() {
        lines.add(OTHER_WORDS);
    }
    lines.text
}

fn passage_line(hit: &Hit, passage: &MatchedPassage) -> String {
    let quoted = quote(&passage.text);
    if passages::is_summary(passage) {
        let at = if passage.at.is_empty() { &hit.session.last_activity } else { &passage.at };
        // The summary of a colleague's session cannot be opened.
        let view = if hit.team.is_none() { "view `summary`" } else { "" };
        let head = listed(&[&summary_part(&passage.role), &minute(at), view]);
        return format!("  - {head}: {quoted}");
    }
    let (role, at) = (line(&passage.role), minute(&passage.at));
    let source = match passage.source {
        0 => String::new(),
        source => format!(", source {source}"),
    };
    format!("  - {role}, {at}{source}, from {}: {quoted}", passage.seq)
}

/// Returns the name of a part of a summary.
fn summary_part(role: &str) -> String {
    match role {
        "decisions" => "decision".to_owned(),
        "errors" => "error".to_owned(),
        "objective" | "title" | "files" => role.to_owned(),
        _ => "summary".to_owned(),
    }
}

fn next_calls(answer: &SearchSessionsAnswer) -> String {
    let mut steps = Vec::new();
    let mut passages = answer.hits.iter().flat_map(|hit| &hit.passages);
    let is_own = |hit: &Hit| hit.team.is_none();
    if passages.any(|passage| !passages::is_summary(passage)) {
        let more = "To read more: get_session with the id, and `view` `messages` with a passage's \
                    `from`, or `view` `summary`";
        steps.push(more.to_owned());
    } else if answer.hits.iter().any(is_own) {
        steps.push("To read a session: get_session with its id".to_owned());
    }
    if !answer.hits.iter().all(is_own) {
        steps.push(
            "only the summaries of team sessions are included; `detail` `full` shows more of them"
                .to_owned(),
        );
    }
    if let Some(next) = answer.next {
        steps.push(format!("more sessions: `offset` {next}"));
    }
    if steps.is_empty() { String::new() } else { format!("{}.", steps.join("; ")) }
}

#[cfg(test)]
mod tests {
    use graphiti_proto::tools::TeamOrigin;
    use serde_json::{Value, json};

    use super::{super::of_value, *};

    fn hit() -> Value {
        json!({
            "session": {
                "session_id": "3f2a9c10-1111", "short_id": "3f2a9c10", "project": "/srv/app",
                "title": "Fix the timeout", "last_activity": "2026-03-01T10:02:33Z",
                "episode": { "outcome": "completed" },
            },
            "passages": [
                {
                    "role": "user", "at": "2026-03-01T10:00:00Z", "seq": 4,
                    "text": "…pool”\n\n# Heading\n- 99999999 “size",
                },
                { "role": "tool", "at": "2026-03-01T10:01:00Z", "source": 2, "seq": 7, "text": "ok" },
                { "role": "decisions", "at": "2026-03-01T10:01:00Z", "text": "Pool is 20" },
            ],
        })
    }

    #[test]
    fn each_session_has_a_line_followed_by_its_passages() {
        let answer = json!({ "hits": [hit()], "message": "1 session was indexed.", "next": 5 });
        assert_eq!(
            of_value::<SearchSessionsAnswer>(answer),
            "- `3f2a9c10` “Fix the timeout”, `/srv/app`, 2026-03-01, completed\n\
             \x20 - user, 2026-03-01 10:00, from 4: “…pool\" # Heading - 99999999 \"size”\n\
             \x20 - tool, 2026-03-01 10:01, source 2, from 7: “ok”\n\
             \x20 - decision, 2026-03-01 10:01, view `summary`: “Pool is 20”\n\
             \n\
             1 session was indexed.\n\
             To read more: get_session with the id, and `view` `messages` with a passage's `from`, \
             or `view` `summary`; more sessions: `offset` 5."
        );
    }

    #[test]
    fn a_passage_of_a_summary_has_the_time_of_its_session_and_the_view_that_opens_it() {
        let mut hit: Hit = serde_json::from_value(hit()).unwrap();
        let passage = |at: &str| MatchedPassage {
            role: "body".to_owned(),
            at: at.to_owned(),
            text: "x".to_owned(),
            ..MatchedPassage::default()
        };
        let [with_time, without] = [passage("2026-03-01T09:00:00Z"), passage("")];
        assert_eq!(
            passage_line(&hit, &with_time),
            "  - summary, 2026-03-01 09:00, view `summary`: “x”"
        );
        assert_eq!(
            passage_line(&hit, &without),
            "  - summary, 2026-03-01 10:02, view `summary`: “x”"
        );
        hit.team = Some(TeamOrigin::default());
        assert_eq!(passage_line(&hit, &without), "  - summary, 2026-03-01 10:02: “x”");
    }

    #[test]
    fn an_empty_result_suggests_other_queries() {
        let text = of_value::<SearchSessionsAnswer>(json!({ "hits": [] }));
        assert_eq!(text, format!("{NOTHING}\n{OTHER_WORDS}"));
        let broader = json!([
            { "change": "without `project`", "sessions": 3 },
            { "change": "without quotes", "sessions": 1 },
        ]);
        let message = "Nothing is shown, because `limit` is 0: it may be 1 to 50.";
        let text = of_value::<SearchSessionsAnswer>(json!({ "message": message }));
        assert_eq!(text.trim(), message);
        let spelled = json!({ "spelled": [{ "asked": "histgram", "used": ["histogram"] }] });
        let text = of_value::<SearchSessionsAnswer>(spelled);
        assert!(text.contains("Searched for `histogram` instead of `histgram`."), "{text}");
        let text = of_value::<SearchSessionsAnswer>(json!({ "broader": broader }));
        let wanted =
            "Nothing was found.\n- without `project`: 3 sessions\n- without quotes: 1 session";
        assert_eq!(text, wanted);
    }

    #[test]
    fn the_line_of_an_error_says_how_often_it_returned() {
        for (returns, wanted) in [(1, "seen once after the fix"), (3, "seen 3 times after")] {
            let error = ErrorRow { returns, ..ErrorRow::default() };
            assert!(error_line(&error).contains(wanted), "{}", error_line(&error));
        }
    }

    #[test]
    fn sizes_are_the_costs_of_the_lines() {
        let hit: Hit = serde_json::from_value(hit()).unwrap();
        let (line, passages) = sizes(&hit);
        let answer = SearchSessionsAnswer { hits: vec![hit], ..SearchSessionsAnswer::default() };
        let text = answer.text();
        let (rows, _) = text.split_once("\n\n").unwrap();
        let costs: Vec<usize> = rows.lines().map(|line| cost(line) + 1).collect();
        assert_eq!([vec![line], passages].concat(), costs);
    }
}
