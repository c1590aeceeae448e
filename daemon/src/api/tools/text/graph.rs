//! Formats facts and entities.

use graphiti_proto::tools::{
    get_episode_entities::EpisodeEntitiesAnswer,
    graph::{FactRow, NodeRow},
    mark_fact::MarkFactAnswer,
    search_memory_facts::SearchFactsAnswer,
    search_nodes::SearchNodesAnswer,
};

use super::{Lines, ModelText, by, code, day, line, listed, quote, search, title};
use crate::api::tools::{passages, zero_limit};

/// Number of digits of a fact's id that are shown.
const SHOWN_DIGITS: usize = 8;
/// Maximum length, in bytes, of the summary of a node.
const MAX_SUMMARY_BYTES: usize = 240;

impl ModelText for SearchFactsAnswer {
    fn text(&self) -> String {
        let mut lines = Lines::default();
        self.facts.iter().for_each(|fact| lines.add(&fact_line(fact)));
        if self.facts.is_empty() && !zero_limit::is_explained(&self.message) {
            lines.add(&no_fact(self));
        }
        lines.gap();
        lines.add(&line(&self.message));
        if self.facts.iter().any(|fact| !fact.sources.is_empty()) {
            lines.add("To read more: get_session with the session's id, view `messages`, and `source` and `from` as shown. More facts: `max_facts`.");
        }
        lines.text.trim_end().to_owned()
    }
}

/// Returns the text for a search without results, with the broader searches that find something.
fn no_fact(answer: &SearchFactsAnswer) -> String {
    let mut lines = Lines::default();
    lines.add("No fact was found.");
    for broader in &answer.broader {
        let facts = if broader.facts == 1 { "fact" } else { "facts" };
        lines.add(&format!("- {}: {} {facts}", line(&broader.change), broader.facts));
    }
    if answer.sessions > 0 {
        lines.add(&format!("- search_sessions: {}", search::found_sessions(answer.sessions)));
    }
    if answer.broader.is_empty() && answer.sessions == 0 {
        lines.add("Other words may find something.");
    }
    lines.text
}

impl ModelText for MarkFactAnswer {
    fn text(&self) -> String {
        let mut lines = Lines::default();
        lines.add(&line(&self.message));
        self.facts.iter().for_each(|fact| lines.add(&fact_line(fact)));
        lines.text
    }
}

impl ModelText for SearchNodesAnswer {
    fn text(&self) -> String {
        let mut lines = Lines::default();
        self.nodes.iter().for_each(|node| lines.add(&node_line(node)));
        if self.nodes.is_empty() {
            lines.add("Nothing was found. Other words, or search_sessions, may find more.");
        }
        lines.add(&line(&self.message));
        lines.text
    }
}

impl ModelText for EpisodeEntitiesAnswer {
    fn text(&self) -> String {
        let mut lines = Lines::default();
        lines.add(&line(&self.message));
        self.nodes.iter().for_each(|node| lines.add(&node_line(node)));
        self.facts.iter().for_each(|fact| lines.add(&fact_line(fact)));
        if lines.text.is_empty() {
            lines.add("No entities or facts are stored for these episodes.");
        }
        lines.text
    }
}

/// Returns a fact on one line, with the session and message that state it.
pub(in crate::api::tools) fn fact_line(fact: &FactRow) -> String {
    let span = match &fact.invalid_at {
        Some(end) => format!("{} to {}", day(&fact.valid_at), day(end)),
        None => format!("since {}", day(&fact.valid_at)),
    };
    let certainty =
        if fact.certainty == "verified" { String::new() } else { line(&fact.certainty) };
    let details = fact.attributes.iter().filter(|(_, value)| !fact.fact.contains(&**value));
    let details: Vec<String> =
        details.map(|(name, value)| format!("{} {}", line(name), title(value))).collect();
    let place = fact.sources.last().map(|source| {
        let id = if source.short_id.is_empty() { &source.session_id } else { &source.short_id };
        let file =
            if source.source > 0 { format!(" source {}", source.source) } else { String::new() };
        let message = source.message.map(|seq| format!(" from {seq}")).unwrap_or_default();
        format!("{}{file}{message}", code(id))
    });
    let about = listed(&[
        &span,
        &certainty,
        &by(fact.team.as_ref()),
        &details.join(", "),
        &place.unwrap_or_default(),
        &id(fact),
    ]);
    format!("- {}: {} ({about})", line(&fact.name), quote(&fact.fact))
}

/// Returns the start of a fact's id, for `mark_fact`; empty for a fact of a colleague, because such
/// a fact cannot be marked.
fn id(fact: &FactRow) -> String {
    let start: String = fact.uuid.chars().take(SHOWN_DIGITS).collect();
    match fact.team.is_none() && !start.is_empty() {
        true => format!("fact {}", code(&start)),
        false => String::new(),
    }
}

fn node_line(node: &NodeRow) -> String {
    let labels = node.labels.iter().filter(|label| *label != "Entity").map(|label| line(label));
    let labels: Vec<String> = labels.collect();
    let summary = passages::first_clauses(&node.summary, MAX_SUMMARY_BYTES);
    let summary = if summary.is_empty() { summary } else { quote(&summary) };
    let line = format!("- {} {}: {summary}", labels.join(" "), title(&node.name));
    format!("{} (`{}`)", line.trim_end_matches([':', ' ']), node.uuid)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::of_value, *};

    #[test]
    fn a_fact_is_shown_with_its_period_and_its_source() {
        let fact = json!({
            "uuid": "4a08e756-0000-4000-8000-000000000000",
            "name": "SET_TO", "fact": "pool”\nis “20", "certainty": "hypothesis",
            "valid_at": "2026-03-01T10:02:33Z", "attributes": { "value": "20", "cause": "a\n- b" },
            "sources": [{ "session_id": "a-1-long", "short_id": "a-1", "source": 2, "message": 14 }],
        });
        let ended = json!({
            "name": "DECIDED", "fact": "x", "certainty": "verified",
            "valid_at": "2026-03-01T10:02:33Z", "invalid_at": "2026-04-01T10:02:33Z",
        });
        assert_eq!(
            of_value::<SearchFactsAnswer>(json!({ "message": "m", "facts": [fact, ended] })),
            "- SET_TO: “pool\" is \"20” (since 2026-03-01, hypothesis, cause “a - b”, `a-1` source 2 from 14, fact `4a08e756`)\n\
             - DECIDED: “x” (2026-03-01 to 2026-04-01)\n\n\
             m\nTo read more: get_session with the session's id, view `messages`, and `source` and `from` as shown. More facts: `max_facts`."
        );
        let none = of_value::<SearchFactsAnswer>(json!({}));
        assert_eq!(none, "No fact was found.\nOther words may find something.");
        let broader = json!([{ "change": "with `include_ended`", "facts": 2 }]);
        let more = of_value::<SearchFactsAnswer>(json!({ "broader": broader, "sessions": 1 }));
        assert_eq!(
            more,
            "No fact was found.\n- with `include_ended`: 2 facts\n- search_sessions: 1 session"
        );
    }

    #[test]
    fn a_node_is_shown_with_its_summary() {
        let node = json!({
            "uuid": "u-1", "name": "src/a.rs\n#", "labels": ["Entity", "File"],
            "summary": "Changed.\nTwice.",
        });
        let bare = json!({ "uuid": "u-2", "name": "b", "labels": ["Entity", "Setting"] });
        assert_eq!(
            of_value::<SearchNodesAnswer>(json!({ "nodes": [node, bare] })),
            "- File “src/a.rs #”: “Changed. Twice.” (`u-1`)\n- Setting “b” (`u-2`)"
        );
        assert_eq!(
            of_value::<EpisodeEntitiesAnswer>(json!({})),
            "No entities or facts are stored for these episodes."
        );
    }
}
